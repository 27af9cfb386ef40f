/* BLAKE2b (RFC 7693) without a key, digests of 32 bytes or of 8: what
   hashlib.blake2b(message, digest_size=32) returns, to the bit. */
#ifndef NOREGRET_BLAKE2B_H
#define NOREGRET_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

#define NOREGRET_BLAKE2B_DIGEST 32
#define NOREGRET_BLAKE2B_BLOCK 128
#define NOREGRET_BLAKE2B_STRIPS 8

/* The digest of one message of any length; data may be NULL where length is 0. The digest may be
   written over the message. */
void noregret_blake2b(const void *data, size_t length, unsigned char out[NOREGRET_BLAKE2B_DIGEST]);

/* The same with a digest of 8 bytes. */
void noregret_blake2b_8(const void *data, size_t length, unsigned char out[8]);

/* Digests of 8 bytes of eight messages of up to 128 bytes, each with zeros behind it to make 128. */
void noregret_blake2b_8_blocks(const unsigned char *blocks, const uint64_t *lengths,
                               unsigned char out[8 * NOREGRET_BLAKE2B_STRIPS]);

/* The digests of eight messages of strip bytes each, which lie one after the other at data;
   digest i begins at out + 32 i. strip is a positive multiple of 128. */
void noregret_blake2b_strips(const void *data, size_t strip,
                             unsigned char out[NOREGRET_BLAKE2B_STRIPS * NOREGRET_BLAKE2B_DIGEST]);

#endif

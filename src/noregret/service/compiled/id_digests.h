/* Digests of ids. */
#ifndef NOREGRET_ID_DIGESTS_H
#define NOREGRET_ID_DIGESTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *start;
    ptrdiff_t size;
} noregret_id;

/* The first 64 bits of the BLAKE2b digest of 8 bytes of each id. */
void noregret_digest_ids(const noregret_id *ids, ptrdiff_t count, uint64_t *out);

#endif

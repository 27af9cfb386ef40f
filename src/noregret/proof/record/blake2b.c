#include "blake2b.h"

#include <stdint.h>
#include <string.h>

#include "cpu_dispatch.h"

#define BLOCK NOREGRET_BLAKE2B_BLOCK
#define DIGEST NOREGRET_BLAKE2B_DIGEST
#define STRIPS NOREGRET_BLAKE2B_STRIPS
#define WORDS 16 /* of 64 bits, in a block */

/* Words are read and written as they lie in memory. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "blake2b.c is written for little-endian machines"
#endif

static const uint64_t INITIAL[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};
/* The first word of a state also holds the parameters that are not zero: depth 1, fan-out 1,
   no key, the digest's length. */
#define START_OF(i, size) (INITIAL[i] ^ ((i) == 0 ? 0x01010000 ^ (uint64_t)(size) : 0))
#define START(i) START_OF(i, DIGEST)

static const uint8_t ORDER[10][WORDS] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

/* The functions of the RFC, as macros: a word is a number, or a vector with one of each message, and
   `turned` rotates it to the right. Two columns are mixed at a time, as they do not depend on each
   other: with all four, words would not fit in registers. A word of the message, which is known
   earlier than v[b], is added first. */
#define TURNED(x, by) ((x) >> (by) | (x) << (64 - (by)))
#define PICK(r, i) m[ORDER[(r) % 10][i]]

#define MIX(turned, r, i, a, b, c, d, e, f, g, h)                                 \
    v[a] = v[a] + PICK(r, i) + v[b], v[e] = v[e] + PICK(r, i + 2) + v[f];         \
    v[d] = turned(v[d] ^ v[a], 32), v[h] = turned(v[h] ^ v[e], 32);               \
    v[c] += v[d], v[g] += v[h];                                                   \
    v[b] = turned(v[b] ^ v[c], 24), v[f] = turned(v[f] ^ v[g], 24);               \
    v[a] = v[a] + PICK(r, i + 1) + v[b], v[e] = v[e] + PICK(r, i + 3) + v[f];     \
    v[d] = turned(v[d] ^ v[a], 16), v[h] = turned(v[h] ^ v[e], 16);               \
    v[c] += v[d], v[g] += v[h];                                                   \
    v[b] = turned(v[b] ^ v[c], 63), v[f] = turned(v[f] ^ v[g], 63);

#define ROUND(turned, r)                                     \
    MIX(turned, r, 0, 0, 4, 8, 12, 1, 5, 9, 13)              \
    MIX(turned, r, 4, 2, 6, 10, 14, 3, 7, 11, 15)            \
    MIX(turned, r, 8, 0, 5, 10, 15, 1, 6, 11, 12)            \
    MIX(turned, r, 12, 2, 7, 8, 13, 3, 4, 9, 14)

/* Mix the block m into the state h; count is the bytes so far, BEFORE(r) precedes round r. The
   rounds are written out so that every index is a constant. No message has 2^64 bytes: the upper
   half of the count stays zero. */
#define COMPRESS(word, t, h, m, count, last, BEFORE)                                         \
    do {                                                                                     \
        word v[16];                                                                          \
        for (int i = 0; i < 8; i++) {                                                        \
            v[i] = h[i];                                                                     \
            v[i + 8] = (word){0} + INITIAL[i];                                               \
        }                                                                                    \
        v[12] ^= (count);                                                                    \
        v[14] ^= (last) ? UINT64_MAX : 0;                                                    \
        BEFORE(0) ROUND(t, 0) BEFORE(1) ROUND(t, 1) BEFORE(2) ROUND(t, 2)                    \
        BEFORE(3) ROUND(t, 3) BEFORE(4) ROUND(t, 4) BEFORE(5) ROUND(t, 5)                    \
        BEFORE(6) ROUND(t, 6) BEFORE(7) ROUND(t, 7)                                          \
        ROUND(t, 8) ROUND(t, 9) ROUND(t, 10) ROUND(t, 11)                                    \
        for (int i = 0; i < 8; i++) {                                                        \
            h[i] ^= v[i] ^ v[i + 8];                                                         \
        }                                                                                    \
    } while (0)

#define NOTHING(r)

static void compress(uint64_t h[8], const unsigned char *block, size_t count, int last) {
    uint64_t m[WORDS];
    memcpy(m, block, BLOCK);
    COMPRESS(uint64_t, TURNED, h, m, count, last, NOTHING);
}

static void digest_of(const void *data, size_t length, unsigned char *out, size_t size) {
    const unsigned char *const message = data;
    uint64_t h[8];
    for (int i = 0; i < 8; i++) {
        h[i] = START_OF(i, size);
    }
    size_t done = 0;
    for (; length - done > BLOCK; done += BLOCK) {
        compress(h, message + done, done + BLOCK, 0);
    }
    unsigned char rest[BLOCK] = {0};
    if (length > 0) {
        memcpy(rest, message + done, length - done);
    }
    compress(h, rest, length, 1);
    memcpy(out, h, size);
}

void noregret_blake2b(const void *data, size_t length, unsigned char out[DIGEST]) {
    digest_of(data, length, out, DIGEST);
}

void noregret_blake2b_8(const void *data, size_t length, unsigned char out[8]) {
    digest_of(data, length, out, 8);
}

/* One message in each lane of a vector. Every width is a function of its own, chosen when called:
   the clones of a function would all hold the widest vector, the narrower ones in memory. */
#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE
#include <immintrin.h>

typedef uint64_t four __attribute__((vector_size(32)));
typedef uint64_t eight __attribute__((vector_size(64)));

/* Put a block of one message into its lane. */
static inline __attribute__((always_inline)) void place(uint64_t *lane, int lanes,
                                                        const unsigned char *block) {
    for (int w = 0; w < WORDS; w++) {
        memcpy(lane + w * lanes, block + 8 * w, 8);
    }
}

/* Between the rounds of one block, the next is put in its lanes: the loads and stores run beside the
   arithmetic at no cost, and end long before the vectors are read. */
#define AHEAD(lane)                                              \
    if (lane < lanes) {                                          \
        place(after + lane, lanes, message + lane * strip + next); \
    }

#define STRIPS_OF(word, isa, turned)                                                          \
    __attribute__((target(isa)))                                                              \
    static void strips_of_##word(const unsigned char *message, size_t strip, unsigned char *out) { \
        enum { lanes = sizeof(word) / 8 };                                                    \
        word h[8], blocks[2][WORDS];                                                          \
        for (int i = 0; i < 8; i++) {                                                         \
            h[i] = (word){0} + START(i);                                                      \
        }                                                                                     \
        for (int lane = 0; lane < lanes; lane++) {                                            \
            place((uint64_t *)blocks[0] + lane, lanes, message + lane * strip);               \
        }                                                                                     \
        for (size_t done = 0; done < strip; done += BLOCK) {                                  \
            const int turn = done / BLOCK % 2, last = done + BLOCK == strip;                  \
            const size_t next = last ? done : done + BLOCK;                                   \
            const word *const m = blocks[turn];                                               \
            uint64_t *const after = (uint64_t *)blocks[1 - turn];                             \
            COMPRESS(word, turned, h, m, done + BLOCK, last, AHEAD);                          \
        }                                                                                     \
        for (int lane = 0; lane < lanes; lane++) {                                            \
            for (int i = 0; i < DIGEST / 8; i++) {                                            \
                const uint64_t number = h[i][lane];                                           \
                memcpy(out + lane * DIGEST + i * 8, &number, 8);                              \
            }                                                                                 \
        }                                                                                     \
    }

/* AVX2 has no rotation: by whole bytes, one shuffle replaces two shifts and a union. */
#define TWICE(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)
#define BY_32 TWICE(4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)
#define BY_24 TWICE(3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10)
#define BY_16 TWICE(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9)
#define SHUFFLED(x, by)                                                                       \
    ((by) == 63 ? ((x) >> 63 | ((x) + (x)))                                                   \
                : (four)_mm256_shuffle_epi8(                                                  \
                      (__m256i)(x), (by) == 32 ? BY_32 : (by) == 24 ? BY_24 : BY_16))

STRIPS_OF(four, "avx2", SHUFFLED)
STRIPS_OF(eight, "avx512f", TURNED)

#define BLOCKS_OF(word, isa, turned)                                                          \
    __attribute__((target(isa)))                                                              \
    static void blocks_of_##word(const unsigned char *blocks, const uint64_t *lengths,        \
                                 unsigned char *out) {                                        \
        enum { lanes = sizeof(word) / 8 };                                                    \
        word h[8], m[WORDS], counts;                                                          \
        for (int i = 0; i < 8; i++) {                                                         \
            h[i] = (word){0} + START_OF(i, 8);                                                \
        }                                                                                     \
        for (int lane = 0; lane < lanes; lane++) {                                            \
            place((uint64_t *)m + lane, lanes, blocks + lane * BLOCK);                        \
        }                                                                                     \
        memcpy(&counts, lengths, sizeof counts);                                              \
        COMPRESS(word, turned, h, m, counts, 1, NOTHING);                                     \
        memcpy(out, h, sizeof counts);                                                        \
    }

BLOCKS_OF(four, "avx2", SHUFFLED)
BLOCKS_OF(eight, "avx512f", TURNED)
#endif

void noregret_blake2b_8_blocks(const unsigned char *blocks, const uint64_t *lengths, unsigned char out[8 * STRIPS]) {
#ifdef WIDE
    if (noregret_cpu == NOREGRET_AVX512) {
        blocks_of_eight(blocks, lengths, out);
        return;
    }
    if (noregret_cpu >= NOREGRET_AVX2) {
        blocks_of_four(blocks, lengths, out);
        blocks_of_four(blocks + 4 * BLOCK, lengths + 4, out + 32);
        return;
    }
#endif
    for (int i = 0; i < STRIPS; i++) {
        noregret_blake2b_8(blocks + i * BLOCK, (size_t)lengths[i], out + i * 8);
    }
}

void noregret_blake2b_strips(const void *data, size_t strip, unsigned char out[STRIPS * DIGEST]) {
    const unsigned char *const message = data;
#ifdef WIDE
    if (noregret_cpu == NOREGRET_AVX512) {
        strips_of_eight(message, strip, out);
        return;
    }
    if (noregret_cpu >= NOREGRET_AVX2) {
        strips_of_four(message, strip, out);
        strips_of_four(message + 4 * strip, strip, out + 4 * DIGEST);
        return;
    }
#endif
    for (int i = 0; i < STRIPS; i++) {
        noregret_blake2b(message + i * strip, strip, out + i * DIGEST);
    }
}

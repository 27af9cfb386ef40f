/* Eight bytes at a time: words read from memory, with the first byte lowest on every machine. */
#ifndef NOREGRET_BITS_H
#define NOREGRET_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

#if defined(__GNUC__)
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define PREFETCH(address) __builtin_prefetch(address)
#define APART __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))
#else
#define LIKELY(condition) (condition)
#define UNLIKELY(condition) (condition)
#define PREFETCH(address) ((void)(address))
#define APART
#define INLINE static inline
#endif

static inline uint64_t noregret_load8(const void *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint32_t noregret_load4(const void *at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

/* The next eight bytes, and newlines from the end of the text on. */
static inline uint64_t noregret_load8_before(const char *at, const char *end) {
    if (LIKELY(end - at >= 8)) {
        return noregret_load8(at);
    }
    char padded[8];
    memset(padded, '\n', sizeof padded);
    if (at < end) {
        memcpy(padded, at, (size_t)(end - at));
    }
    return noregret_load8(padded);
}

/* How many zero bits lie below the lowest one, and above the highest; the word is not 0. */
static inline int noregret_zeros_below(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_ctzll(word);
#elif defined(_MSC_VER)
    unsigned long at;
    _BitScanForward64(&at, word);
    return (int)at;
#else
    int count = 0;
    for (; !(word & 1); word >>= 1) {
        count++;
    }
    return count;
#endif
}

static inline int noregret_zeros_above(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_clzll(word);
#elif defined(_MSC_VER)
    unsigned long at;
    _BitScanReverse64(&at, word);
    return 63 - (int)at;
#else
    int count = 0;
    for (; !(word >> 63); word <<= 1) {
        count++;
    }
    return count;
#endif
}

/* The product of two words, its upper half in *high. */
static inline uint64_t noregret_product(uint64_t a, uint64_t b, uint64_t *high) {
#if defined(__SIZEOF_INT128__)
    const unsigned __int128 product = (unsigned __int128)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#else
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t middle = (a0 * b0 >> 32) + (uint32_t)(a1 * b0) + (uint32_t)(a0 * b1);
    *high = a1 * b1 + (a1 * b0 >> 32) + (a0 * b1 >> 32) + (middle >> 32);
    return a * b;
#endif
}

/* The top bit of every byte that is the given one. */
static inline uint64_t noregret_equal_bytes(uint64_t word, uint8_t byte) {
    const uint64_t other = word ^ EACH_BYTE(byte);
    return ~(((other & EACH_BYTE(0x7f)) + EACH_BYTE(0x7f)) | other) & EACH_BYTE(0x80);
}

/* The top bit of every byte that is no digit; the digits must be words ^ EACH_BYTE('0'). */
static inline uint64_t noregret_not_digits(uint64_t digits) {
    return (((digits & EACH_BYTE(0x7f)) + EACH_BYTE(0x76)) | digits) & EACH_BYTE(0x80);
}

/* The number that eight digits 0 to 9 spell, the first in the lowest byte. */
static inline uint64_t noregret_eight_digits(uint64_t digits) {
    digits = digits * 10 + (digits >> 8); /* pairs, in every other byte */
    const uint64_t mask = UINT64_C(0x000000ff000000ff);
    const uint64_t first = (digits & mask) * (100 + (UINT64_C(1000000) << 32));
    const uint64_t second = (digits >> 16 & mask) * (1 + (UINT64_C(10000) << 32));
    return (first + second) >> 32;
}

#endif

/* Decimal literals, read to the nearest double: bit for bit what Python's float() gives.

   Up to 19 digits make a 64-bit integer. Small ones are scaled by an exact power of ten; others by
   a 128-bit power of five, which Eisel and Lemire showed to be enough. More digits than that are
   compared as big integers where the first 19 do not settle the matter. C's strtod depends on the
   locale and needs a NUL at the end; libraries that read as fast are in C++. */
#ifndef NOREGRET_NUMBERS_H
#define NOREGRET_NUMBERS_H

#include "bits.h"

#include <float.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* As in limits.py: what is not below it cannot be squared and summed. */
#define NOREGRET_MAX_VALUE 1e150

enum { NOREGRET_LEAST_POWER = -342, NOREGRET_MOST_POWER = 308 };
/* Bytes of the text that must follow a field, as they are read with it. */
enum { NOREGRET_BEHIND_FIELD = 16 };

/* 5^k in 128 bits, the top bit set; filled by noregret_prepare_numbers. */
extern uint64_t noregret_fives[NOREGRET_MOST_POWER - NOREGRET_LEAST_POWER + 1][2];
extern const double noregret_tens[23];

/* Must be called once before anything else here. */
void noregret_prepare_numbers(void);

/* digits times ten to the power, rounded to the nearest double, ties to even. */
double noregret_scaled(uint64_t digits, int64_t power);

/* Read any literal; return where it ends, or NULL where there is none. */
const char *noregret_read_any_number(const char *at, const char *end, double *value);

/* digits over a power of ten: both exact, so the quotient is rounded once. */
static inline double noregret_divided(uint64_t digits, ptrdiff_t power) {
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
    if (LIKELY(digits <= UINT64_C(1) << 53 && power <= 22)) {
        return (double)(int64_t)digits / noregret_tens[power];
    }
#endif
    return noregret_scaled(digits, -(int64_t)power);
}

/* Without a branch: signs are often as random as the numbers. */
static inline double noregret_signed(double size, int negative) {
    static const double signs[2] = {1, -1};
    return size * signs[negative];
}

/* The same for the usual ones: sign, fewer than 8 digits, a dot, more digits, 19 in all. */
INLINE const char *noregret_read_number(const char *at, const char *end, double *value) {
    const char *p = at;
    if (UNLIKELY(end - p < 40)) {
        return noregret_read_any_number(at, end, value);
    }
    const int negative = *p == '-';
    p += negative | (*p == '+');
    uint64_t word = noregret_load8(p) ^ EACH_BYTE('0');
    uint64_t others = noregret_not_digits(word);
    if (UNLIKELY(others == 0)) {
        return noregret_read_any_number(at, end, value);
    }
    int count = noregret_zeros_below(others) >> 3;
    uint64_t digits = noregret_eight_digits(word << (56 - 8 * count) << 8);
    p += count;
    ptrdiff_t after = 0;
    if (*p == '.') {
        const char *dot = p++;
        const int whole = digits ? count : 0; /* a leading 0 is no digit that counts */
        word = noregret_load8(p) ^ EACH_BYTE('0');
        others = noregret_not_digits(word);
        if (others == 0) {
            digits = digits * 100000000 + noregret_eight_digits(word);
            p += 8;
            word = noregret_load8(p) ^ EACH_BYTE('0');
            others = noregret_not_digits(word);
            if (others == 0) {
                digits = digits * 100000000 + noregret_eight_digits(word);
                p += 8;
                word = noregret_load8(p) ^ EACH_BYTE('0');
                others = noregret_not_digits(word);
                if (UNLIKELY(others == 0)) {
                    return noregret_read_any_number(at, end, value);
                }
            }
        }
        static const uint32_t powers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
        const int rest = noregret_zeros_below(others) >> 3;
        digits = digits * powers[rest] + noregret_eight_digits(word << (56 - 8 * rest) << 8);
        p += rest;
        after = p - dot - 1;
        if (UNLIKELY(whole + after > 19 || count + after == 0)) {
            return noregret_read_any_number(at, end, value);
        }
    } else if (UNLIKELY(count == 0)) {
        return NULL;
    }
    if (UNLIKELY((*p | 0x20) == 'e')) {
        return noregret_read_any_number(at, end, value);
    }
    const double size = noregret_divided(digits, after);
    *value = noregret_signed(size, negative);
    return p;
}

/* The next `count` bytes, 1 to 8 of them, in the upper part of a word; as digits, zeros before. */
static inline uint64_t noregret_first_bytes(const char *at, ptrdiff_t count) {
    return (noregret_load8(at) ^ EACH_BYTE('0')) << (64 - 8 * count);
}

/* All ones, then zeros: 16 bytes from 16 - n on are a mask of the first n. */
static const uint64_t noregret_kept[4] = {UINT64_MAX, UINT64_MAX, 0, 0};

#if defined(__SSE2__)
static inline __m128i noregret_first_of_16(ptrdiff_t count) {
    return _mm_loadu_si128((const __m128i *)(const void *)((const char *)noregret_kept + 16 - count));
}

/* The two numbers that 16 digits spell, eight each, as 32-bit integers. */
static inline __m128i noregret_eights(__m128i each) {
    const __m128i low = _mm_set1_epi16(255);
    /* ten times the first of each pair and the second, then pairs of pairs, then those of fours */
    const __m128i firsts = _mm_mullo_epi16(_mm_and_si128(each, low), _mm_set1_epi16(10));
    const __m128i twos = _mm_add_epi16(firsts, _mm_srli_epi16(each, 8));
    const __m128i fours = _mm_madd_epi16(twos, _mm_set1_epi32(100 | 1 << 16));
    const __m128i packed = _mm_packs_epi32(fours, fours);
    return _mm_madd_epi16(packed, _mm_set1_epi32(10000 | 1 << 16));
}

static inline int noregret_are_digits(__m128i each) {
    const __m128i nine = _mm_set1_epi8(9);
    return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(each, nine), nine)) == 0xffff;
}

static inline __m128i noregret_load16(const char *at) {
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}
#endif

#if defined(__SSE2__) && defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
enum { NOREGRET_SHORT_FIELD = 16 };

/* A number of up to 16 bytes, of which the first may be a minus and one a dot: close the gap that it
   leaves. The minus counts as a zero, and zeros follow the digits to make 16: a double holds that
   exactly, as there are at most 15 before them. */
INLINE int noregret_read_short_field(const char *at, const char *end, double *value) {
    static const double weights[2][2] = {{1e8, 1}, {-1e8, -1}};
    const __m128i zero = _mm_set1_epi8('0');
    const __m128i none = _mm_setr_epi8('-', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0',
                                       '0', '0', '0', '0');
    const ptrdiff_t count = end - at;
    const int negative = *at == '-';
    const __m128i bytes = noregret_load16(at);
    const uint32_t dots = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.')));
    const ptrdiff_t whole = noregret_zeros_below(dots | UINT32_C(1) << count);
    const __m128i each = _mm_and_si128(
        _mm_andnot_si128(_mm_cmpeq_epi8(bytes, none), _mm_xor_si128(bytes, zero)),
        noregret_first_of_16(count));
    const __m128i before = noregret_first_of_16(whole);
    const __m128i closed = _mm_or_si128(_mm_and_si128(before, each),
                                        _mm_andnot_si128(before, _mm_srli_si128(each, 1)));
    const __m128d parts = _mm_mul_pd(_mm_cvtepi32_pd(noregret_eights(closed)),
                                     _mm_loadu_pd(weights[negative]));
    *value = _mm_cvtsd_f64(_mm_add_sd(parts, _mm_unpackhi_pd(parts, parts))) /
             noregret_tens[16 - whole];
    return noregret_are_digits(closed) & (count > negative + (whole < count)) & (whole < 16);
}
#else
enum { NOREGRET_SHORT_FIELD = 8 };

/* A number of up to eight bytes, of which the first may be a minus and one a dot: close the gap that it leaves. */
INLINE int noregret_read_short_field(const char *at, const char *end, double *value) {
    const int negative = *at == '-';
    at += negative;
    if (UNLIKELY(at == end)) {
        return 0;
    }
    uint64_t word = noregret_first_bytes(at, end - at);
    const uint64_t dots = noregret_equal_bytes(word, '.' ^ '0'), dot = dots & (0 - dots);
    ptrdiff_t after = 0;
    if (LIKELY(dots)) {
        after = 7 - (noregret_zeros_below(dot) >> 3);
        word = (word & ~((dot << 1) - 1)) | (word & ((dot >> 7) - 1)) << 8;
    }
    *value = noregret_signed(noregret_divided(noregret_eight_digits(word), after), negative);
    return !noregret_not_digits(word) && end - at > (dots != 0);
}
#endif

/* The number that the first `count` of 16 bytes spell, 7 or more, if zeros follow them to make 16
   digits. False where one of them is no digit. */
INLINE int noregret_sixteen_digits(const char *at, ptrdiff_t count, uint64_t *digits) {
#if defined(__SSE2__)
    const __m128i each = _mm_xor_si128(noregret_load16(at), _mm_set1_epi8('0'));
    const __m128i kept = _mm_and_si128(each, noregret_first_of_16(count));
    const uint64_t both = (uint64_t)_mm_cvtsi128_si64(noregret_eights(kept));
    *digits = (both & UINT32_MAX) * 100000000 + (both >> 32);
    return noregret_are_digits(kept);
#else
    const char *mask = (const char *)noregret_kept + 16 - count;
    const uint64_t first = (noregret_load8(at) ^ EACH_BYTE('0')) & noregret_load8(mask);
    const uint64_t second = (noregret_load8(at + 8) ^ EACH_BYTE('0')) & noregret_load8(mask + 8);
    *digits = noregret_eight_digits(first) * 100000000 + noregret_eight_digits(second);
    return !(noregret_not_digits(first) | noregret_not_digits(second));
#endif
}

/* digits over 10^16 to 10^18, as noregret_scaled has it: all of these are far from the ends of the
   range, and none lies half way between two doubles. */
INLINE double noregret_scaled_down(uint64_t digits, ptrdiff_t power) {
    if (UNLIKELY(digits == 0)) {
        return 0;
    }
    const int zeros = noregret_zeros_above(digits);
    uint64_t high;
    noregret_product(digits << zeros, noregret_fives[-power - NOREGRET_LEAST_POWER][0], &high);
    if (UNLIKELY((high & 0x1ff) == 0x1ff)) {
        return noregret_scaled(digits, -(int64_t)power);
    }
    const uint64_t upper = high >> 63, mantissa = high >> (upper + 9);
    const uint64_t exponent = (uint64_t)((217706 * -power) >> 16) + 1086 + upper - (uint64_t)zeros;
    /* the leading one of the mantissa adds 1 to the exponent, and so does a carry */
    const uint64_t bits = ((exponent - 1) << 52) + ((mantissa + (mantissa & 1)) >> 1);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Perhaps a minus, one digit, a dot and 7 to 18 more. Branches on how many are avoided: numbers written with all their
   digits have 15 to 18 of them, at random. */
INLINE int noregret_read_long_field(const char *at, const char *end, double *value) {
    /* by how many digits are more than 16: factors of the digits before, of the last but one, of the
       last */
    static const uint8_t factors[3][3] = {{1, 0, 0}, {10, 0, 1}, {100, 10, 1}};
    const int negative = *at == '-';
    at += negative;
    const ptrdiff_t after = end - at - 2, more = after > 16 ? after - 16 : 0;
    const uint64_t lead = (uint8_t)(*at - '0');
    uint64_t digits;
    if (UNLIKELY(at[1] != '.' || lead > 9 || after > 18 ||
                 !noregret_sixteen_digits(at + 2, after - more, &digits))) {
        return 0;
    }
    const uint8_t *factor = factors[more];
    const uint32_t tens = (uint8_t)(end[-2] - '0') * (uint32_t)factor[1];
    const uint32_t ones = (uint8_t)(end[-1] - '0') * (uint32_t)factor[2];
    if (UNLIKELY(tens > 90 || ones > 9)) {
        return 0;
    }
    digits = (lead * UINT64_C(10000000000000000) + digits) * factor[0] + tens + ones;
    *value = noregret_signed(noregret_scaled_down(digits, 16 + more), negative);
    return 1;
}

/* Read the number that ends where the field does; false where it does not. The field is not empty,
   and NOREGRET_BEHIND_FIELD bytes of the text follow it. */
INLINE int noregret_read_field(const char *at, const char *end, double *value) {
    if (LIKELY(end - at <= NOREGRET_SHORT_FIELD ? noregret_read_short_field(at, end, value)
                                                : noregret_read_long_field(at, end, value))) {
        return 1;
    }
    double any; /* no address of *value is given away, so that it may stay in a register */
    if (noregret_read_any_number(at, end, &any) != end) {
        return 0;
    }
    *value = any;
    return 1;
}

#endif

/* Decimal literals, read to the nearest double: bit for bit what Python's float() gives.

   Up to 19 digits make a 64-bit integer. Small ones are scaled by an exact power of ten; others by
   a 128-bit power of five, which Eisel and Lemire showed to be enough. More digits than that are
   compared as big integers where the first 19 do not settle the matter. C's strtod depends on the
   locale and needs a NUL at the end; libraries that read as fast are in C++. */
#ifndef NOREGRET_NUMBERS_H
#define NOREGRET_NUMBERS_H

#include "bits.h"

#include <float.h>

/* As in limits.py: what is not below it cannot be squared and summed. */
#define NOREGRET_MAX_VALUE 1e150

enum { NOREGRET_LEAST_POWER = -342, NOREGRET_MOST_POWER = 308 };

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
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    bits |= (uint64_t)negative << 63;
    memcpy(&size, &bits, sizeof size);
    return size;
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

/* A number of up to eight bytes, of which one may be a dot: close the gap that it leaves. */
INLINE int noregret_read_short_field(const char *at, const char *end, uint64_t *digits,
                                     ptrdiff_t *after) {
    if (UNLIKELY(at == end)) {
        return 0;
    }
    uint64_t word = noregret_first_bytes(at, end - at);
    const uint64_t dots = noregret_equal_bytes(word, '.' ^ '0'), dot = dots & (0 - dots);
    *after = 0;
    if (LIKELY(dots)) {
        *after = 7 - (noregret_zeros_below(dot) >> 3);
        word = (word & ~((dot << 1) - 1)) | (word & ((dot >> 7) - 1)) << 8;
    }
    *digits = noregret_eight_digits(word);
    return !noregret_not_digits(word) && end - at > (dots != 0);
}

/* One digit, a dot and up to 18 more. */
INLINE int noregret_read_long_field(const char *at, const char *end, uint64_t *digits,
                                    ptrdiff_t *after) {
    static const uint32_t powers[9] = {1,      10,      100,      1000,     10000,
                                       100000, 1000000, 10000000, 100000000};
    ptrdiff_t rest = end - at - 2;
    const char *p = at + 2;
    uint64_t others = 0, sum = (uint8_t)(*at - '0');
    if (UNLIKELY(at[1] != '.' || sum > 9 || rest > 18)) {
        return 0;
    }
    *after = rest;
    for (; rest > 8; rest -= 8, p += 8) {
        const uint64_t word = noregret_load8(p) ^ EACH_BYTE('0');
        others |= noregret_not_digits(word);
        sum = sum * 100000000 + noregret_eight_digits(word);
    }
    const uint64_t word = noregret_first_bytes(p, rest);
    *digits = sum * powers[rest] + noregret_eight_digits(word);
    return !(others | noregret_not_digits(word));
}

/* Read the number that ends where the field does; false where it does not. The field is not empty,
   and eight bytes of the text follow it. */
INLINE int noregret_read_field(const char *at, const char *end, double *value) {
    const int negative = *at == '-';
    const char *p = at + (negative | (*at == '+'));
    uint64_t digits;
    ptrdiff_t after;
    if (LIKELY(end - p <= 8 ? noregret_read_short_field(p, end, &digits, &after)
                            : noregret_read_long_field(p, end, &digits, &after))) {
        /* The length decides, as it is easier to predict than the size. */
        const double size =
            LIKELY(after <= 14) ? noregret_divided(digits, after) : noregret_scaled(digits, -after);
        *value = noregret_signed(size, negative);
        return 1;
    }
    return noregret_read_any_number(at, end, value) == end;
}

#endif

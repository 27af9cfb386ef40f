#include "numbers.h"

#include <math.h>

enum {
    WORDS = 80,        /* of a big integer: 5120 bits hold 770 digits times 5^1110 */
    MOST_DIGITS = 770, /* 767 tell any double from the middle to its neighbour */
};

uint64_t noregret_fives[NOREGRET_MOST_POWER - NOREGRET_LEAST_POWER + 1][2];

const double noregret_tens[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* A big integer: words from the lowest up; those from count on are not in use. */
typedef struct {
    int count;
    uint32_t word[2 * WORDS];
} Big;

static void multiply(Big *big, uint32_t factor, uint32_t plus) {
    uint64_t carry = plus;
    for (int k = 0; k < big->count; k++) {
        carry += (uint64_t)big->word[k] * factor;
        big->word[k] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) {
        big->word[big->count++] = (uint32_t)carry;
    }
}

static void multiply_by_fives(Big *big, int64_t power) {
    for (; power >= 13; power -= 13) {
        multiply(big, 1220703125, 0); /* 5^13 */
    }
    for (; power > 0; power--) {
        multiply(big, 5, 0);
    }
}

static void shift(Big *big, int64_t bits) {
    const int words = (int)(bits / 32);
    multiply(big, UINT32_C(1) << bits % 32, 0);
    memmove(big->word + words, big->word, sizeof(uint32_t) * (size_t)big->count);
    memset(big->word, 0, sizeof(uint32_t) * (size_t)words);
    big->count += words;
}

static int compared(const Big *a, const Big *b) {
    if (a->count != b->count) {
        return a->count < b->count ? -1 : 1;
    }
    for (int k = a->count - 1; k >= 0; k--) {
        if (a->word[k] != b->word[k]) {
            return a->word[k] < b->word[k] ? -1 : 1;
        }
    }
    return 0;
}

/* The 128 bits from the highest one down. */
static void keep_top(const Big *big, uint64_t *high, uint64_t *low) {
    uint64_t word[3] = {0, 0, 0};
    int top = big->count - 1;
    while (big->word[top] == 0) {
        top--;
    }
    for (int k = 0; k < 6 && top - k >= 0; k++) {
        word[k / 2] |= (uint64_t)big->word[top - k] << (k % 2 ? 0 : 32);
    }
    const int zeros = noregret_zeros_above(word[0]);
    *high = zeros ? word[0] << zeros | word[1] >> (64 - zeros) : word[0];
    *low = zeros ? word[1] << zeros | word[2] >> (64 - zeros) : word[1];
}

/* Positive powers are exact, then cut. 2^k / 5 / 5 ..., each division rounded down, is 2^k / 5^n
   rounded down; powers down to -27 are rounded up, as the proof of the method asks. */
void noregret_prepare_numbers(void) {
    Big power = {1, {1}};
    for (int k = 0; k <= NOREGRET_MOST_POWER; k++) {
        uint64_t *five = noregret_fives[k - NOREGRET_LEAST_POWER];
        keep_top(&power, &five[0], &five[1]);
        multiply(&power, 5, 0);
    }
    memset(power.word, 0, sizeof power.word);
    power.count = WORDS;
    power.word[WORDS - 1] = UINT32_C(1) << 31;
    for (int k = -1; k >= NOREGRET_LEAST_POWER; k--) {
        uint64_t remainder = 0, *five = noregret_fives[k - NOREGRET_LEAST_POWER];
        for (int i = WORDS - 1; i >= 0; i--) {
            remainder = remainder << 32 | power.word[i];
            power.word[i] = (uint32_t)(remainder / 5);
            remainder %= 5;
        }
        keep_top(&power, &five[0], &five[1]);
        five[1] += k >= -27;
        five[0] += k >= -27 && five[1] == 0;
    }
}

static double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double noregret_scaled(uint64_t digits, int64_t power) {
    if (digits == 0 || power < NOREGRET_LEAST_POWER) {
        return 0;
    }
    if (power > NOREGRET_MOST_POWER) {
        return INFINITY;
    }
    const uint64_t *five = noregret_fives[power - NOREGRET_LEAST_POWER];
    const int zeros = noregret_zeros_above(digits);
    uint64_t high, low = noregret_product(digits << zeros, five[0], &high);
    if ((high & 0x1ff) == 0x1ff) { /* the other half of the power may still carry into it */
        uint64_t carry;
        noregret_product(digits << zeros, five[1], &carry);
        low += carry;
        high += low < carry;
    }
    const int upper = (int)(high >> 63);
    uint64_t mantissa = high >> (upper + 9); /* 54 bits: one more than a double has */
    /* floor(log2(10^power)) is (power 217706) >> 16 for every power there is a double for */
    int64_t exponent = ((217706 * power) >> 16) + 63 + upper - zeros + 1023;
    if (exponent <= 0) {
        if (exponent <= -63) {
            return 0;
        }
        mantissa >>= 1 - exponent;
        return from_bits((mantissa + (mantissa & 1)) >> 1); /* a carry makes it the least normal */
    }
    /* Exactly half way, which only these powers allow: the even neighbour is below. */
    if (low <= 1 && power >= -4 && power <= 23 && (mantissa & 3) == 1 &&
        mantissa << (upper + 9) == high) {
        mantissa &= ~UINT64_C(1);
    }
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >= UINT64_C(1) << 53) {
        mantissa >>= 1;
        exponent++;
    }
    if (exponent >= 0x7ff) {
        return INFINITY;
    }
    return from_bits((mantissa & ~(UINT64_C(1) << 52)) | (uint64_t)exponent << 52);
}

/* What a literal says: digits (some of them zeros, or a dot) and a power of ten for the last. */
typedef struct {
    const char *first, *last; /* from the first that is not 0 to behind the last */
    uint64_t digits;          /* the first 19 that count */
    int64_t count;            /* how many count */
    int64_t power;
} Literal;

/* The doubles below and above are neighbours; which is nearer to the literal? */
APART static double nearer(const Literal *literal, double below, double above) {
    Big decimal = {0, {0}}, middle;
    int64_t read = 0;
    int rest = 0;
    for (const char *p = literal->first; p < literal->last; p++) {
        if (*p == '.') {
            continue;
        }
        if (read < MOST_DIGITS) {
            multiply(&decimal, 10, (uint32_t)(*p - '0'));
        } else if (*p != '0') {
            rest = 1;
            break;
        }
        read += read < MOST_DIGITS;
    }
    int64_t power = literal->power + (literal->count - read);
    if (rest) { /* more than these digits say, less than one more in the last of them */
        multiply(&decimal, 10, 1);
        power--;
    }
    uint64_t bits;
    memcpy(&bits, &below, sizeof bits);
    const int64_t exponent = (int64_t)(bits >> 52);
    const uint64_t whole = exponent ? UINT64_C(1) << 52 : 0;
    const uint64_t twice = 2 * (whole | (bits & ((UINT64_C(1) << 52) - 1))) + 1;
    int64_t binary = (exponent ? exponent : 1) - 1076; /* the middle is twice 2^binary */
    middle.word[0] = (uint32_t)twice, middle.word[1] = (uint32_t)(twice >> 32);
    middle.count = middle.word[1] ? 2 : 1;
    multiply_by_fives(power < 0 ? &middle : &decimal, power < 0 ? -power : power);
    binary -= power; /* ten to the power is five and two to it */
    shift(binary > 0 ? &middle : &decimal, binary > 0 ? binary : -binary);
    const int side = compared(&decimal, &middle);
    return side < 0 || (side == 0 && !(bits & 1)) ? below : above;
}

static double rounded(const Literal *literal) {
    if (literal->count <= 19) {
        return noregret_scaled(literal->digits, literal->power);
    }
    const int64_t power = literal->power + literal->count - 19;
    const double below = noregret_scaled(literal->digits, power);
    const double above = noregret_scaled(literal->digits + 1, power);
    return below == above ? below : nearer(literal, below, above);
}

static inline int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Read the exponent, where there is one; one too large for any double is cut to size. */
static const char *read_power(const char *p, const char *end, int64_t *power) {
    const char *q = p + 1;
    if (p == end || (*p | 0x20) != 'e') {
        return p;
    }
    const int negative = q < end && *q == '-';
    q += q < end && (*q == '-' || *q == '+');
    if (q == end || !is_digit(*q)) {
        return NULL;
    }
    int64_t size = 0;
    for (; q < end && is_digit(*q); q++) {
        size = size < INT64_C(1) << 56 ? size * 10 + (*q - '0') : size;
    }
    *power += negative ? -size : size;
    return q;
}

const char *noregret_read_any_number(const char *at, const char *end, double *value) {
    Literal literal = {NULL, NULL, 0, 0, 0};
    const char *p = at, *dot = NULL;
    const int negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    int64_t spelled = 0;
    for (; p < end; p++) {
        if (*p == '.' && !dot) {
            dot = p;
            continue;
        }
        if (!is_digit(*p)) {
            break;
        }
        spelled++;
        if (literal.count == 0 && *p == '0') {
            continue;
        }
        if (literal.count++ == 0) {
            literal.first = p;
        }
        if (literal.count <= 19) {
            literal.digits = literal.digits * 10 + (uint64_t)(*p - '0');
        }
    }
    if (spelled == 0) {
        return NULL;
    }
    literal.last = p;
    literal.power = dot ? -(int64_t)(p - dot - 1) : 0;
    p = read_power(p, end, &literal.power);
    if (p == NULL) {
        return NULL;
    }
    const double size = literal.count ? rounded(&literal) : 0;
    *value = negative ? -size : size;
    return p;
}

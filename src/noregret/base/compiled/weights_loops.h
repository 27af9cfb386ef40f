/* The loops of weights.h, for vectors of WIDTH numbers: included once for every width.

   A set of lanes is PARTS vectors; lane j of it is always column j mod LANES. Where fewer numbers are
   left, `some` fills the set up, and `put_some` leaves what follows them alone. */

typedef double NAMED(lanes) __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef int64_t NAMED(bits) __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
#define lanes NAMED(lanes)
#define bits NAMED(bits)
#define PARTS (LANES / WIDTH)
#define EACH(h) for (int h = 0; h < PARTS; h++)
/* The body for every set of lanes from i on, of which `left` are there: a constant for all but the last. */
#define IN_SETS(n, i, left, ...)                                                                    \
    {                                                                                              \
        ptrdiff_t i = 0;                                                                           \
        for (; i + LANES <= (n); i += LANES) {                                                     \
            enum { left = LANES };                                                                 \
            __VA_ARGS__                                                                            \
        }                                                                                          \
        if (i < (n)) {                                                                             \
            const ptrdiff_t left = (n) - i;                                                        \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

INLINED lanes NAMED(at)(const double *x, int h) { return *(const lanes *)(x + h * WIDTH); }
INLINED void NAMED(put)(double *x, int h, lanes v) { *(lanes *)(x + h * WIDTH) = v; }
INLINED lanes NAMED(all)(double a) { return a - (lanes){0}; }

INLINED lanes NAMED(chosen)(bits which, lanes a, lanes b) {
    return (lanes)((which & (bits)a) | (~which & (bits)b));
}

INLINED lanes NAMED(lesser)(lanes a, lanes b) { /* a where one is no number */
    lanes found;
    for (int j = 0; j < WIDTH; j++) {
        found[j] = b[j] < a[j] ? b[j] : a[j];
    }
    return found;
}

#ifndef ATLEAST /* operations that are one instruction on some machines */
#define SHIFT 0x1.8p52 /* adding it rounds to a whole number, which is then in the lowest bits */
#define LESSER(a, b) NAMED(lesser)(a, b)
#define ATLEAST(x, least) NAMED(chosen)((x) >= (least), (x), NAMED(all)(least))
#define ROUNDED(x) (((x) + SHIFT) - SHIFT)
#define POWER(k) ((lanes)(((bits)((k) + SHIFT) << 52) + (bits)NAMED(all)(1.0)))
#define UNLESS_BELOW(x, least, value) ((lanes)((bits)(value) & ((x) >= (least))))
#endif

/* Part h of the next set of lanes, of which `left` are numbers of x, and the others are `value`. */
INLINED lanes NAMED(some)(const double *x, int h, ptrdiff_t left, double value) {
    if (left >= LANES) {
        return NAMED(at)(x, h);
    }
#ifdef SOME
    return SOME(x, h, left, value);
#else
    lanes found;
    for (int j = 0; j < WIDTH; j++) {
        found[j] = h * WIDTH + j < left ? x[h * WIDTH + j] : value;
    }
    return found;
#endif
}

INLINED void NAMED(put_some)(double *x, int h, ptrdiff_t left, lanes v) {
    if (left >= LANES) {
        NAMED(put)(x, h, v);
        return;
    }
#ifdef PUT_SOME
    PUT_SOME(x, h, left, v);
#else
    for (int j = 0; j < WIDTH && h * WIDTH + j < left; j++) {
        x[h * WIDTH + j] = v[j];
    }
#endif
}

INLINED double NAMED(sum_of)(const lanes *v) {
    double a[LANES];
    EACH(h) { NAMED(put)(a, h, v[h]); }
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

INLINED double NAMED(least_of)(const lanes *v) {
    double a[LANES];
    EACH(h) { NAMED(put)(a, h, v[h]); }
    for (int half = LANES / 2; half > 0; half /= 2) {
        for (int j = 0; j < half; j++) {
            a[j] = a[j + half] < a[j] ? a[j + half] : a[j];
        }
    }
    return a[0];
}

/* exp(x) = 2^k (1 + rest) for x <= 0, to about one unit in the last place; x below -708 counts as
   that. The polynomial is gathered in pairs, so that the additions need not wait for each other. */
INLINED void NAMED(split)(lanes x, lanes *power, lanes *rest) {
    const lanes kept = ATLEAST(x, -708.0);
    const lanes k = ROUNDED(kept * 0x1.71547652b82fep0);
    const lanes r = (kept - k * 0x1.62e42fefa0000p-1) - k * 0x1.cf79abc9e3b3ap-40;
    const lanes r2 = r * r, r4 = r2 * r2;
    const lanes a = 1.0 / 2 + r * (1.0 / 6), b = 1.0 / 24 + r * (1.0 / 120);
    const lanes c = 1.0 / 720 + r * (1.0 / 5040), d = 1.0 / 40320 + r * (1.0 / 362880);
    const lanes e = 1.0 / 3628800 + r * (1.0 / 39916800), f = r2 * (1.0 / 479001600);
    const lanes high = (c + r2 * d) + r4 * (e + f);
    *rest = r + r2 * ((a + r2 * b) + r4 * high);
    *power = POWER(k);
}

/* exp(x), 0 where x is below -708 */
INLINED lanes NAMED(small_exp)(lanes x) {
    lanes power, rest;
    NAMED(split)(x, &power, &rest);
    return UNLESS_BELOW(x, -708.0, power * (1.0 + rest));
}

/* exp(x) - 1, exact for small x too */
INLINED lanes NAMED(small_expm1)(lanes x) {
    lanes power, rest;
    NAMED(split)(x, &power, &rest);
    return (power - 1.0) + power * rest;
}

INLINED noregret_survey NAMED(surveyed)(double *p, int scaled, double scale, const double *x,
                                        ptrdiff_t n) {
    lanes dot[PARTS], sane[PARTS], low[PARTS], high[PARTS]; /* high: of the negated numbers */
    EACH(h) {
        dot[h] = sane[h] = NAMED(all)(0.0);
        low[h] = high[h] = NAMED(all)(INFINITY);
    }
    IN_SETS(n, i, left,
        EACH(h) {
            const lanes value = NAMED(some)(x + i, h, left, x[0]);
            lanes share = NAMED(some)(p + i, h, left, 0.0);
            if (scaled) {
                share *= scale;
                NAMED(put_some)(p + i, h, left, share);
            }
            dot[h] += share * value;
            sane[h] += value - value;
            low[h] = LESSER(low[h], value);
            high[h] = LESSER(high[h], -value);
        }
    )
    const noregret_survey found = {NAMED(sum_of)(dot), NAMED(least_of)(low), -NAMED(least_of)(high),
                                   NAMED(sum_of)(sane)};
    return found;
}

static noregret_survey NAMED(survey_of)(const double *p, const double *x, ptrdiff_t n) {
    return NAMED(surveyed)((double *)p, 0, 1.0, x, n);
}

static noregret_survey NAMED(scaled_survey)(double *p, double scale, const double *x, ptrdiff_t n) {
    return NAMED(surveyed)(p, 1, scale, x, n);
}

static double NAMED(decayed)(const double *v, double rate, const double *x, double low, double *out,
                             ptrdiff_t n) {
    lanes sum[PARTS];
    EACH(h) { sum[h] = NAMED(all)(0.0); }
    IN_SETS(n, i, left,
        EACH(h) {
            const lanes share = v == NULL ? NAMED(some)(ones, h, left, 0.0) : NAMED(some)(v + i, h, left, 0.0);
            const lanes value = share * NAMED(small_exp)(-rate * (NAMED(some)(x + i, h, left, low) - low));
            NAMED(put_some)(out + i, h, left, value);
            sum[h] += value;
        }
    )
    return NAMED(sum_of)(sum);
}

static double NAMED(lost)(const double *v, double rate, const double *x, double low, double *mean,
                          ptrdiff_t n) {
    lanes sum[PARTS], above[PARTS];
    EACH(h) { sum[h] = above[h] = NAMED(all)(0.0); }
    IN_SETS(n, i, left,
        EACH(h) {
            const lanes share = NAMED(some)(v + i, h, left, 0.0);
            const lanes more = NAMED(some)(x + i, h, left, low) - low;
            sum[h] += share * NAMED(small_expm1)(-rate * more);
            above[h] += share * more;
        }
    )
    *mean = NAMED(sum_of)(above);
    return NAMED(sum_of)(sum);
}

static double NAMED(tracked)(const double *v, double rate, const double *x, double low, double *out,
                             double *mean, ptrdiff_t n) {
    lanes sum[PARTS], above[PARTS];
    EACH(h) { sum[h] = above[h] = NAMED(all)(0.0); }
    IN_SETS(n, i, left,
        EACH(h) {
            const lanes share = NAMED(some)(v + i, h, left, 0.0);
            const lanes more = NAMED(some)(x + i, h, left, low) - low;
            const lanes value = share * NAMED(small_exp)(-rate * more);
            NAMED(put_some)(out + i, h, left, value);
            sum[h] += value;
            above[h] += share * more;
        }
    )
    *mean = NAMED(sum_of)(above);
    return NAMED(sum_of)(sum);
}

static void NAMED(shared)(const double *p, double stays, double share, const double *prior, double *held,
                          ptrdiff_t n) {
    IN_SETS(n, i, left,
        EACH(h) {
            const lanes value = stays * NAMED(some)(p + i, h, left, 0.0) +
                                share * NAMED(some)(prior + i, h, left, 0.0);
            NAMED(put_some)(held + i, h, left, value);
        }
    )
}

static double NAMED(lag)(double *gap, const double *x, double low, double before, double most,
                         ptrdiff_t n) {
    lanes least[PARTS];
    EACH(h) { least[h] = NAMED(all)(INFINITY); }
    const lanes limit = NAMED(all)(most);
    IN_SETS(n, i, left,
        EACH(h) {
            const lanes sum = (NAMED(some)(gap + i, h, left, INFINITY) - before) +
                              (NAMED(some)(x + i, h, left, low) - low);
            const lanes value = LESSER(limit, sum);
            NAMED(put_some)(gap + i, h, left, value);
            least[h] = LESSER(least[h], value);
        }
    )
    return NAMED(least_of)(least);
}

/* lag, and out[i] = exp(-rate gap[i]) of the new gaps on the way; returns the sum of these */
static double NAMED(advance)(double *gap, const double *x, double low, double before, double most,
                             double rate, double *out, double *smallest, ptrdiff_t n) {
    lanes least[PARTS], sum[PARTS];
    EACH(h) {
        least[h] = NAMED(all)(INFINITY);
        sum[h] = NAMED(all)(0.0);
    }
    const lanes limit = NAMED(all)(most);
    IN_SETS(n, i, left,
        EACH(h) {
            const lanes moved = (NAMED(some)(gap + i, h, left, INFINITY) - before) +
                                (NAMED(some)(x + i, h, left, low) - low);
            const lanes value = LESSER(limit, moved);
            lanes share = NAMED(small_exp)(-rate * value);
            if (left < LANES) {
                share *= NAMED(some)(ones, h, left, 0.0);
            }
            NAMED(put_some)(gap + i, h, left, value);
            NAMED(put_some)(out + i, h, left, share);
            least[h] = LESSER(least[h], value);
            sum[h] += share;
        }
    )
    *smallest = NAMED(least_of)(least);
    return NAMED(sum_of)(sum);
}

/* out[i] = prior[i] max(0, regret[i] / unit) / (1 + squares[i]); returns the sum */
static double NAMED(leaning)(const double *prior, const double *regret, double unit,
                             const double *squares, double *out, ptrdiff_t n) {
    lanes sum[PARTS];
    EACH(h) { sum[h] = NAMED(all)(0.0); }
    IN_SETS(n, i, left,
        EACH(h) {
            const lanes regrets = ATLEAST(NAMED(some)(regret + i, h, left, 0.0) / unit, 0.0);
            const lanes value = NAMED(some)(prior + i, h, left, 0.0) * regrets /
                                (1.0 + NAMED(some)(squares + i, h, left, 0.0));
            NAMED(put_some)(out + i, h, left, value);
            sum[h] += value;
        }
    )
    return NAMED(sum_of)(sum);
}

/* With r = own - x[i]: regret[i] += r, squares[i] = factor squares[i] + (r / unit)²; returns the sum
   of prior[i] (r / unit)² / (factor + factor squares[i]), of the squares before. */
static double NAMED(regretted)(double *regret, double *squares, const double *prior,
                               const double *x, double own, double unit, double factor,
                               ptrdiff_t n) {
    lanes sum[PARTS];
    EACH(h) { sum[h] = NAMED(all)(0.0); }
    IN_SETS(n, i, left,
        EACH(h) {
            const lanes r = own - NAMED(some)(x + i, h, left, own), part = r / unit;
            const lanes square = part * part, held = NAMED(some)(squares + i, h, left, 1.0) * factor;
            NAMED(put_some)(regret + i, h, left, NAMED(some)(regret + i, h, left, 0.0) + r);
            NAMED(put_some)(squares + i, h, left, held + square);
            sum[h] += NAMED(some)(prior + i, h, left, 0.0) * square / (factor + held);
        }
    )
    return NAMED(sum_of)(sum);
}

static double NAMED(total)(const double *x, ptrdiff_t n) {
    lanes sum[PARTS];
    EACH(h) { sum[h] = NAMED(all)(0.0); }
    IN_SETS(n, i, left,
        EACH(h) { sum[h] += NAMED(some)(x + i, h, left, 0.0); }
    )
    return NAMED(sum_of)(sum);
}

static double NAMED(dot)(const double *p, const double *x, ptrdiff_t n) {
    lanes sum[PARTS];
    EACH(h) { sum[h] = NAMED(all)(0.0); }
    IN_SETS(n, i, left,
        EACH(h) { sum[h] += NAMED(some)(p + i, h, left, 0.0) * NAMED(some)(x + i, h, left, 0.0); }
    )
    return NAMED(sum_of)(sum);
}

static void NAMED(extent)(const double *x, double *low, double *high, ptrdiff_t n) {
    lanes least[PARTS], most[PARTS]; /* most: of the negated numbers */
    EACH(h) { least[h] = most[h] = NAMED(all)(INFINITY); }
    IN_SETS(n, i, left,
        EACH(h) {
            const lanes value = NAMED(some)(x + i, h, left, x[0]);
            least[h] = LESSER(least[h], value);
            most[h] = LESSER(most[h], -value);
        }
    )
    *low = NAMED(least_of)(least);
    *high = -NAMED(least_of)(most);
}

static void NAMED(squared)(const double *x, double y, double scale, double *out, ptrdiff_t n) {
    IN_SETS(n, i, left,
        EACH(h) {
            const lanes off = NAMED(some)(x + i, h, left, y) - y;
            NAMED(put_some)(out + i, h, left, scale * off * off);
        }
    )
}

static void NAMED(scaled)(const double *x, double scale, double *out, ptrdiff_t n) {
    IN_SETS(n, i, left,
        EACH(h) { NAMED(put_some)(out + i, h, left, scale * NAMED(some)(x + i, h, left, 0.0)); }
    )
}

#undef lanes
#undef bits
#undef LESSER
#undef ATLEAST
#undef ROUNDED
#undef POWER
#undef UNLESS_BELOW
#undef SOME
#undef PUT_SOME
#undef PARTS
#undef EACH
#undef IN_SETS
#undef NAMED
#undef WIDTH

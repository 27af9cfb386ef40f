/* The loops of weights.h, for vectors of WIDTH numbers: included once for every width.

   A set of lanes is PARTS vectors; lane j of it is always column j mod LANES. The last numbers of an
   array, where fewer are left, are copied to a full set first. */

typedef double NAMED(lanes) __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef int64_t NAMED(bits) __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
#define lanes NAMED(lanes)
#define bits NAMED(bits)
#define PARTS (LANES / WIDTH)
#define EACH(h) for (int h = 0; h < PARTS; h++)

INLINED lanes NAMED(at)(const double *x, int h) { return *(const lanes *)(x + h * WIDTH); }
INLINED void NAMED(put)(double *x, int h, lanes v) { *(lanes *)(x + h * WIDTH) = v; }
INLINED lanes NAMED(all)(double a) { return a - (lanes){0}; }

INLINED lanes NAMED(chosen)(bits which, lanes a, lanes b) {
    return (lanes)((which & (bits)a) | (~which & (bits)b));
}

#ifndef ATLEAST /* operations that are one instruction on some machines */
#define SHIFT 0x1.8p52 /* adding it rounds to a whole number, which is then in the lowest bits */
#define LESSER(a, b) NAMED(chosen)((b) < (a), (b), (a)) /* a where one is no number */
#define ATLEAST(x, least) NAMED(chosen)((x) >= (least), (x), NAMED(all)(least))
#define ROUNDED(x) (((x) + SHIFT) - SHIFT)
#define POWER(k) ((lanes)(((bits)((k) + SHIFT) << 52) + (bits)NAMED(all)(1.0)))
#define UNLESS_BELOW(x, least, value) ((lanes)((bits)(value) & ((x) >= (least))))
#endif

INLINED double NAMED(sum_of)(const lanes *v) {
    double a[LANES];
    EACH(h) { NAMED(put)(a, h, v[h]); }
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

INLINED double NAMED(least_of)(const lanes *v) {
    double a[LANES];
    EACH(h) { NAMED(put)(a, h, v[h]); }
    double found = a[0];
    for (int j = 1; j < LANES; j++) {
        found = a[j] < found ? a[j] : found;
    }
    return found;
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
    double ps[LANES], xs[LANES];
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        double *v = p + i;
        const double *u = x + i;
        if (i + LANES > n) {
            fill(ps, v, n - i, 0.0), fill(xs, u, n - i, x[0]);
            v = ps, u = xs;
        }
        EACH(h) {
            const lanes value = NAMED(at)(u, h);
            lanes share = NAMED(at)(v, h);
            if (scaled) {
                share *= scale;
                NAMED(put)(v, h, share);
            }
            dot[h] += share * value;
            sane[h] += value - value;
            low[h] = LESSER(low[h], value);
            high[h] = LESSER(high[h], -value);
        }
    }
    for (ptrdiff_t i = n - n % LANES; scaled && i < n; i++) {
        p[i] = ps[i % LANES];
    }
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

INLINED void NAMED(decay)(const double *v, double rate, const double *x, double low, double *out,
                          lanes *sum) {
    EACH(h) {
        const lanes value = NAMED(at)(v, h) * NAMED(small_exp)(-rate * (NAMED(at)(x, h) - low));
        NAMED(put)(out, h, value);
        sum[h] += value;
    }
}

static double NAMED(decayed)(const double *v, double rate, const double *x, double low, double *out,
                             ptrdiff_t n) {
    lanes sum[PARTS];
    EACH(h) { sum[h] = NAMED(all)(0.0); }
    ptrdiff_t i = 0;
    if (v == NULL) {
        for (; i + LANES <= n; i += LANES) {
            NAMED(decay)(ones, rate, x + i, low, out + i, sum);
        }
    } else {
        for (; i + LANES <= n; i += LANES) {
            NAMED(decay)(v + i, rate, x + i, low, out + i, sum);
        }
    }
    if (i < n) {
        double vs[LANES], xs[LANES], os[LANES];
        fill(vs, v == NULL ? ones : v + i, n - i, 0.0), fill(xs, x + i, n - i, low);
        NAMED(decay)(vs, rate, xs, low, os, sum);
        for (ptrdiff_t j = i; j < n; j++) {
            out[j] = os[j - i];
        }
    }
    return NAMED(sum_of)(sum);
}

/* sum of v[i] (exp(-rate (x[i] - low)) - 1) */
static double NAMED(lost)(const double *v, double rate, const double *x, double low, ptrdiff_t n) {
    lanes sum[PARTS];
    EACH(h) { sum[h] = NAMED(all)(0.0); }
    double vs[LANES], xs[LANES];
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        const double *w = v + i, *u = x + i;
        if (i + LANES > n) {
            fill(vs, w, n - i, 0.0), fill(xs, u, n - i, low);
            w = vs, u = xs;
        }
        EACH(h) {
            sum[h] += NAMED(at)(w, h) * NAMED(small_expm1)(-rate * (NAMED(at)(u, h) - low));
        }
    }
    return NAMED(sum_of)(sum);
}

static double NAMED(lag)(double *gap, const double *x, double low, double before, double most,
                         ptrdiff_t n) {
    lanes least[PARTS];
    EACH(h) { least[h] = NAMED(all)(INFINITY); }
    const lanes limit = NAMED(all)(most);
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        EACH(h) {
            const lanes sum = (NAMED(at)(gap + i, h) - before) + (NAMED(at)(x + i, h) - low);
            const lanes value = LESSER(limit, sum);
            NAMED(put)(gap + i, h, value);
            least[h] = LESSER(least[h], value);
        }
    }
    double found = NAMED(least_of)(least);
    for (; i < n; i++) {
        const double sum = (gap[i] - before) + (x[i] - low);
        gap[i] = sum < most ? sum : most;
        found = gap[i] < found ? gap[i] : found;
    }
    return found;
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
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        EACH(h) {
            const lanes moved = (NAMED(at)(gap + i, h) - before) + (NAMED(at)(x + i, h) - low);
            const lanes value = LESSER(limit, moved), share = NAMED(small_exp)(-rate * value);
            NAMED(put)(gap + i, h, value);
            NAMED(put)(out + i, h, share);
            least[h] = LESSER(least[h], value);
            sum[h] += share;
        }
    }
    *smallest = NAMED(least_of)(least);
    if (i < n) {
        double vs[LANES], gs[LANES], os[LANES];
        for (ptrdiff_t j = i; j < n; j++) {
            const double moved = (gap[j] - before) + (x[j] - low);
            gap[j] = moved < most ? moved : most;
            *smallest = gap[j] < *smallest ? gap[j] : *smallest;
        }
        fill(vs, ones, n - i, 0.0), fill(gs, gap + i, n - i, 0.0);
        NAMED(decay)(vs, rate, gs, 0.0, os, sum);
        for (ptrdiff_t j = i; j < n; j++) {
            out[j] = os[j - i];
        }
    }
    return NAMED(sum_of)(sum);
}

/* out[i] = prior[i] max(0, regret[i] / unit) / (1 + squares[i]); returns the sum */
static double NAMED(leaning)(const double *prior, const double *regret, double unit,
                             const double *squares, double *out, ptrdiff_t n) {
    lanes sum[PARTS];
    EACH(h) { sum[h] = NAMED(all)(0.0); }
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        EACH(h) {
            const lanes regrets = ATLEAST(NAMED(at)(regret + i, h) / unit, 0.0);
            const lanes value =
                NAMED(at)(prior + i, h) * regrets / (1.0 + NAMED(at)(squares + i, h));
            NAMED(put)(out + i, h, value);
            sum[h] += value;
        }
    }
    double total = NAMED(sum_of)(sum);
    for (; i < n; i++) {
        out[i] = regret[i] > 0 ? prior[i] * (regret[i] / unit) / (1.0 + squares[i]) : 0.0;
        total += out[i];
    }
    return total;
}

/* With r = own - x[i]: regret[i] += r, squares[i] = factor squares[i] + (r / unit)²; returns the sum
   of prior[i] (r / unit)² / (factor + factor squares[i]), of the squares before. */
static double NAMED(regretted)(double *regret, double *squares, const double *prior,
                               const double *x, double own, double unit, double factor,
                               ptrdiff_t n) {
    lanes sum[PARTS];
    EACH(h) { sum[h] = NAMED(all)(0.0); }
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        EACH(h) {
            const lanes r = own - NAMED(at)(x + i, h), part = r / unit, square = part * part;
            const lanes held = NAMED(at)(squares + i, h) * factor;
            NAMED(put)(regret + i, h, NAMED(at)(regret + i, h) + r);
            NAMED(put)(squares + i, h, held + square);
            sum[h] += NAMED(at)(prior + i, h) * square / (factor + held);
        }
    }
    double total = NAMED(sum_of)(sum);
    for (; i < n; i++) {
        const double r = own - x[i], part = r / unit, square = part * part;
        const double held = squares[i] * factor;
        regret[i] += r;
        squares[i] = held + square;
        total += prior[i] * square / (factor + held);
    }
    return total;
}

static double NAMED(total)(const double *x, ptrdiff_t n) {
    lanes sum[PARTS];
    EACH(h) { sum[h] = NAMED(all)(0.0); }
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        EACH(h) { sum[h] += NAMED(at)(x + i, h); }
    }
    double found = NAMED(sum_of)(sum);
    for (; i < n; i++) {
        found += x[i];
    }
    return found;
}

#undef lanes
#undef bits
#undef LESSER
#undef ATLEAST
#undef ROUNDED
#undef POWER
#undef UNLESS_BELOW
#undef PARTS
#undef EACH
#undef NAMED
#undef WIDTH

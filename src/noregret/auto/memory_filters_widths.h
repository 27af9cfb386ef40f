/* The loops of memory_filters_loops.h, for vectors that hold STEP inputs: included once per width. */

typedef double NAMED(lanes) __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long NAMED(bits) __attribute__((vector_size(32), aligned(8), may_alias));
typedef double NAMED(pair) __attribute__((vector_size(32 * STEP), aligned(8), may_alias));

#define lanes NAMED(lanes)
#define bits NAMED(bits)
#define pair NAMED(pair)
#if STEP == 2
#define BOTH(a) ((pair)_mm512_broadcast_f64x4((__m256d)(a)))
#define FOLDED(a)                                                                                   \
    ((lanes)_mm512_castpd512_pd256((__m512d)(a)) + (lanes)_mm512_extractf64x4_pd((__m512d)(a), 1))
#else
#define BOTH(a) (a)
#define FOLDED(a) (a)
#endif


INLINED const double *NAMED(column)(const double *U, ptrdiff_t j) { return U + 2 * j * (j - 1); }

INLINED lanes NAMED(lesser)(lanes a, lanes b) {
    const bits which = b < a;
    return (lanes)((which & (bits)b) | (~which & (bits)a));
}

/* The positions of nonzero inputs, even and odd ones; sums do not depend on whether they are listed. */
typedef struct {
    int even[NOREGRET_MAX_INPUTS], odd[NOREGRET_MAX_INPUTS];
    ptrdiff_t evens, odds;
} NAMED(places);

/* Whether at most half of the inputs are nonzero, so that listing them pays off. */
INLINED int NAMED(listed)(const double *x, ptrdiff_t n, NAMED(places) *at) {
    at->evens = at->odds = 0;
    for (ptrdiff_t i = 0; i < n; i += 2) {
        at->even[at->evens] = (int)i;
        at->evens += x[i] != 0;
    }
    for (ptrdiff_t i = 1; i < n; i += 2) {
        at->odd[at->odds] = (int)i;
        at->odds += x[i] != 0;
    }
    return 2 * (at->evens + at->odds) <= n;
}

/* The sum of u[i] x[i] for i < j, over the listed inputs or over all. */
INLINED lanes NAMED(dot)(const double *u, const double *x, ptrdiff_t j, const NAMED(places) *at) {
    lanes a = {0}, b = {0};
    ptrdiff_t i = 0;
    if (at != NULL) {
        for (; i < at->evens && at->even[i] < j; i++) {
            a += AT(u, at->even[i]) * ALL(x[at->even[i]]);
        }
        for (i = 0; i < at->odds && at->odd[i] < j; i++) {
            b += AT(u, at->odd[i]) * ALL(x[at->odd[i]]);
        }
        return a + b;
    }
    for (; i + 2 <= j; i += 2) { /* two independent sums */
        a += AT(u, i) * ALL(x[i]);
        b += AT(u, i + 1) * ALL(x[i + 1]);
    }
    if (i < j) {
        a += AT(u, i) * ALL(x[i]);
    }
    return a + b;
}

static void NAMED(score)(const double *w, const double *x, ptrdiff_t n, int sets, double *out) {
    const double *second = w + 4 * n, *third = second + 4 * n;
    lanes a = {0}, b = {0}, c = {0}, d = {0};
    ptrdiff_t i = 0;
    if (sets == 3) { /* one load of x for all */
        for (; i < n; i++) {
            const lanes at = ALL(x[i]);
            a += AT(w, i) * at;
            b += AT(second, i) * at;
            c += AT(third, i) * at;
        }
        TO(out, 0) = a;
        TO(out, 1) = b;
        TO(out, 2) = c;
        return;
    }
    for (; i + 4 <= n; i += 4) { /* four independent sums */
        a += AT(w, i) * ALL(x[i]);
        b += AT(w, i + 1) * ALL(x[i + 1]);
        c += AT(w, i + 2) * ALL(x[i + 2]);
        d += AT(w, i + 3) * ALL(x[i + 3]);
    }
    /* each in the sum of its position, so that trailing zeros change nothing */
    if (i < n) {
        a += AT(w, i) * ALL(x[i]);
    }
    if (i + 1 < n) {
        b += AT(w, i + 1) * ALL(x[i + 1]);
    }
    if (i + 2 < n) {
        c += AT(w, i + 2) * ALL(x[i + 2]);
    }
    TO(out, 0) = (a + b) + (c + d);
}

static void NAMED(project)(const double *U, const double *D, const double *x, ptrdiff_t n,
                              double *f, double *v, double *z) {
    NAMED(places) found;
    const NAMED(places) *at = NAMED(listed)(x, n, &found) ? &found : NULL;
    lanes total = {0};
    for (ptrdiff_t j = 0; j < n; j++) {
        const lanes a = ALL(x[j]) + NAMED(dot)(NAMED(column)(U, j), x, j, at), scaled = AT(D, j) * a;
        TO(f, j) = a;
        TO(v, j) = scaled;
        total += a * scaled;
    }
    TO(z, 0) = total;
}

typedef struct {
    lanes weight;          /* of the observation, */
    lanes before, inverse; /* 1 + what the columns so far explain, and 1 over it */
} NAMED(progress);

/* Updates the variance of column j; returns the factor by which its column loses the gain so far. */
INLINED lanes NAMED(settled)(NAMED(progress) *p, double *D, lanes ceiling, lanes renewed, ptrdiff_t j, lanes f,
                      lanes v) {
    const lanes slope = p->weight * f, after = p->before + slope * v, part = -slope * p->inverse;
    p->inverse = 1.0 / after;
    const lanes d = NAMED(lesser)(AT(D, j) * p->before * p->inverse * renewed, ceiling);
    TO(D, j) = -NAMED(lesser)(-d, -(ceiling * ALL(LEAST)));
    p->before = after;
    return part;
}

/* The sum of u[i] x[i] for i < j, j even; every number of x is repeated four times. */
INLINED lanes NAMED(inner)(const double *u, const double *x, ptrdiff_t j) {
    pair sum = {0};
    for (ptrdiff_t i = 0; i < j; i += STEP) {
        sum += TWO(u, i) * TWO(x, i);
    }
    return FOLDED(sum);
}

/* Columns are processed in pairs, so that the gain is read and written once for both, and each column
   is updated by all rows before the next, while it is in cache. During the update by one row it is
   multiplied with the next. */
INLINED void NAMED(learn_rows)(double *U, double *D, const double *x, ptrdiff_t stride, int rows,
                               const double *prior, lanes cap, lanes renewed, NAMED(progress) *p,
                               double *k, ptrdiff_t n) {
    for (ptrdiff_t j = 0; j + 2 <= n; j += 2) {
        double *u = (double *)NAMED(column)(U, j), *w = (double *)NAMED(column)(U, j + 1);
        const lanes low = cap * ALL(prior[j]), high = cap * ALL(prior[j + 1]);
        lanes f0 = AT(x, j) + NAMED(inner)(u, x, j);
        lanes f1 = AT(x, j + 1) + (NAMED(inner)(w, x, j) + AT(w, j) * AT(x, j));
        for (int b = 0; b < rows; b++) {
            double *gains = k + 4 * n * b;
            const double *next = b + 1 < rows ? x + stride * (b + 1) : x;
            const lanes v0 = AT(D, j) * f0, v1 = AT(D, j + 1) * f1;
            const lanes p0 = NAMED(settled)(p + b, D, low, renewed, j, f0, v0);
            const lanes p1 = NAMED(settled)(p + b, D, high, renewed, j + 1, f1, v1);
            const pair vv0 = BOTH(v0), vv1 = BOTH(v1), pp0 = BOTH(p0), pp1 = BOTH(p1);
            pair a0 = {0}, a1 = {0};
            for (ptrdiff_t i = 0; i < j; i += STEP) {
                const pair a = TWO(u, i), c = TWO(w, i), gain = TWO(gains, i), more = gain + a * vv0;
                const pair first = a + pp0 * gain, second = c + pp1 * more, at = TWO(next, i);
                TWO_TO(u, i) = first;
                TWO_TO(w, i) = second;
                TWO_TO(gains, i) = more + c * vv1;
                a0 += first * at;
                a1 += second * at;
            }
            const lanes c = AT(w, j), second = c + p1 * v0;
            TO(w, j) = second;
            TO(gains, j) = v0 + c * v1;
            TO(gains, j + 1) = v1;
            f0 = AT(next, j) + FOLDED(a0);
            f1 = AT(next, j + 1) + (FOLDED(a1) + second * AT(next, j));
        }
    }
    if (n % 2 == 1) { /* the last column has no partner */
        const ptrdiff_t j = n - 1;
        double *u = (double *)NAMED(column)(U, j);
        lanes f0 = AT(x, j) + NAMED(inner)(u, x, j);
        for (int b = 0; b < rows; b++) {
            double *gains = k + 4 * n * b;
            const double *next = b + 1 < rows ? x + stride * (b + 1) : x;
            const lanes v0 = AT(D, j) * f0;
            const lanes p0 = NAMED(settled)(p + b, D, cap * ALL(prior[j]), renewed, j, f0, v0);
            const pair vv0 = BOTH(v0), pp0 = BOTH(p0);
            pair a0 = {0};
            for (ptrdiff_t i = 0; i < j; i += STEP) {
                const pair was = TWO(u, i), gain = TWO(gains, i), now = was + pp0 * gain;
                TWO_TO(u, i) = now;
                TWO_TO(gains, i) = gain + was * vv0;
                a0 += now * TWO(next, i);
            }
            TO(gains, j) = v0;
            f0 = AT(next, j) + FOLDED(a0);
        }
    }
}

static int NAMED(learn)(double *U, double *D, const double *x, ptrdiff_t stride, int rows,
                        const double *prior, const double *most, const double *forget,
                        const double *r, double *k, ptrdiff_t n) {
    const lanes kept = AT(forget, 0), renewed = 1.0 / kept;
    NAMED(progress) p[NOREGRET_MAX_QUEUED_ROWS];
    double fours[4 * NOREGRET_MAX_QUEUED_ROWS * NOREGRET_MAX_INPUTS];
    lanes sane = {0};
    for (int b = 0; b < rows; b++) {
        p[b] = (NAMED(progress)){AT(r, b), kept, renewed};
        for (ptrdiff_t i = 0; i < n; i++) {
            TO(fours, n * b + i) = ALL(x[stride * b + i]);
        }
    }
    if (rows == NOREGRET_MAX_QUEUED_ROWS) {
        NAMED(learn_rows)(U, D, fours, 4 * n, NOREGRET_MAX_QUEUED_ROWS, prior, AT(most, 0), renewed, p, k, n);
    } else {
        NAMED(learn_rows)(U, D, fours, 4 * n, rows, prior, AT(most, 0), renewed, p, k, n);
    }
    for (int b = 0; b < rows; b++) {
        sane += p[b].before - p[b].before;
        for (ptrdiff_t j = 0; j < n; j++) {
            const lanes gain = AT(k, n * b + j) * p[b].inverse;
            TO(k, n * b + j) = gain;
            sane += gain - gain;
        }
    }
    return sane[0] == 0 && sane[1] == 0 && sane[2] == 0 && sane[3] == 0;
}

static void NAMED(step)(double *w, const double *k, const double *e, ptrdiff_t n, int sets) {
    double *second = w + 4 * n, *third = second + 4 * n;
    const lanes error = AT(e, 0);
    if (sets == 3) {
        const lanes other = AT(e, 1), last = AT(e, 2);
        for (ptrdiff_t i = 0; i < n; i++) {
            const lanes gain = AT(k, i);
            TO(w, i) = AT(w, i) + gain * error;
            TO(second, i) = AT(second, i) + gain * other;
            TO(third, i) = AT(third, i) + gain * last;
        }
        return;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        TO(w, i) = AT(w, i) + AT(k, i) * error;
    }
}

static void NAMED(raise)(double *U, double *D, ptrdiff_t j, const double *more, double mean,
                         double *scratch) {
    memset(scratch, 0, (size_t)(4 * (j + 1)) * sizeof(double));
    TO(scratch, 0) = ALL(-mean);
    TO(scratch, j) = ALL(1.0);
    lanes left = AT(more, 0);
    for (ptrdiff_t c = j; c >= 0 && (left[0] > 0 || left[1] > 0 || left[2] > 0 || left[3] > 0); c--) {
        const lanes a = AT(scratch, c), d = AT(D, c), grown = d + left * a * a;
        double *u = (double *)NAMED(column)(U, c);
        /* without variance there is nothing to share */
        const bits some = grown > 0;
        const lanes part = (lanes)(some & (bits)(left * a / grown));
        left = (lanes)((some & (bits)(left * d / grown)) | (~some & (bits)left));
        TO(D, c) = grown;
        for (ptrdiff_t i = 0; i < c; i++) {
            const lanes moved = AT(scratch, i) - a * AT(u, i);
            TO(scratch, i) = moved;
            TO(u, i) = AT(u, i) + part * moved;
        }
    }
}

#undef lanes
#undef bits
#undef pair
#undef BOTH
#undef FOLDED
#undef STEP
#undef NAMED

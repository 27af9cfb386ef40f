/* The loops of memory_filters_loops.h, for vectors that hold STEP inputs: included once per width. */

typedef double NAMED(lanes) __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long NAMED(bits) __attribute__((vector_size(32), aligned(8), may_alias));
typedef double NAMED(pair) __attribute__((vector_size(32 * STEP), aligned(8), may_alias));

#define lanes NAMED(lanes)
#define bits NAMED(bits)
#define pair NAMED(pair)
#if STEP == 2
/* One store for two inputs: a load of both would have to wait for two of them. */
#define PUT_TWO(p, i, a, b)                                                                         \
    (TWO_TO(p, i) = (pair)_mm512_insertf64x4(_mm512_castpd256_pd512((__m256d)(a)), (__m256d)(b), 1))
#define BOTH(a) ((pair)_mm512_broadcast_f64x4((__m256d)(a)))
#define FOLDED(a)                                                                                   \
    ((lanes)_mm512_castpd512_pd256((__m512d)(a)) + (lanes)_mm512_extractf64x4_pd((__m512d)(a), 1))
#else
#define PUT_TWO(p, i, a, b) (TO(p, i) = (a), TO(p, (i) + 1) = (b))
#define BOTH(a) (a)
#define FOLDED(a) (a)
#endif


INLINED const double *NAMED(column)(const double *U, ptrdiff_t j) {
    const ptrdiff_t half = j / 2;
    return U + 8 * half * (half + j % 2);
}

#ifndef LESSER /* a where one is no number */
INLINED lanes NAMED(lesser)(lanes a, lanes b) {
    const bits which = b < a;
    return (lanes)((which & (bits)b) | (~which & (bits)a));
}
#define LESSER(a, b) NAMED(lesser)(a, b)
#define GREATER(a, b) (-NAMED(lesser)(-(a), -(b)))
#endif

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
INLINED lanes NAMED(settled)(NAMED(progress) *p, double *D, lanes ceiling, lanes renewed, ptrdiff_t j,
                             lanes f, lanes v) {
    const lanes slope = p->weight * f, after = p->before + slope * v, part = -slope * p->inverse;
    p->inverse = 1.0 / after;
    const lanes d = LESSER(AT(D, j) * p->before * p->inverse * renewed, ceiling);
    TO(D, j) = GREATER(d, ceiling * ALL(LEAST));
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

/* The columns j and j + 1, j even, updated by one row. `f` is the row times these columns; during the
   update they are multiplied with the next row, unless this is the last. */
INLINED void NAMED(learn_pair)(double *U, double *D, ptrdiff_t j, const double *most, lanes renewed,
                               NAMED(progress) *p, double *gains, lanes *f,
                               const double *next) {
    double *u = (double *)NAMED(column)(U, j), *w = (double *)NAMED(column)(U, j + 1);
    const lanes v0 = AT(D, j) * f[0], v1 = AT(D, j + 1) * f[1];
    const lanes p0 = NAMED(settled)(p, D, AT(most, j), renewed, j, f[0], v0);
    const lanes p1 = NAMED(settled)(p, D, AT(most, j + 1), renewed, j + 1, f[1], v1);
    const pair vv0 = BOTH(v0), vv1 = BOTH(v1), pp0 = BOTH(p0), pp1 = BOTH(p1);
    pair a0 = {0}, a1 = {0};
    for (ptrdiff_t i = 0; i < j; i += STEP) {
        const pair a = TWO(u, i), c = TWO(w, i), gain = TWO(gains, i), more = gain + a * vv0;
        const pair first = a + pp0 * gain, second = c + pp1 * more;
        TWO_TO(u, i) = first;
        TWO_TO(w, i) = second;
        TWO_TO(gains, i) = more + c * vv1;
        if (next != NULL) {
            const pair at = TWO(next, i);
            a0 += first * at;
            a1 += second * at;
        }
    }
    const lanes c = AT(w, j), second = c + p1 * v0;
    TO(w, j) = second;
    PUT_TWO(gains, j, v0 + c * v1, v1);
    if (next != NULL) {
        f[2] = AT(next, j) + FOLDED(a0);
        f[3] = AT(next, j + 1) + (FOLDED(a1) + second * AT(next, j));
    }
}

/* The same for the last column of an odd number, which has no partner. */
INLINED void NAMED(learn_last)(double *U, double *D, ptrdiff_t j, const double *most, lanes renewed,
                               NAMED(progress) *p, double *gains, lanes *f,
                               const double *next) {
    double *u = (double *)NAMED(column)(U, j);
    const lanes v0 = AT(D, j) * f[0];
    const lanes p0 = NAMED(settled)(p, D, AT(most, j), renewed, j, f[0], v0);
    const pair vv0 = BOTH(v0), pp0 = BOTH(p0);
    pair a0 = {0};
    for (ptrdiff_t i = 0; i < j; i += STEP) {
        const pair was = TWO(u, i), gain = TWO(gains, i), now = was + pp0 * gain;
        TWO_TO(u, i) = now;
        TWO_TO(gains, i) = gain + was * vv0;
        if (next != NULL) {
            a0 += now * TWO(next, i);
        }
    }
    PUT_TWO(gains, j, v0, (lanes){0});
    if (next != NULL) {
        f[2] = AT(next, j) + FOLDED(a0);
    }
}

/* Columns are processed in pairs, so that the gain is read and written once for both. A row follows one
   pair behind the row before it: what rows do at a time is independent, and the processor overlaps it. */
INLINED void NAMED(learn_rows)(double *U, double *D, const double *x, ptrdiff_t stride, int rows,
                               const double *most, lanes renewed, NAMED(progress) *p, double *k,
                               ptrdiff_t n) {
    lanes f[2 * NOREGRET_MAX_QUEUED_ROWS]; /* of every row, for its next pair of columns */
    for (ptrdiff_t start = 0; start < n + 2 * (rows - 1); start += 2) {
        if (start < n) {
            f[0] = AT(x, start) + NAMED(inner)(NAMED(column)(U, start), x, start);
        }
        if (start + 1 < n) {
            const double *w = NAMED(column)(U, start + 1);
            f[1] = AT(x, start + 1) + (NAMED(inner)(w, x, start) + AT(w, start) * AT(x, start));
        }
        for (int b = rows - 1; b >= 0; b--) {
            const ptrdiff_t j = start - 2 * b;
            const double *next = b + 1 < rows ? x + stride * (b + 1) : NULL;
            if (j >= 0 && j + 1 < n) {
                NAMED(learn_pair)(U, D, j, most, renewed, p + b, k + stride * b, f + 2 * b, next);
            } else if (j >= 0 && j < n) {
                NAMED(learn_last)(U, D, j, most, renewed, p + b, k + stride * b, f + 2 * b, next);
            }
        }
    }
}

static int NAMED(learn)(double *U, double *D, const double *x, ptrdiff_t stride, int rows,
                        const double *prior, const double *most, const double *forget,
                        const double *r, double *k, ptrdiff_t n) {
    const lanes kept = AT(forget, 0), renewed = 1.0 / kept;
    const ptrdiff_t even = n + n % 2;
    NAMED(progress) p[NOREGRET_MAX_QUEUED_ROWS];
    _Alignas(64) double fours[4 * NOREGRET_MAX_QUEUED_ROWS * (NOREGRET_MAX_INPUTS + 1)];
    double ceilings[4 * NOREGRET_MAX_INPUTS];
    lanes sane = {0};
    for (ptrdiff_t j = 0; j < n; j++) {
        TO(ceilings, j) = AT(most, 0) * ALL(prior[j]);
    }
    for (int b = 0; b < rows; b++) {
        p[b] = (NAMED(progress)){AT(r, b), kept, renewed};
        const double *row = x + stride * b;
        for (ptrdiff_t i = 0; i < n; i += 2) {
            PUT_TWO(fours, even * b + i, ALL(row[i]), ALL(i + 1 < n ? row[i + 1] : 0.0));
        }
    }
    if (rows == NOREGRET_MAX_QUEUED_ROWS) {
        NAMED(learn_rows)(U, D, fours, 4 * even, NOREGRET_MAX_QUEUED_ROWS, ceilings, renewed, p, k, n);
    } else if (rows == 1) {
        NAMED(learn_rows)(U, D, fours, 4 * even, 1, ceilings, renewed, p, k, n);
    } else {
        NAMED(learn_rows)(U, D, fours, 4 * even, rows, ceilings, renewed, p, k, n);
    }
    for (int b = 0; b < rows; b++) {
        const pair inverse = BOTH(p[b].inverse);
        double *gains = k + 4 * even * b;
        pair found = BOTH(p[b].before - p[b].before);
        for (ptrdiff_t j = 0; j < even; j += STEP) {
            const pair gain = TWO(gains, j) * inverse;
            TWO_TO(gains, j) = gain;
            found += gain - gain;
        }
        sane += FOLDED(found);
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

#undef LESSER
#undef GREATER
#undef lanes
#undef bits
#undef pair
#undef BOTH
#undef PUT_TWO
#undef FOLDED
#undef STEP
#undef NAMED

#include "udu_factors.h"

#include <math.h>

#include "cpu_dispatch.h"

#define LANES 8

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
typedef double half __attribute__((vector_size(32), aligned(8), may_alias));
#else
#define INLINE static inline
#endif

INLINE ptrdiff_t column(ptrdiff_t j) { return j * (j - 1) / 2; }

INLINE double total(const double *lane) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

INLINE double dot(const double *u, const double *x, ptrdiff_t n) {
    double lane[LANES] = {0};
    ptrdiff_t i = 0;
#if defined(__GNUC__)
    if (n >= LANES) {
        half a = {0}, b = {0};
        for (; i + LANES <= n; i += LANES) {
            a += *(const half *)(u + i) * *(const half *)(x + i);
            b += *(const half *)(u + i + 4) * *(const half *)(x + i + 4);
        }
        *(half *)lane = a, *(half *)(lane + 4) = b;
    }
#endif
    for (; i < n; i++) {
        lane[i % LANES] += u[i] * x[i];
    }
    return total(lane);
}

DISPATCHED(void, noregret_through,
           (const double *u, const double *x, ptrdiff_t n, double *f),
           (u, x, n, f)) {
    for (ptrdiff_t j = 0; j < n; j++) {
        f[j] = x[j] + dot(u + column(j), x, j);
    }
}

DISPATCHED(double, noregret_quadratic_dense,
           (const double *u, const double *d, const double *x, ptrdiff_t n),
           (u, d, x, n)) {
    double sum = 0;
    for (ptrdiff_t j = 0; j < n; j++) {
        const double f = x[j] + dot(u + column(j), x, j);
        sum += f * (d[j] * f);
    }
    return sum;
}

double noregret_quadratic_sparse(const double *u, const double *d, const double *x, const int32_t *at,
                                 ptrdiff_t count, ptrdiff_t n) {
    double sum = 0;
    ptrdiff_t before = 0; /* entries of the row in columns before j */
    for (ptrdiff_t j = count ? at[0] : n; j < n; j++) {
        const double *above = u + column(j);
        double lane[LANES] = {0};
        for (ptrdiff_t k = 0; k < before; k++) {
            const uint32_t i = (uint32_t)at[k];
            lane[i % LANES] += above[i] * x[k];
        }
        const int here = before < count && at[before] == j;
        const double f = (here ? x[before] : 0.0) + total(lane);
        before += here;
        sum += f * (d[j] * f);
    }
    return sum;
}

double noregret_weighted_square(const double *d, const double *x, const int32_t *at, ptrdiff_t count) {
    double lane[LANES] = {0};
    for (ptrdiff_t k = 0; k < count; k++) {
        const uint32_t i = at == NULL ? (uint32_t)k : (uint32_t)at[k];
        lane[i % LANES] += x[k] * (d[i] * x[k]);
    }
    return total(lane);
}

DISPATCHED(void, noregret_refactor,
           (double *restrict u, double *restrict d, const double *restrict f, double c,
            double *restrict b, ptrdiff_t n),
           (u, d, f, c, b, n)) {
    double alpha = 1;
    for (ptrdiff_t j = 0; j < n; j++) {
        const double v = d[j] * f[j];
        b[j] = v;
        if (f[j] == 0) {
            continue;
        }
        const double next = alpha + c * (f[j] * v), s = -c * f[j] / alpha;
        double *restrict above = u + column(j);
        for (ptrdiff_t i = 0; i < j; i++) {
            const double old = above[i];
            above[i] = old + b[i] * s;
            b[i] += old * v;
        }
        d[j] *= alpha / next;
        alpha = next;
    }
}

DISPATCHED(void, noregret_variances,
           (const double *restrict u, const double *restrict d, double *restrict p, ptrdiff_t n),
           (u, d, p, n)) {
    for (ptrdiff_t j = 0; j < n; j++) {
        const double *restrict above = u + column(j);
        p[j] = d[j];
        for (ptrdiff_t i = 0; i < j; i++) {
            p[i] += above[i] * (above[i] * d[j]);
        }
    }
}

DISPATCHED(void, noregret_stretch,
           (double *restrict u, double *restrict d, const double *restrict s, ptrdiff_t n),
           (u, d, s, n)) {
    for (ptrdiff_t j = 0; j < n; j++) {
        double *restrict above = u + column(j);
        for (ptrdiff_t i = 0; i < j; i++) {
            above[i] *= s[i] / s[j];
        }
        d[j] *= s[j] * s[j];
    }
}

DISPATCHED(double, noregret_reach,
           (const double *u, ptrdiff_t n),
           (u, n)) {
    double most = 0;
    for (ptrdiff_t i = 0; i < column(n); i++) {
        const double size = fabs(u[i]);
        most = size > most ? size : most;
    }
    return most;
}

#include "kernels.h"

#include <math.h>

#define LANES 8
#define AHEAD 512 /* doubles to fetch ahead: rows of a block follow each other in memory */

/* One binary for every machine: wider vectors are chosen when the program starts. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define DISPATCHED __attribute__((target_clones("avx2", "default")))
#else
#define DISPATCHED
#endif

static inline double total(const double *lane) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static inline double largest(const double *lane) {
    double top = lane[0];
    for (int j = 1; j < LANES; j++) {
        top = lane[j] > top ? lane[j] : top;
    }
    return top;
}

#if defined(__GNUC__)
/* Half the lanes in one vector; the compiler splits it where registers are narrower. */
typedef double half __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t bits __attribute__((vector_size(32), aligned(8), may_alias));

/* |a| */
static inline half sizes(half a) {
    return (half)((bits)a & INT64_MAX);
}

/* The larger of the two, lane by lane. */
static inline half larger(half a, half b) {
    const bits more = a > b;
    return (half)((more & (bits)a) | (~more & (bits)b));
}
#endif

DISPATCHED
noregret_scan noregret_scan_dense(const double *v, const double *x, ptrdiff_t n) {
    double dot[LANES] = {0}, norm2[LANES] = {0}, peak[LANES] = {0};
    ptrdiff_t i = 0;
#if defined(__GNUC__)
    half d0 = {0}, d1 = {0}, n0 = {0}, n1 = {0}, p0 = {0}, p1 = {0};
    for (; i + LANES <= n; i += LANES) {
        __builtin_prefetch(x + i + AHEAD);
        const half x0 = *(const half *)(x + i), x1 = *(const half *)(x + i + 4);
        d0 += *(const half *)(v + i) * x0;
        d1 += *(const half *)(v + i + 4) * x1;
        n0 += x0 * x0;
        n1 += x1 * x1;
        p0 = larger(sizes(x0), p0);
        p1 = larger(sizes(x1), p1);
    }
    *(half *)dot = d0, *(half *)(dot + 4) = d1;
    *(half *)norm2 = n0, *(half *)(norm2 + 4) = n1;
    *(half *)peak = p0, *(half *)(peak + 4) = p1;
#endif
    for (int j = 0; i < n; i++, j = (j + 1) % LANES) {
        const double value = x[i], size = fabs(value);
        dot[j] += v[i] * value;
        norm2[j] += value * value;
        peak[j] = size > peak[j] ? size : peak[j];
    }
    const noregret_scan scan = {total(dot), total(norm2), largest(peak)};
    return scan;
}

noregret_scan noregret_scan_sparse(const double *v, const double *x, const int32_t *at, ptrdiff_t n) {
    double dot[LANES] = {0}, norm2[LANES] = {0}, peak = 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        const int32_t i = at[k];
        const double value = x[k], size = fabs(value);
        dot[i % LANES] += v[i] * value;
        norm2[i % LANES] += value * value;
        peak = size > peak ? size : peak;
    }
    const noregret_scan scan = {total(dot), total(norm2), peak};
    return scan;
}

DISPATCHED
void noregret_add_dense(double *restrict v, double a, const double *restrict x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) {
        v[i] += a * x[i];
    }
}

void noregret_add_sparse(double *restrict v, double a, const double *restrict x,
                         const int32_t *restrict at, ptrdiff_t n) {
    for (ptrdiff_t k = 0; k < n; k++) {
        v[at[k]] += a * x[k];
    }
}

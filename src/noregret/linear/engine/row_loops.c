#include "row_loops.h"

#include <math.h>
#include <string.h>

#include "cpu_dispatch.h"

#define LANES 8
#define AHEAD 512 /* doubles to fetch ahead: rows of a block follow each other in memory */

static inline double total(const double *lane) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double larger(double a, double b) { return a > b ? a : b; }

#if defined(__GNUC__)
/* Half the lanes in one vector; the compiler splits it where registers are narrower. */
typedef double half __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t bits __attribute__((vector_size(32), aligned(8), may_alias));

static inline half chosen(bits which, half a, half b) {
    return (half)((which & (bits)a) | (~which & (bits)b));
}
#endif

#define SCANNED plain_scan_dense
#define LOWER(x, low) chosen(x < low, x, low)
#define HIGHER(x, high) chosen(x > high, x, high)
#include "scan_dense.h"

#ifdef WIDE_VECTORS /* the same by the processor's own instructions for the lower and the higher */
#define SCANNED __attribute__((target("avx2"))) wide_scan_dense
#define LOWER(x, low) ((half)__builtin_ia32_minpd256(x, low))
#define HIGHER(x, high) ((half)__builtin_ia32_maxpd256(x, high))
#include "scan_dense.h"
#endif

noregret_scan noregret_scan_dense(const double *v, const double *x, ptrdiff_t n) {
#ifdef WIDE_VECTORS
    if (noregret_cpu >= NOREGRET_AVX2) {
        return wide_scan_dense(v, x, n);
    }
#endif
    return plain_scan_dense(v, x, n);
}

noregret_scan noregret_scan_sparse(const double *v, const double *x, const int32_t *at, ptrdiff_t n) {
    double dot[LANES] = {0}, norm2[LANES] = {0}, low = INFINITY, high = -INFINITY;
    for (ptrdiff_t k = 0; k < n; k++) {
        const uint32_t i = (uint32_t)at[k];
        const double value = x[k];
        dot[i % LANES] += v[i] * value;
        norm2[i % LANES] += value * value;
        low = smaller(value, low);
        high = larger(value, high);
    }
    const noregret_scan scan = {total(dot), total(norm2), low, high};
    return scan;
}

DISPATCHED(void, noregret_copy,
           (double *restrict out, const double *restrict x, ptrdiff_t n),
           (out, x, n)) {
    ptrdiff_t i = 0;
#if defined(__GNUC__)
    for (; i + LANES <= n; i += LANES) {
        __builtin_prefetch(x + i + AHEAD);
        const half x0 = *(const half *)(x + i), x1 = *(const half *)(x + i + 4);
        *(half *)(out + i) = x0, *(half *)(out + i + 4) = x1;
    }
#endif
    for (; i < n; i++) {
        out[i] = x[i];
    }
}

DISPATCHED(int, noregret_ordered,
           (const int32_t *at, ptrdiff_t n, ptrdiff_t size),
           (at, n, size)) {
    int32_t falls = 0;
    for (ptrdiff_t k = 1; k < n; k++) {
        falls |= at[k] <= at[k - 1];
    }
    return !falls && (n == 0 || (at[0] >= 0 && at[n - 1] < size));
}

DISPATCHED(void, noregret_add_dense,
           (double *restrict v, double a, const double *restrict x, ptrdiff_t n),
           (v, a, x, n)) {
    for (ptrdiff_t i = 0; i < n; i++) {
        v[i] += a * x[i];
    }
}

DISPATCHED(void, noregret_add_two,
           (double *restrict v, double a, const double *restrict x, double b,
            const double *restrict y, ptrdiff_t n),
           (v, a, x, b, y, n)) {
    for (ptrdiff_t i = 0; i < n; i++) {
        v[i] = (v[i] + a * x[i]) + b * y[i];
    }
}

void noregret_add_sparse(double *restrict v, double a, const double *restrict x,
                         const int32_t *restrict at, ptrdiff_t n) {
    for (ptrdiff_t k = 0; k < n; k++) {
        v[at[k]] += a * x[k];
    }
}

static inline double pair(uint32_t first, uint32_t second) {
    const uint64_t both = first | (uint64_t)second << 32;
    double word;
    memcpy(&word, &both, sizeof word);
    return word;
}

/* Copy a run of columns; return how many of its numbers are zero. */
static DISPATCHED(ptrdiff_t, copied,
                  (double *restrict out, const double *restrict x, ptrdiff_t n),
                  (out, x, n)) {
    int64_t zeros = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        out[i] = x[i];
        zeros += x[i] == 0;
    }
    return zeros;
}

ptrdiff_t noregret_pack(double *out, const double *x, const int32_t *at, ptrdiff_t n, double y) {
    y += 0.0; /* minus zero is zero */
    if (at == NULL && n > 0 && copied(out + 3, x, n) == 0) {
        out[0] = pair(1, (uint32_t)n), out[1] = pair(0, (uint32_t)n), out[2] = y;
        return 3 + n;
    }
    uint32_t runs = 0, filled = 0, start = 0, end = 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        if (x[k] == 0) {
            continue;
        }
        const uint32_t i = at == NULL ? (uint32_t)k : (uint32_t)at[k];
        if (runs == 0 || i != end) {
            start = i;
            runs++;
        }
        end = i + 1;
        filled++;
        out[runs] = pair(start, end - start);
    }
    out[0] = pair(runs, filled), out[1 + runs] = y;
    double *values = out + 2 + runs;
    for (ptrdiff_t k = 0; k < n; k++) {
        *values = x[k];
        values += x[k] != 0;
    }
    return 2 + runs + filled;
}

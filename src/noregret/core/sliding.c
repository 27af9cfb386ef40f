#include "sliding.h"

#include <math.h>

#include "dispatch.h"

#define LANES 32

#ifdef WIDEST
#define CLONED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONED
#endif

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));
#define AT(x) (*(const eight *)(x))
#define PUT(x) (*(eight *)(x))
#else
#define INLINE static inline
#endif

/* Halves are added to halves, down to one. */
INLINE double total(double *lane) {
    for (int half = LANES / 2; half > 0; half /= 2) {
        for (int k = 0; k < half; k++) {
            lane[k] += lane[k + half];
        }
    }
    return lane[0];
}

CLONED
double noregret_slide(double *restrict w, double a, const double *p, const double *q, ptrdiff_t n) {
    double lane[LANES] = {0};
    ptrdiff_t i = 0;
#if defined(__GNUC__)
    eight s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (; i + LANES <= n; i += LANES) {
        const eight w0 = AT(w + i) + a * AT(p + i), w1 = AT(w + i + 8) + a * AT(p + i + 8);
        const eight w2 = AT(w + i + 16) + a * AT(p + i + 16), w3 = AT(w + i + 24) + a * AT(p + i + 24);
        PUT(w + i) = w0, PUT(w + i + 8) = w1, PUT(w + i + 16) = w2, PUT(w + i + 24) = w3;
        s0 += w0 * AT(q + i), s1 += w1 * AT(q + i + 8);
        s2 += w2 * AT(q + i + 16), s3 += w3 * AT(q + i + 24);
    }
    PUT(lane) = s0, PUT(lane + 8) = s1, PUT(lane + 16) = s2, PUT(lane + 24) = s3;
    for (; i + 8 <= n; i += 8) {
        const eight w0 = AT(w + i) + a * AT(p + i);
        PUT(w + i) = w0;
        PUT(lane + i % LANES) = AT(lane + i % LANES) + w0 * AT(q + i);
    }
#endif
    for (; i < n; i++) {
        w[i] += a * p[i];
        lane[i % LANES] += w[i] * q[i];
    }
    return total(lane);
}

CLONED
double noregret_tap(const double *w, const double *q, ptrdiff_t n) {
    double lane[LANES] = {0};
    ptrdiff_t i = 0;
#if defined(__GNUC__)
    eight s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (; i + LANES <= n; i += LANES) {
        s0 += AT(w + i) * AT(q + i), s1 += AT(w + i + 8) * AT(q + i + 8);
        s2 += AT(w + i + 16) * AT(q + i + 16), s3 += AT(w + i + 24) * AT(q + i + 24);
    }
    PUT(lane) = s0, PUT(lane + 8) = s1, PUT(lane + 16) = s2, PUT(lane + 24) = s3;
    for (; i + 8 <= n; i += 8) {
        PUT(lane + i % LANES) = AT(lane + i % LANES) + AT(w + i) * AT(q + i);
    }
#endif
    for (; i < n; i++) {
        lane[i % LANES] += w[i] * q[i];
    }
    return total(lane);
}

double noregret_peak(const double *w, ptrdiff_t n) {
    double most = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double size = fabs(w[i]);
        most = size <= most ? most : size; /* a NaN stays */
    }
    return most;
}

/* L D Lᵀ, with ones on the diagonal of L. */
void noregret_solve(double *m, double *e, ptrdiff_t k, double floor) {
    for (ptrdiff_t j = 0; j < k; j++) {
        double *row = m + j * k, pivot = row[j];
        for (ptrdiff_t i = 0; i < j; i++) {
            const double *above = m + i * k;
            double sum = row[i];
            for (ptrdiff_t l = 0; l < i; l++) {
                sum -= row[l] * above[l];
            }
            row[i] = sum; /* L D until the row is done */
        }
        for (ptrdiff_t i = 0; i < j; i++) {
            const double scaled = row[i] / m[i * k + i];
            pivot -= scaled * row[i];
            row[i] = scaled;
        }
        row[j] = pivot > floor ? pivot : floor;
        for (ptrdiff_t i = 0; i < j; i++) {
            e[j] -= row[i] * e[i];
        }
    }
    for (ptrdiff_t j = k - 1; j >= 0; j--) {
        e[j] /= m[j * k + j];
        for (ptrdiff_t i = j + 1; i < k; i++) {
            e[j] -= m[i * k + j] * e[i];
        }
    }
}

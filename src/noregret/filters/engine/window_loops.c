#include "window_loops.h"

#include "cpu_dispatch.h"

#define LANES 32

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));
#else
#define INLINE static inline
#endif

/* Halves are added to halves, down to one. */
INLINE double total(double *lane) {
    for (int k = 0; k < 16; k++) {
        lane[k] += lane[k + 16];
    }
    for (int k = 0; k < 8; k++) {
        lane[k] += lane[k + 8];
    }
    for (int k = 0; k < 4; k++) {
        lane[k] += lane[k + 4];
    }
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

#define WAY(name) plain_##name
#if defined(__GNUC__)
#define WIDE four
#define GROUP 4
#else
#define WIDE double
#define GROUP 1
#endif
#include "window_widths.h"

#ifdef WIDE_VECTORS /* the same with wider vectors, where the processor has them */
#define WAY(name) __attribute__((target("avx2"))) wide_##name
#define WIDE four
#define GROUP 4
#include "window_widths.h"

#define WAY(name) __attribute__((target("avx512f"))) widest_##name
#define WIDE eight
#define GROUP 8
#include "window_widths.h"

#define BEST(call)                                                                                 \
    (noregret_cpu == NOREGRET_AVX512 ? widest_##call                                               \
     : noregret_cpu == NOREGRET_AVX2 ? wide_##call                                                 \
                                     : plain_##call)
#else
#define BEST(call) plain_##call
#endif

double noregret_slide(double *w, double a, const double *p, const double *q, ptrdiff_t n) {
    return BEST(slide(w, a, p, q, n));
}

double noregret_tap(const double *w, const double *q, ptrdiff_t n) {
    return BEST(tap(w, q, n));
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

#include "memory_filters_loops.h"

#include <string.h>

#include "cpu_dispatch.h"

#define AT(p, i) (*(const lanes *)((p) + 4 * (i)))
#define TO(p, i) (*(lanes *)((p) + 4 * (i)))
#define ALL(a) ((lanes){(a), (a), (a), (a)})
/* One or two inputs at once, of all four filters each. */
#define TWO(p, i) (*(const pair *)((p) + 4 * (i)))
#define TWO_TO(p, i) (*(pair *)((p) + 4 * (i)))
#define INLINED static inline __attribute__((always_inline))

/* Least variance relative to its prior, so that a filter never stops learning. */
static const double LEAST = 1e-18;

#define NAMED(name) narrow_##name
#define STEP 1
#include "memory_filters_widths.h"

#ifdef WIDE_VECTORS /* vectors of four numbers, multiplied and added in one step */
#include <immintrin.h>
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define NAMED(name) wide_##name
#define LESSER(a, b) ((lanes)_mm256_min_pd((__m256d)(b), (__m256d)(a)))
#define GREATER(a, b) ((lanes)_mm256_max_pd((__m256d)(b), (__m256d)(a)))
#define STEP 1
#include "memory_filters_widths.h"
#pragma GCC pop_options

#pragma GCC push_options /* or of eight */
#pragma GCC target("avx512f,avx512dq,avx512vl,fma")
#define NAMED(name) widest_##name
#define LESSER(a, b) ((lanes)_mm256_min_pd((__m256d)(b), (__m256d)(a)))
#define GREATER(a, b) ((lanes)_mm256_max_pd((__m256d)(b), (__m256d)(a)))
#define STEP 2
#include "memory_filters_widths.h"
#pragma GCC pop_options

#define BEST(call)                                                                                 \
    (noregret_cpu == NOREGRET_AVX512 ? widest_##call                                               \
     : noregret_cpu == NOREGRET_AVX2 ? wide_##call                                                 \
                                     : narrow_##call)
#else
#define BEST(call) narrow_##call
#endif

void noregret_filters_score(const double *w, const double *x, ptrdiff_t n, int sets, double *out) {
    BEST(score(w, x, n, sets, out));
}

void noregret_filters_project(const double *U, const double *D, const double *x, ptrdiff_t n,
                              double *f, double *v, double *z) {
    BEST(project(U, D, x, n, f, v, z));
}

int noregret_filters_learn(double *U, double *D, const double *x, ptrdiff_t stride, int rows,
                           const double *prior, const double *most, const double *forget,
                           const double *r, double *k, ptrdiff_t n) {
    return BEST(learn(U, D, x, stride, rows, prior, most, forget, r, k, n));
}

void noregret_filters_step(double *w, const double *k, const double *e, ptrdiff_t n, int sets) {
    BEST(step(w, k, e, n, sets));
}

void noregret_filters_raise(double *U, double *D, ptrdiff_t j, const double *more, double mean,
                            double *scratch) {
    BEST(raise(U, D, j, more, mean, scratch));
}

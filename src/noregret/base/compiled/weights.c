#include "weights.h"

#include <math.h>
#include <stdint.h>

#include "cpu_dispatch.h"

#define LANES 8
#define INLINED static inline __attribute__((always_inline))

static const double ones[LANES] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};

#define NAMED(name) plain_##name
#define WIDTH 4
#include "weights_loops.h"

#ifdef WIDE_VECTORS
#include <immintrin.h>
#pragma GCC push_options
#pragma GCC target("avx2")
/* From the address of the first: as many true as are left, then false. */
static const int64_t marks[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
#define MARKED(h, left) _mm256_loadu_si256((const __m256i *)(marks + LANES - (left) + 4 * (h)))
#define SOME(x, h, left, value)                                                                     \
    ((lanes)_mm256_blendv_pd(_mm256_set1_pd(value), _mm256_maskload_pd((x) + 4 * (h), MARKED(h, left)), \
                             _mm256_castsi256_pd(MARKED(h, left))))
#define PUT_SOME(x, h, left, v) _mm256_maskstore_pd((x) + 4 * (h), MARKED(h, left), (__m256d)(v))
#define NAMED(name) wide_##name
#define WIDTH 4
#include "weights_loops.h"
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,fma")
#define LESSER(a, b) ((lanes)_mm512_min_pd((__m512d)(b), (__m512d)(a)))
#define ATLEAST(x, least) ((lanes)_mm512_max_pd((__m512d)(x), _mm512_set1_pd(least)))
#define ROUNDED(x) ((lanes)_mm512_roundscale_pd((__m512d)(x), 8))
#define POWER(k) ((lanes)_mm512_scalef_pd(_mm512_set1_pd(1.0), (__m512d)(k)))
#define UNLESS_BELOW(x, least, value)                                                               \
    ((lanes)_mm512_maskz_mov_pd(                                                                    \
        _mm512_cmp_pd_mask((__m512d)(x), _mm512_set1_pd(least), _CMP_GE_OQ), (__m512d)(value)))
#define SOME(x, h, left, value)                                                                     \
    ((lanes)_mm512_mask_loadu_pd(_mm512_set1_pd(value), (__mmask8)((1u << (left)) - 1), x))
#define PUT_SOME(x, h, left, v) _mm512_mask_storeu_pd(x, (__mmask8)((1u << (left)) - 1), (__m512d)(v))
#define NAMED(name) widest_##name
#define WIDTH 8
#include "weights_loops.h"
#pragma GCC pop_options

#define UP_TO_AVX2(call) (noregret_cpu >= NOREGRET_AVX2 ? wide_##call : plain_##call)
#define BEST(call) (noregret_cpu == NOREGRET_AVX512 ? widest_##call : UP_TO_AVX2(call))
#else
#define UP_TO_AVX2(call) plain_##call
#define BEST(call) plain_##call
#endif

noregret_survey noregret_scaled_survey(double *p, double scale, const double *x, ptrdiff_t n) {
    return BEST(scaled_survey(p, scale, x, n));
}

noregret_survey noregret_survey_of(const double *p, const double *x, ptrdiff_t n) {
    return BEST(survey_of(p, x, n));
}

double noregret_decayed(const double *v, double rate, const double *x, double low, double *out,
                        ptrdiff_t n) {
    return BEST(decayed(v, rate, x, low, out, n));
}

double noregret_lost(const double *v, double rate, const double *x, double low, double *mean,
                     ptrdiff_t n) {
    return BEST(lost(v, rate, x, low, mean, n));
}

double noregret_tracked(const double *v, double rate, const double *x, double low, double *out,
                        double *mean, ptrdiff_t n) {
    return BEST(tracked(v, rate, x, low, out, mean, n));
}

void noregret_shared(const double *p, double stays, double share, const double *prior, double *held,
                     ptrdiff_t n) {
    BEST(shared(p, stays, share, prior, held, n));
}

double noregret_lag(double *gap, const double *x, double low, double before, double most,
                    ptrdiff_t n) {
    return BEST(lag(gap, x, low, before, most, n));
}

double noregret_advance(double *gap, const double *x, double low, double before, double most,
                        double rate, double *out, double *smallest, ptrdiff_t n) {
    return BEST(advance(gap, x, low, before, most, rate, out, smallest, n));
}

double noregret_leaning(const double *prior, const double *regret, double unit,
                        const double *squares, double *out, ptrdiff_t n) {
    return BEST(leaning(prior, regret, unit, squares, out, n));
}

double noregret_regretted(double *regret, double *squares, const double *prior, const double *x,
                          double own, double unit, double factor, ptrdiff_t n) {
    return BEST(regretted(regret, squares, prior, x, own, unit, factor, n));
}

double noregret_total(const double *x, ptrdiff_t n) { return BEST(total(x, n)); }

double noregret_dot(const double *p, const double *x, ptrdiff_t n) { return BEST(dot(p, x, n)); }

void noregret_extent(const double *x, double *low, double *high, ptrdiff_t n) {
    BEST(extent(x, low, high, n));
}

void noregret_squared(const double *x, double y, double scale, double *out, ptrdiff_t n) {
    BEST(squared(x, y, scale, out, n));
}

void noregret_multiples(const double *x, double scale, double *out, ptrdiff_t n) {
    BEST(scaled(x, scale, out, n));
}

double noregret_exp(double x) {
    double out;
    const double one = 1.0;
    return UP_TO_AVX2(decayed(&one, 1.0, &(double){-x}, 0.0, &out, 1));
}

void noregret_fetch(const double *x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        __builtin_prefetch(x + i, 0, 2);
    }
}

DISPATCHED(void, noregret_excess,
           (double *restrict total, const double *restrict x, double paid, ptrdiff_t n),
           (total, x, paid, n)) {
    for (ptrdiff_t i = 0; i < n; i++) {
        total[i] += x[i] - paid;
    }
}

DISPATCHED(void, noregret_multiply,
           (double *x, double a, ptrdiff_t n),
           (x, a, n)) {
    for (ptrdiff_t i = 0; i < n; i++) {
        x[i] *= a;
    }
}

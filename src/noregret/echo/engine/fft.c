/* Stockham's order: each stage reads in steps and writes in order, so nothing is sorted at the end;
   its innermost loop runs over neighbours, the lanes first of all. Real numbers go two by two
   through a complex transform of half the length. */
#include "fft.h"

#include <math.h>
#include <stdlib.h>

#include "cpu_dispatch.h"

#define STAGES 32
#define PI 3.14159265358979323846

struct noregret_fourier {
    ptrdiff_t half;           /* complex numbers of a transform */
    int stages;
    ptrdiff_t radix[STAGES];
    float *turns[STAGES];     /* of a stage: cosines and sines by position and term */
    float *roots[STAGES];     /* the turns of a stage's radix */
    float *whole;             /* cosines and sines of half a turn, for the real numbers */
    float *work;              /* two complex arrays */
    float *memory;
};

static int factors(ptrdiff_t n, ptrdiff_t *radix) {
    static const ptrdiff_t liked[] = {4, 5, 3, 2};
    int count = 0;
    for (int k = 0; k < 4; k++) {
        for (; n % liked[k] == 0; n /= liked[k]) {
            radix[count++] = liked[k];
        }
    }
    for (ptrdiff_t r = 7; n > 1; r += 2) {
        for (; n % r == 0; n /= r) {
            radix[count++] = r;
        }
    }
    return count;
}

static float *filled(float *at, ptrdiff_t m, ptrdiff_t r) {
    for (ptrdiff_t p = 0; p < m; p++) {
        for (ptrdiff_t j = 0; j < r; j++) {
            double angle = -2 * PI * (double)(p * j % (r * m)) / (double)(r * m);
            *at++ = (float)cos(angle);
            *at++ = (float)sin(angle);
        }
    }
    return at;
}

noregret_fourier *noregret_fourier_new(ptrdiff_t n, ptrdiff_t lanes) {
    noregret_fourier *plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        return NULL;
    }
    ptrdiff_t half = plan->half = n / 2, need = 2 * (half + 1) + 4 * (half + 1) * lanes;
    plan->stages = factors(half, plan->radix);
    for (ptrdiff_t k = 0, left = half; k < plan->stages; left /= plan->radix[k++]) {
        need += 2 * left + 2 * plan->radix[k];
    }
    float *at = plan->memory = calloc((size_t)need, sizeof(float));
    if (at == NULL) {
        free(plan);
        return NULL;
    }
    for (ptrdiff_t k = 0, left = half; k < plan->stages; k++) {
        ptrdiff_t r = plan->radix[k];
        left /= r;
        plan->turns[k] = at;
        at = filled(at, left, r);
        plan->roots[k] = at;
        for (ptrdiff_t j = 0; j < r; j++) {
            *at++ = (float)cos(-2 * PI * (double)j / (double)r);
            *at++ = (float)sin(-2 * PI * (double)j / (double)r);
        }
    }
    plan->whole = at;
    for (ptrdiff_t k = 0; k <= half; k++) {
        *at++ = (float)cos(PI * (double)k / (double)half);
        *at++ = (float)sin(PI * (double)k / (double)half);
    }
    plan->work = at;
    return plan;
}

void noregret_fourier_free(noregret_fourier *plan) {
    if (plan != NULL) {
        free(plan->memory);
        free(plan);
    }
}

#define SIN3 0.866025403784438647f
#define COS5 0.309016994374947424f
#define COS10 -0.809016994374947424f
#define SIN5 0.951056516295153572f
#define SIN10 0.587785252292473129f

typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));

#define NAMED(name) plain_##name
#include "fft_loops.h"
#undef NAMED

#ifdef WIDE_VECTORS
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define NAMED(name) wide_##name
#include "fft_loops.h"
#undef NAMED
#pragma GCC pop_options

#define BEST(call) (noregret_cpu >= NOREGRET_AVX2 ? wide_##call : plain_##call)
#else
#define BEST(call) plain_##call
#endif

void noregret_fourier_forward(noregret_fourier *plan, const float *x, float *re, float *im,
                              ptrdiff_t lanes) {
    ptrdiff_t half = plan->half, size = half * lanes;
    float *zr = plan->work, *zi = zr + size, *yr = zi + size, *yi = yr + size;
    for (ptrdiff_t k = 0; k < half; k++) {
        for (ptrdiff_t l = 0; l < lanes; l++) {
            zr[k * lanes + l] = x[2 * k * lanes + l];
            zi[k * lanes + l] = x[(2 * k + 1) * lanes + l];
        }
    }
    int swapped = BEST(transform(plan, zr, zi, yr, yi, lanes));
    BEST(unpacked(swapped ? yr : zr, swapped ? yi : zi, plan->whole, re, im, half, lanes));
}

void noregret_fourier_inverse(noregret_fourier *plan, const float *re, const float *im, float *x,
                              ptrdiff_t lanes) {
    ptrdiff_t half = plan->half, size = half * lanes;
    float *zr = plan->work, *zi = zr + size, *yr = zi + size, *yi = yr + size;
    BEST(packed(re, im, plan->whole, zr, zi, half, lanes));
    int swapped = BEST(transform(plan, zr, zi, yr, yi, lanes));
    const float *fr = swapped ? yr : zr, *fi = swapped ? yi : zi;
    float scale = 1.0f / (float)half;
    for (ptrdiff_t k = 0; k < half; k++) {
        for (ptrdiff_t l = 0; l < lanes; l++) {
            x[2 * k * lanes + l] = scale * fr[k * lanes + l];
            x[(2 * k + 1) * lanes + l] = -scale * fi[k * lanes + l];
        }
    }
}

/* The loops of a transform, included once for every machine and once for vectors of eight. */

#define STAGED(name) NAMED(name##_by_one)
#define NUMBER float
#include "fft_stages.h"
#undef STAGED
#undef NUMBER
#define STAGED(name) NAMED(name##_by_eight)
#define NUMBER eight
#include "fft_stages.h"
#undef STAGED
#undef NUMBER

#define STAGE(by)                                                                                  \
    switch (r) {                                                                                   \
    case 2: NAMED(two_##by)(ar, ai, br, bi, w, gap, s); break;                                            \
    case 3: NAMED(three_##by)(ar, ai, br, bi, w, gap, s); break;                                          \
    case 4: NAMED(four_##by)(ar, ai, br, bi, w, gap, s); break;                                           \
    case 5: NAMED(five_##by)(ar, ai, br, bi, w, gap, s); break;                                           \
    default: NAMED(any_##by)(ar, ai, br, bi, w, gap, s, r, plan->roots[k]);                               \
    }

/* All stages, from one pair of arrays to the other and back; returns which one has the result. */
static int NAMED(transform)(const noregret_fourier *plan, float *xr, float *xi, float *yr,
                             float *yi, ptrdiff_t lanes) {
    ptrdiff_t s = lanes, left = plan->half;
    for (int k = 0; k < plan->stages; k++) {
        ptrdiff_t r = plan->radix[k], m = left / r, gap = s * m;
        const float *w = plan->turns[k];
        for (ptrdiff_t p = 0; p < m; p++, w += 2 * r) {
            const float *ar = xr + s * p, *ai = xi + s * p;
            float *br = yr + s * r * p, *bi = yi + s * r * p;
            if (s % 8 == 0) {
                STAGE(by_eight)
            } else {
                STAGE(by_one)
            }
        }
        float *tr = xr, *ti = xi;
        xr = yr, xi = yi, yr = tr, yi = ti;
        s *= r;
        left = m;
    }
    return plan->stages % 2;
}

static void NAMED(unpacked)(const float *restrict zr, const float *restrict zi,
                             const float *whole, float *restrict re, float *restrict im,
                             ptrdiff_t half, ptrdiff_t lanes) {
    for (ptrdiff_t k = 0; k <= half; k++) {
        ptrdiff_t a = k == half ? 0 : k, b = k == 0 ? 0 : half - k;
        float c = whole[2 * k], d = whole[2 * k + 1];
        for (ptrdiff_t l = 0; l < lanes; l++) {
            float sr = zr[a * lanes + l] + zr[b * lanes + l], si = zi[a * lanes + l] - zi[b * lanes + l];
            float dr = zr[a * lanes + l] - zr[b * lanes + l], di = zi[a * lanes + l] + zi[b * lanes + l];
            re[k * lanes + l] = 0.5f * (sr + c * di - d * dr);
            im[k * lanes + l] = 0.5f * (si - c * dr - d * di);
        }
    }
}

static void NAMED(packed)(const float *restrict re, const float *restrict im, const float *whole,
                           float *restrict zr, float *restrict zi, ptrdiff_t half,
                           ptrdiff_t lanes) {
    for (ptrdiff_t k = 0; k < half; k++) {
        float c = whole[2 * k], d = whole[2 * k + 1];
        for (ptrdiff_t l = 0; l < lanes; l++) {
            ptrdiff_t a = k * lanes + l, b = (half - k) * lanes + l;
            float sr = re[a] + re[b], si = im[a] - im[b], dr = re[a] - re[b], di = im[a] + im[b];
            zr[a] = 0.5f * (sr - d * dr - c * di);
            zi[a] = -0.5f * (si + c * dr - d * di); /* conjugate, so that one transform serves both */
        }
    }
}

#undef STAGE

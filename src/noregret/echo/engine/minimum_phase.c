/* With h = exp(c):  h' = c' h,  so that  k h[k] = sum of  j c[j] h[k - j]  over j from 1 to k. */
#include "minimum_phase.h"

#include <math.h>

#include "cpu_dispatch.h"

#define LANES 16

static FUSED(float, dot,
             (const float *restrict a, const float *restrict b, ptrdiff_t n),
             (a, b, n)) {
    float sums[LANES] = {0}, sum = 0;
    ptrdiff_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        for (ptrdiff_t l = 0; l < LANES; l++) {
            sums[l] += a[k + l] * b[k + l];
        }
    }
    for (; k < n; k++) {
        sum += a[k] * b[k];
    }
    for (ptrdiff_t l = 0; l < LANES; l++) {
        sum += sums[l];
    }
    return sum;
}

void noregret_exponential(const float *c, float *out, float *work, ptrdiff_t n) {
    float *slope = work, *backwards = work + n; /* j c[j], and h from its last term to its first */
    for (ptrdiff_t j = 1; j < n; j++) {
        slope[j] = (float)j * c[j];
    }
    out[0] = backwards[n - 1] = expf(c[0]);
    for (ptrdiff_t k = 1; k < n; k++) {
        out[k] = backwards[n - 1 - k] = dot(slope + 1, backwards + n - k, k) / (float)k;
    }
}

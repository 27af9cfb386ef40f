#include "delay_loops.h"

#include "cpu_dispatch.h"

static FUSED(void, follow,
             (ptrdiff_t n, float *restrict cr, float *restrict ci, const float *restrict ur,
              const float *restrict ui, const float *restrict vr, const float *restrict vi,
              float keep),
             (n, cr, ci, ur, ui, vr, vi, keep)) {
    float take = 1 - keep;
    for (ptrdiff_t k = 0; k < n; k++) {
        cr[k] = keep * cr[k] + take * (ur[k] * vr[k] + ui[k] * vi[k]);
        ci[k] = keep * ci[k] + take * (ur[k] * vi[k] - ui[k] * vr[k]);
    }
}

void noregret_delay_learn(float *likeness_re, float *likeness_im, const float *frames_re,
                          const float *frames_im, ptrdiff_t newest, ptrdiff_t lags, ptrdiff_t terms,
                          const float *mic_re, const float *mic_im, float keep) {
    for (ptrdiff_t lag = 0; lag < lags; lag++) {
        ptrdiff_t slot = (newest + lag) % lags;
        follow(terms, likeness_re + lag * terms, likeness_im + lag * terms, frames_re + slot * terms,
               frames_im + slot * terms, mic_re, mic_im, keep);
    }
}

void noregret_delay_scores(const float *likeness_re, const float *likeness_im, ptrdiff_t lags,
                           ptrdiff_t terms, float *scores) {
    for (ptrdiff_t lag = 0; lag < lags; lag++) {
        const float *re = likeness_re + lag * terms, *im = likeness_im + lag * terms;
        float sum = 0;
        for (ptrdiff_t k = 0; k < terms; k++) {
            sum += re[k] * re[k] + im[k] * im[k];
        }
        scores[lag] = sum / (float)terms;
    }
}

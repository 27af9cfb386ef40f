/* The delay of an echo: how well earlier frames of the far end correlate with the microphone. */
#ifndef NOREGRET_ECHO_DELAY_H
#define NOREGRET_ECHO_DELAY_H

#include <stddef.h>

/* Adds one frame of each to the average `likeness` (lags x terms, real then imaginary), of which
   the share `keep` is kept. `frames` are those of the far end by slots, scaled to their usual size;
   `mic` has only phases. */
void noregret_delay_learn(float *likeness_re, float *likeness_im, const float *frames_re,
                          const float *frames_im, ptrdiff_t newest, ptrdiff_t lags, ptrdiff_t terms,
                          const float *mic_re, const float *mic_im, float keep);

/* The mean square likeness of every lag. */
void noregret_delay_scores(const float *likeness_re, const float *likeness_im, ptrdiff_t lags,
                           ptrdiff_t terms, float *scores);

#endif

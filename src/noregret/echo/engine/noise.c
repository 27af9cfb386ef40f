/* The noise is averaged while the power is near its minimum over time (Cohen and Berdugo, 2002);
   gains are those of the least square error of log spectra (Ephraim and Malah, 1985). */
#include "noise.h"

#include <math.h>

#define TINY 1e-30f
#define LEFT 3 /* what is left of noise, relative to the least gain: peaks get more than that */

void noregret_noise_learn(noregret_noise *noise, const float *power) {
    ptrdiff_t last = noise->bins - 1;
    int first = noise->count == 0, renew = ++noise->count % noise->window == 0;
    for (ptrdiff_t k = 0; k <= last; k++) {
        float now = 0.5f * power[k] + 0.25f * (power[k ? k - 1 : 1] + power[k < last ? k + 1 : last - 1]);
        float mean = first ? now : noise->smooth * noise->mean[k] + (1 - noise->smooth) * now;
        noise->mean[k] = mean + TINY;
        noise->lowest[k] = first || mean < noise->lowest[k] ? mean : noise->lowest[k];
        noise->next[k] = first || mean < noise->next[k] ? mean : noise->next[k];
        if (renew) {
            noise->lowest[k] = mean < noise->next[k] ? mean : noise->next[k];
            noise->next[k] = mean;
        }
        float speech = mean > noise->factor * noise->lowest[k];
        noise->presence[k] = noise->forget * noise->presence[k] + (1 - noise->forget) * speech;
        noise->power[k] += (1 - noise->settle) * (1 - noise->presence[k]) * (power[k] - noise->power[k]);
    }
}

/* exp of half the exponential integral, which is above 0. */
static float lifted(float v) {
    if (v > 1) {
        return expf(0.5f * powf(10, -0.52f * v - 0.26f));
    }
    float ten = log10f(v > 1e-4f ? v : 1e-4f);
    return expf(0.5f * (v < 0.1f ? -2.31f * ten - 0.6f : -1.544f * ten + 0.166f));
}

void noregret_noise_reduce(noregret_noise *noise, const float *power, float *gain) {
    for (ptrdiff_t k = 0; k < noise->bins; k++) {
        float now = power[k] / (noise->power[k] + TINY), excess = now > 1 ? now - 1 : 0;
        float ratio = noise->keep * noise->speech[k] / (noise->power[k] + TINY) + (1 - noise->keep) * excess;
        float wiener = ratio / (1 + ratio), part = wiener * lifted(wiener * now);
        part = part < 1 ? (part > noise->least ? part : noise->least) : 1;
        noise->speech[k] = part * part * power[k];
        gain[k] *= part;
    }
}

static float drawn(uint32_t *seed) { /* from -1 to 1: a linear congruence */
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(*seed >> 8) / 8388608.0f - 1;
}

void noregret_noise_comfort(noregret_noise *noise, const float *gain, float *re, float *im) {
    for (ptrdiff_t k = 0; k < noise->bins; k++) {
        float lacking = LEFT * noise->least * noise->least * noise->power[k] * (1 - gain[k] * gain[k]);
        /* From a power under Hann's window to that of frames that overlap by half: 8/3; and 3/2, as the
           mean square of what is drawn is 1/3. */
        float size = lacking > 0 ? 2 * sqrtf(lacking) : 0;
        re[k] = size * drawn(&noise->seed);
        im[k] = size * drawn(&noise->seed);
    }
    im[0] = im[noise->bins - 1] = 0;
}

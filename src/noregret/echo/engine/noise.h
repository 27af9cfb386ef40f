#ifndef NOREGRET_ECHO_NOISE_H
#define NOREGRET_ECHO_NOISE_H

#include <stddef.h>
#include <stdint.h>

/* Stationary noise per bin: its power, and gains that reduce it to a share. */
typedef struct noregret_noise {
    ptrdiff_t bins, window, count;      /* frames until the minimum is renewed, and so far */
    float smooth, forget, settle, keep; /* shares kept per frame: powers, presence, noise, speech */
    float factor, least;                /* of speech: a power relative to the minimum; least gain */
    uint32_t seed;
    float *mean, *lowest, *next, *presence, *power, *speech;
} noregret_noise;

/* Learns of the powers of the next frame. */
void noregret_noise_learn(noregret_noise *noise, const float *power);

/* Multiplies gains by those that reduce noise. */
void noregret_noise_reduce(noregret_noise *noise, const float *power, float *gain);

/* Returns the spectrum of as much of the reduced noise as other gains take away. */
void noregret_noise_comfort(noregret_noise *noise, const float *gain, float *re, float *im);

#endif

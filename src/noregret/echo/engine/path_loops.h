/* The path of an echo, learned per frequency, a block of samples at a time. */
#ifndef NOREGRET_ECHO_PATH_H
#define NOREGRET_ECHO_PATH_H

#include <stddef.h>

/* A path is cut into parts of one block each. Part p of channel c weighs the frame of that channel
   that came p blocks after the shortest delay. All arrays hold rows of `width` numbers, the terms of
   a transform and zeros up to a multiple of eight. */
typedef struct {
    ptrdiff_t width, parts, channels, slots; /* slots: frames remembered of a channel */
    ptrdiff_t newest, delay;                 /* slot of the newest frame; blocks before the first part */
    float *far_re, *far_im;                  /* channels x slots x width */
    float *re, *im, *doubt;                  /* channels x parts x width: weights, their variances */
    float *size;                             /* channels x parts: mean square of the weights */
} noregret_path;

typedef struct {
    float keep;    /* A^2: how much of the path stays from block to block */
    float share;   /* of a frame's energy that a block of it shows */
    float least;   /* least part of the mean square of a part's weights that may change */
    float most;    /* largest variance */
} noregret_pace;

/* The echo's transform, and the error energy expected from the variance of the weights. */
void noregret_path_predict(const noregret_path *path, float *echo_re, float *echo_im,
                           float *explained);

/* Kalman's step for an error; `inverse` is 1 / (share * explained + noise) by term. */
void noregret_path_learn(const noregret_path *path, const noregret_pace *pace, const float *error_re,
                         const float *error_im, const float *inverse);

#endif

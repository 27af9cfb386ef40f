/* A small recurrent network: a dense layer, a gated recurrent unit, a dense layer. */
#ifndef NOREGRET_ECHO_POSTFILTER_H
#define NOREGRET_ECHO_POSTFILTER_H

#include <stddef.h>

/* In `weights`, one after the other, each with its constants as the last row:
     inputs x hidden          tanh
     hidden x 3 hidden        update, reset and candidate, of the first layer's output
     hidden x 3 hidden        the same, of the state
     hidden x outputs         logistic */
typedef struct {
    ptrdiff_t inputs, hidden, outputs;
    const float *weights;
    float *state; /* hidden */
    float *work;  /* 7 hidden */
} noregret_postfilter;

ptrdiff_t noregret_postfilter_weights(ptrdiff_t inputs, ptrdiff_t hidden, ptrdiff_t outputs);

/* Learns of the next x and returns y, each number from 0 to 1. */
void noregret_postfilter_step(const noregret_postfilter *net, const float *x, float *y);

#endif

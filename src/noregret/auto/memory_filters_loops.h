/* Four recursive filters side by side, on the same inputs: one load of an input serves all four.

   Each keeps the covariance of its weights as U D U', U unit upper triangular and D positive, so that
   it stays symmetric and positive definite under rounding. Columns of U, without their
   diagonal, lie one behind the other, filled up to an even number of inputs, so that vectors of two
   inputs never straddle cache lines; every number lies next to the same number of the other three. */
#ifndef NOREGRET_FILTERS_H
#define NOREGRET_FILTERS_H

#include <stddef.h>

enum {
    NOREGRET_FILTERS = 4,
    NOREGRET_MAX_INPUTS = 257,    /* 256 features and the constant input */
    NOREGRET_MAX_QUEUED_ROWS = 4 /* rows learned at a time */
};

/* out = w . x, for one or three sets of weights, one behind the other */
void noregret_filters_score(const double *w, const double *x, ptrdiff_t n, int sets, double *out);

/* f = U'x, v = D f, and z = x'UDU'x */
void noregret_filters_project(const double *U, const double *D, const double *x, ptrdiff_t n,
                              double *f, double *v, double *z);

/* Updates the covariance by rows of x, `stride` apart, in order, with a weight r each: the share
   `forget` of the past is kept per row, with variances up to `most` times the prior of an input. Fills
   in the gains k, n per row and one more if n is odd: weights move by k times the error. Returns whether the gains are finite. */
int noregret_filters_learn(double *U, double *D, const double *x, ptrdiff_t stride, int rows,
                           const double *prior, const double *most, const double *forget,
                           const double *r, double *k, ptrdiff_t n);

/* w += k e, for one or three sets */
void noregret_filters_step(double *w, const double *k, const double *e, ptrdiff_t n, int sets);

/* Adds `more` to the variance of the weight of input j, not the constant one, whose weight compensates
   for it at the mean of the input. */
void noregret_filters_raise(double *U, double *D, ptrdiff_t j, const double *more, double mean,
                            double *scratch);

#endif

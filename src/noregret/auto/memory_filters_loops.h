/* Four recursive filters side by side, on the same inputs: one load of an input serves all four.

   Each keeps the covariance of its weights as U D U', U unit upper triangular and D positive, so that
   it is symmetric and positive definite whatever is rounded. Column j of U, without its diagonal, is
   at U + 4 j (j - 1) / 2; every number stands next to the same number of the other three filters. */
#ifndef NOREGRET_FILTERS_H
#define NOREGRET_FILTERS_H

#include <stddef.h>

enum {
    NOREGRET_FILTERS = 4,
    NOREGRET_MAX_INPUTS = 257,    /* 256 features and the constant input */
    NOREGRET_MAX_QUEUED_ROWS = 4 /* learned from at a time */
};

/* out = w . x, for one or three sets of weights, one behind the other */
void noregret_filters_score(const double *w, const double *x, ptrdiff_t n, int sets, double *out);

/* f = U'x, v = D f, and z = x'UDU'x */
void noregret_filters_project(const double *U, const double *D, const double *x, ptrdiff_t n,
                              double *f, double *v, double *z);

/* Some rows of x, `stride` apart, one after the other, with a weight r each: the covariance follows,
   all but the fraction `forget` of what was known before each row being dropped, and never beyond
   `most` times the prior of an input. k becomes the gains, n of them for every row: the weights are to
   move by k times the error. Returns whether the gains are numbers. */
int noregret_filters_learn(double *U, double *D, const double *x, ptrdiff_t stride, int rows,
                           const double *prior, const double *most, const double *forget,
                           const double *r, double *k, ptrdiff_t n);

/* w += k e, for one or three sets */
void noregret_filters_step(double *w, const double *k, const double *e, ptrdiff_t n, int sets);

/* Adds `more` to the variance of the weight of input j, which is not the constant one; that one's
   weight makes up for it where the input is at its mean. */
void noregret_filters_raise(double *U, double *D, ptrdiff_t j, const double *more, double mean,
                            double *scratch);

#endif

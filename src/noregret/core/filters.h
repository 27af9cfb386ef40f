/* Four recursive filters side by side, on the same inputs: one load of an input serves all four.

   Each keeps the covariance of its weights as U D U', U unit upper triangular and D positive, so that
   it is symmetric and positive definite whatever is rounded. Column j of U, without its diagonal, is
   at U + 4 j (j - 1) / 2; every number stands next to the same number of the other three filters. */
#ifndef NOREGRET_FILTERS_H
#define NOREGRET_FILTERS_H

#include <stddef.h>

enum { NOREGRET_FILTERS = 4 };

/* out = w . x */
void noregret_filters_score(const double *w, const double *x, ptrdiff_t n, double *out);

/* f = U'x, v = D f, and z = x'UDU'x */
void noregret_filters_project(const double *U, const double *D, const double *x, ptrdiff_t n,
                              double *f, double *v, double *z);

/* One observation of weight r: the covariance follows, all but the fraction `forget` of what was known
   before being dropped, never beyond `most` times the prior of each input; k becomes the gain, so that
   the weights are to move by k times the error. */
void noregret_filters_update(double *U, double *D, const double *f, const double *v,
                             const double *prior, const double *most, const double *forget,
                             const double *r, double *k, ptrdiff_t n);

/* w += k e */
void noregret_filters_step(double *w, const double *k, const double *e, ptrdiff_t n);

/* Adds `more` to the variance of input j. */
void noregret_filters_raise(double *U, double *D, ptrdiff_t j, const double *more, double *scratch);

#endif

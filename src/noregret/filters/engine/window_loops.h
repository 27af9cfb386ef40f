/* The passes over memory of a filter whose window moves by one sample at a time.

   Sums run in 32 lanes, lane = position mod 32, added up in one fixed order: machines with
   different vector units give the same bits. */
#ifndef NOREGRET_SLIDING_H
#define NOREGRET_SLIDING_H

#include <stddef.h>

/* w += a p, then w . q, in one pass. */
double noregret_slide(double *w, double a, const double *p, const double *q, ptrdiff_t n);

/* w . q, the same sum. */
double noregret_tap(const double *w, const double *q, ptrdiff_t n);

/* Solves M g = e for a symmetric matrix of k rows, of which the lower half is read and overwritten;
   a pivot below the floor counts as the floor. e becomes g. */
void noregret_solve(double *m, double *e, ptrdiff_t k, double floor);

#endif

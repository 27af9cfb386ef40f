/* A triangular factor that rows are rotated into: least squares, row by row. */
#ifndef NOREGRET_ROTATIONS_H
#define NOREGRET_ROTATIONS_H

#include <stddef.h>

/* Find the weights that the factor (d by d, upper triangle by rows) turns into what is given. */
void noregret_solve(const double *factor, const double *given, double *weights, ptrdiff_t d);

/* Take a row into the factor, and its outcome into what is given; the row is used up. */
void noregret_rotate(double *factor, double *given, double *row, double outcome, ptrdiff_t d);

#endif

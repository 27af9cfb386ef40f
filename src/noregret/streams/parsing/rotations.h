/* A triangular factor that rows are rotated into: least squares, row by row. */
#ifndef NOREGRET_ROTATIONS_H
#define NOREGRET_ROTATIONS_H

#include <stddef.h>

/* Rows of the factor are this many numbers apart, or twice that, and so on. */
#define NOREGRET_LANES 4

/* Return what least squares say of a row: its product with the weights that the factor turns into
   what is given. The factor has d rows, `stride` numbers apart, of which those from the diagonal on
   count. The row has `stride` numbers, zeros after the first d, and is used up. */
double noregret_forecast(const double *factor, const double *given, double *row, ptrdiff_t d,
                         ptrdiff_t stride);

/* Return the same, and take the row into the factor and its outcome into what is given. */
double noregret_rotate(double *factor, double *given, double *row, double outcome, ptrdiff_t d,
                       ptrdiff_t stride);

#endif

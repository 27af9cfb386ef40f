/* Sums of outer products, for least squares over many rows. */
#ifndef NOREGRET_GRAM_H
#define NOREGRET_GRAM_H

#include <stddef.h>

/* Add the sum over r of x_r x_r' to gram, an n by n matrix in row-major order. Row x_r is the n
   doubles at rows + r stride, stride >= n; nothing after the last row is read. Only the elements
   (i, j) with j >= i are valid; those below the diagonal may or may not be written.

   Every element is summed over chunks of 64 rows, and the chunks are added to gram in order. Some
   machines fuse products with sums, so the last bits may differ between machines; after one call
   that starts from zero, each element (i, j) is within (count / 64 + 66) 2^-53 sum |x_i x_j| of the
   exact one, to first order. */
void noregret_gram(const double *rows, ptrdiff_t stride, ptrdiff_t count, ptrdiff_t n, double *gram);

#endif

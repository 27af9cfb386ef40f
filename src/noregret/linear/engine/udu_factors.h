/* Symmetric positive matrices as P = U D Uᵀ: U unit upper triangular, D positive.

   U is packed by columns without its ones: column j holds j numbers and starts at j(j−1)/2, so that
   another feature is another column at the end. Sums run in an order that depends on positions
   alone: a row gives the same bits dense and sparse. */
#ifndef NOREGRET_FACTORS_H
#define NOREGRET_FACTORS_H

#include <stddef.h>
#include <stdint.h>

/* f = Uᵀ x. */
void noregret_through(const double *u, const double *x, ptrdiff_t n, double *f);

/* xᵀ P x, without room of its own; a dense row has as many numbers as there are features. */
double noregret_quadratic_dense(const double *u, const double *d, const double *x, ptrdiff_t n);
double noregret_quadratic_sparse(const double *u, const double *d, const double *x, const int32_t *at,
                                 ptrdiff_t count, ptrdiff_t n);

/* Σ d_i x_i². */
double noregret_weighted_square(const double *d, const double *x, const int32_t *at, ptrdiff_t count);

/* P ← (P⁻¹ + c x xᵀ)⁻¹ for f = Uᵀ x, and b = P x of the P before. Bierman's update: sums of positive
   numbers and their ratios make D, so that it stays positive. */
void noregret_refactor(double *u, double *d, const double *f, double c, double *b, ptrdiff_t n);

/* p = the diagonal of P. */
void noregret_variances(const double *u, const double *d, double *p, ptrdiff_t n);

/* P_ij ← s_i P_ij s_j. */
void noregret_stretch(double *u, double *d, const double *s, ptrdiff_t n);

/* The largest |U_ij|. */
double noregret_reach(const double *u, ptrdiff_t n);

#endif

/* The loops over the numbers of one row.

   Sums run in eight lanes, lane = column mod 8, added up in one fixed order. A sparse row
   and the same row written out densely therefore give the same sum to the last bit, and so
   do machines with different vector units. */
#ifndef NOREGRET_KERNELS_H
#define NOREGRET_KERNELS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    double dot;   /* sum of v[i] x[i] */
    double norm2; /* sum of x[i] x[i] */
    double low;   /* the smallest x[i], infinite where there is none; */
    double high;  /* the largest; a NaN shows in norm2, not in these */
} noregret_scan;

noregret_scan noregret_scan_dense(const double *v, const double *x, ptrdiff_t n);
noregret_scan noregret_scan_sparse(const double *v, const double *x, const int32_t *at, ptrdiff_t n);

/* out = x, where what follows x is soon to be read too. */
void noregret_copy(double *out, const double *x, ptrdiff_t n);

/* Whether the positions increase and lie within [0, size). */
int noregret_ordered(const int32_t *at, ptrdiff_t n, ptrdiff_t size);

/* v += a x; of two, one after the other */
void noregret_add_dense(double *v, double a, const double *x, ptrdiff_t n);
void noregret_add_two(double *v, double a, const double *x, double b, const double *y, ptrdiff_t n);
void noregret_add_sparse(double *v, double a, const double *x, const int32_t *at, ptrdiff_t n);

/* Write a row down for the record, zeros left out: how many runs of neighbouring columns and how
   many numbers there are (32 bits each), the first column and the length of every run (32 bits
   each), the outcome, the numbers. At most 2 + 2 n doubles; returns how many. Without positions
   the numbers are columns 0, 1, ... */
ptrdiff_t noregret_pack(double *out, const double *x, const int32_t *at, ptrdiff_t n, double y);

#endif

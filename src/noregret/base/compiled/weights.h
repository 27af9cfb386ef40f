/* The loops over the experts of one round.

   Sums run in lanes added up in one fixed order. Products and sums are fused on machines that can,
   so the last bit of a weight may differ between machines, but never between two runs on one. */
#ifndef NOREGRET_WEIGHTS_H
#define NOREGRET_WEIGHTS_H

#include <stddef.h>

typedef struct {
    double dot;  /* sum of p[i] x[i] */
    double low;  /* the smallest x[i] */
    double high; /* the largest */
    double sane; /* 0 if every x[i] is finite, NaN otherwise */
} noregret_survey;

noregret_survey noregret_survey_of(const double *p, const double *x, ptrdiff_t n);

/* p[i] *= scale, then the same */
noregret_survey noregret_scaled_survey(double *p, double scale, const double *x, ptrdiff_t n);

/* out[i] = v[i] exp(-rate (x[i] - low)); returns the sum. No x is below low; without v,
   every v[i] is 1. */
double noregret_decayed(const double *v, double rate, const double *x, double low, double *out,
                        ptrdiff_t n);

/* sum of v[i] (exp(-rate (x[i] - low)) - 1), exact for small exponents too; *mean is the sum of
   v[i] (x[i] - low) */
double noregret_lost(const double *v, double rate, const double *x, double low, double *mean,
                     ptrdiff_t n);

/* decayed, and the same mean */
double noregret_tracked(const double *v, double rate, const double *x, double low, double *out,
                        double *mean, ptrdiff_t n);

/* held[i] = stays p[i] + share prior[i] */
void noregret_shared(const double *p, double stays, double share, const double *prior, double *held,
                     ptrdiff_t n);

/* gap[i] becomes (gap[i] - before) + (x[i] - low), at most ``most``; returns the smallest. With the
   smallest of the round before as ``before``, gaps stay small and lose no digits. */
double noregret_lag(double *gap, const double *x, double low, double before, double most,
                    ptrdiff_t n);

/* The same, and out[i] = exp(-rate gap[i]) of the new gaps on the way; returns the sum of these. */
double noregret_advance(double *gap, const double *x, double low, double before, double most,
                        double rate, double *out, double *smallest, ptrdiff_t n);

/* out[i] = prior[i] max(0, regret[i] / unit) / (1 + squares[i]); returns the sum. */
double noregret_leaning(const double *prior, const double *regret, double unit,
                        const double *squares, double *out, ptrdiff_t n);

/* With r = own - x[i]: regret[i] += r, squares[i] = factor squares[i] + (r / unit)^2; returns the sum
   of prior[i] (r / unit)^2 / (factor + factor squares[i]), of the squares before. */
double noregret_regretted(double *regret, double *squares, const double *prior, const double *x,
                          double own, double unit, double factor, ptrdiff_t n);

/* The sum of x. */
double noregret_total(const double *x, ptrdiff_t n);

/* The sum of p[i] x[i]. */
double noregret_dot(const double *p, const double *x, ptrdiff_t n);

/* The smallest and the largest of x. */
void noregret_extent(const double *x, double *low, double *high, ptrdiff_t n);

/* out[i] = scale (x[i] - y)^2 */
void noregret_squared(const double *x, double y, double scale, double *out, ptrdiff_t n);

/* out[i] = scale x[i] */
void noregret_multiples(const double *x, double scale, double *out, ptrdiff_t n);

/* Prefetch numbers from memory. */
void noregret_fetch(const double *x, ptrdiff_t n);

/* total[i] += x[i] - paid */
void noregret_excess(double *total, const double *x, double paid, ptrdiff_t n);

/* x[i] *= a */
void noregret_multiply(double *x, double a, ptrdiff_t n);

double noregret_exp(double x);

#endif

/* Eight learners of the first order side by side: four AdaGrad at several rates, then four diagonal
   filters that forget at several speeds. All that they know of a feature stands together. */
#ifndef NOREGRET_LANES_H
#define NOREGRET_LANES_H

#include <stddef.h>
#include <stdint.h>

enum {
    NOREGRET_LANES = 8,
    NOREGRET_HALF = 4
};

typedef struct {
    double weight[NOREGRET_LANES];
    double squares[NOREGRET_HALF];  /* of the gradients of each AdaGrad */
    double variance[NOREGRET_HALF]; /* of the weight, for each filter */
    double count, sum, sum2;        /* of the values other than zero */
    double prior;                   /* the variance granted so far, in units of each filter's own */
    double size;                    /* of a value, on average */
    double spare[3];                /* so that features begin where memory is fetched from */
} noregret_feature;

/* The spread of a feature: of those values that are not zero, less the more often they occur. */
double noregret_spread(double count, double sum, double sum2, double rounds);

/* Adds w . x to out, and the variance of it to z; returns how many values are not zero. */
ptrdiff_t noregret_lanes_score(const noregret_feature *features, const double *values,
                          const int32_t *indices, ptrdiff_t count, double *out, double *z);

/* Notes the values of a round, and grants variances: `grant` to a feature of size 1. */
void noregret_lanes_observe(noregret_feature *features, const double *values, const int32_t *indices,
                            ptrdiff_t count, double grant, const double *most);

/* Has the four AdaGrad meet gradients, the slopes times the values: adds how far a slope of 1 would move
   their scores to `moves`, and keeps how far it would move each weight in `steps`, four of a value. */
void noregret_lanes_meet(noregret_feature *features, const double *values, const int32_t *indices,
                         ptrdiff_t count, const double *slopes, const double *rates, double *steps,
                         double *moves);

/* Learns: moves the weights of the four by their steps times the slopes, and those of the filters by
   errors, times their gain; r is the weight of the observation for these, and `keep` what they keep. */
void noregret_lanes_learn(noregret_feature *features, const double *values, const int32_t *indices,
                          ptrdiff_t count, const double *steps, const double *slopes,
                          const double *errors, const double *r, const double *keep,
                          const double *most);

/* The sum of a[i] b[i], and the least and the largest of some numbers: of a few dozen, at once. */
double noregret_dot(const double *a, const double *b, ptrdiff_t n);
void noregret_extent(const double *x, ptrdiff_t n, double *low, double *high);

#endif

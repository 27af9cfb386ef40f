/* Eight first-order learners: four AdaGrad at several rates, then four diagonal filters with several
   memories. Their numbers for a feature lie side by side in memory. */
#ifndef NOREGRET_LANES_H
#define NOREGRET_LANES_H

#include <stddef.h>
#include <stdint.h>

enum {
    NOREGRET_LANES = 8,
    NOREGRET_HALF = 4,
    NOREGRET_CLASS_LANES = 12 /* numbers per feature and class: eight weights, four sums of squares */
};

typedef struct {
    double weight[NOREGRET_LANES];
    double squares[NOREGRET_HALF];  /* of the gradients of each AdaGrad */
    double variance[NOREGRET_HALF]; /* of the weight, for each filter */
    double count, sum, sum2;        /* of the values other than zero */
    double prior;                   /* initial variance, in units of each filter's */
    double size;                    /* mean size of a value */
    double spare[3];                /* padding to whole cache lines */
} noregret_feature;

/* The spread of a feature's nonzero values, smaller the more often they occur. */
double noregret_spread(double count, double sum, double sum2, double rounds);

/* Adds w . x to out, and its variance to z; returns the number of nonzero values. */
ptrdiff_t noregret_lanes_score(const noregret_feature *features, const double *values,
                          const int32_t *indices, ptrdiff_t count, double *out, double *z);

/* Updates the statistics of features, and raises variances: to `grant` for a feature of size 1. */
void noregret_lanes_observe(noregret_feature *features, const double *values, const int32_t *indices,
                            ptrdiff_t count, double grant, const double *most);

/* Adds the gradients, slopes times values, to the sums of the four AdaGrad; adds the change of their
   scores per unit of slope to `moves`, and stores that of each weight in `steps`, four per value. */
void noregret_lanes_meet(noregret_feature *features, const double *values, const int32_t *indices,
                         ptrdiff_t count, const double *slopes, const double *rates, double *steps,
                         double *moves);

/* Moves the weights of the four AdaGrad by their steps times the slopes, and those of the filters by
   their gains times the errors; r is the weight of the observation, `keep` the share of the past kept. */
void noregret_lanes_learn(noregret_feature *features, const double *values, const int32_t *indices,
                          ptrdiff_t count, const double *steps, const double *slopes,
                          const double *errors, const double *r, const double *keep,
                          const double *most);

/* Four scores clipped to a range; `mean` where one is no number. */
void noregret_lanes_hold(const double *scores, double low, double high, double mean, double *says);

/* The errors y - score, clipped to `most`. With `within`, scores are clipped first to the range, those
   less than its width beyond it. */
void noregret_lanes_errors(const double *scores, double low, double high, int within, double y,
                           double most, double *errors);

/* The same for several classes. The statistics and variances of a feature serve all classes; `lanes`
   holds NOREGRET_CLASS_LANES numbers per feature and class, with room for `stride` classes per feature.
   Scores are eight per class; slopes, moves and errors four; steps four per value and class. */
ptrdiff_t noregret_classes_score(const noregret_feature *features, const double *lanes,
                                 ptrdiff_t stride, ptrdiff_t classes, const double *values,
                                 const int32_t *indices, ptrdiff_t count, double *out, double *z);
void noregret_classes_meet(const noregret_feature *features, double *lanes, ptrdiff_t stride,
                           ptrdiff_t classes, const double *values, const int32_t *indices,
                           ptrdiff_t count, const double *slopes, const double *rates, double *steps,
                           double *moves);
void noregret_classes_learn(noregret_feature *features, double *lanes, ptrdiff_t stride,
                            ptrdiff_t classes, const double *values, const int32_t *indices,
                            ptrdiff_t count, const double *steps, const double *slopes,
                            const double *errors, const double *r, const double *keep,
                            const double *most);

#endif

/* Compensated column sums of a table of losses, and the best paths through it. */
#ifndef NOREGRET_SWITCHING_H
#define NOREGRET_SWITCHING_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu_dispatch.h"

/* Add every row to the column sums. A sum is high + low + rest, with an error of at most the number
   of rows times 2^-53 times lost, the sum of the sizes of all terms of rest. The other parts of an
   infinite sum are 0. */
static DISPATCHED(void, noregret_add_rows,
                  (const double *table, ptrdiff_t rows, ptrdiff_t n, double *restrict high,
                   double *restrict low, double *restrict rest, double *restrict lost),
                  (table, rows, n, high, low, rest, lost)) {
    for (ptrdiff_t t = 0; t < rows; t++) {
        const double *restrict row = table + t * n;
        for (ptrdiff_t i = 0; i < n; i++) {
            const double sum = high[i] + row[i], back = sum - high[i];
            const double left = (high[i] - (sum - back)) + (row[i] - back);
            const double sum2 = low[i] + left, back2 = sum2 - low[i];
            const double left2 = (low[i] - (sum2 - back2)) + (left - back2);
            const int finite = sum - sum == 0;
            high[i] = sum;
            low[i] = finite ? sum2 : 0;
            rest[i] = finite ? rest[i] + left2 : 0;
            lost[i] = finite ? lost[i] + fabs(left2) : 0;
        }
    }
}

/* For every expert i and every number of switches k < width, the smallest loss of a path that ends at
   i after at most k switches: high + low, and the round in which its last segment began. The numbers
   of an expert for all k are contiguous. */
typedef struct {
    ptrdiff_t n, width;           /* width: a multiple of 4 */
    double *high, *low, *start;   /* n by width */
    double *best_high, *best_low; /* for every k, the smallest over i */
    double *best_start, *best_expert;
    double *from_high, *from_low; /* for every k, the loss of a path that switches now */
} noregret_paths;

static DISPATCHED(void, noregret_follow,
                  (const noregret_paths *p, const double *table, ptrdiff_t rows, double round,
                   ptrdiff_t layers, uint32_t *experts, uint32_t *starts),
                  (p, table, rows, round, layers, experts, starts)) {
    const ptrdiff_t n = p->n, width = p->width;
    double *restrict best_high = p->best_high, *restrict best_low = p->best_low;
    double *restrict best_start = p->best_start, *restrict best_expert = p->best_expert;
    double *restrict from_high = p->from_high, *restrict from_low = p->from_low;
    for (ptrdiff_t t = 0; t < rows; t++, round++, experts += layers, starts += layers) {
        if (round > 0) {
            memcpy(from_high + 1, best_high, (size_t)(width - 1) * sizeof(double));
            memcpy(from_low + 1, best_low, (size_t)(width - 1) * sizeof(double));
        }
        for (ptrdiff_t k = 0; k < width; k++) {
            best_high[k] = INFINITY;
            best_low[k] = best_start[k] = best_expert[k] = 0;
        }
        for (ptrdiff_t i = 0; i < n; i++) {
            const double loss = table[t * n + i], expert = (double)i;
            double *restrict high = p->high + i * width, *restrict low = p->low + i * width;
            double *restrict start = p->start + i * width;
            for (ptrdiff_t k = 0; k < width; k++) {
                const int switches = (from_high[k] - high[k]) + (from_low[k] - low[k]) < 0;
                const double before = switches ? from_high[k] : high[k];
                const double before_low = switches ? from_low[k] : low[k];
                const double since = switches ? round : start[k];
                const double sum = before + loss, back = sum - before;
                const double left = (before - (sum - back)) + (loss - back);
                const double sum_low = before_low + (sum - sum == 0 ? left : 0);
                const int better = (sum - best_high[k]) + (sum_low - best_low[k]) < 0;
                high[k] = sum;
                low[k] = sum_low;
                start[k] = since;
                best_high[k] = better ? sum : best_high[k];
                best_low[k] = better ? sum_low : best_low[k];
                best_start[k] = better ? since : best_start[k];
                best_expert[k] = better ? expert : best_expert[k];
            }
        }
        for (ptrdiff_t k = 0; k < layers; k++) {
            experts[k] = (uint32_t)best_expert[k];
            starts[k] = (uint32_t)best_start[k];
        }
    }
}

#endif

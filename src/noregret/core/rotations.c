#include "rotations.h"

#include <math.h>

#include "dispatch.h"

#define LANES 4

/* Sums run in four lanes, column mod 4, added up in one fixed order: the same on every machine. */
DISPATCHED
void noregret_solve(const double *restrict factor, const double *restrict given,
                    double *restrict weights, ptrdiff_t d) {
    for (ptrdiff_t j = d - 1; j >= 0; j--) {
        const double *row = factor + j * d;
        double sum[LANES] = {0};
        ptrdiff_t k = j + 1;
        for (; k < d && k % LANES != 0; k++) {
            sum[k % LANES] += row[k] * weights[k];
        }
        for (; k + LANES <= d; k += LANES) {
            for (int l = 0; l < LANES; l++) {
                sum[l] += row[k + l] * weights[k + l];
            }
        }
        for (; k < d; k++) {
            sum[k % LANES] += row[k] * weights[k];
        }
        weights[j] = (given[j] - ((sum[0] + sum[2]) + (sum[1] + sum[3]))) / row[j];
    }
}

DISPATCHED
void noregret_rotate(double *restrict factor, double *restrict given, double *restrict row,
                     double outcome, ptrdiff_t d) {
    for (ptrdiff_t j = 0; j < d; j++) {
        if (row[j] == 0.0) {
            continue;
        }
        double *restrict held = factor + j * d;
        const double length = sqrt(held[j] * held[j] + row[j] * row[j]), each = 1 / length;
        const double c = held[j] * each, s = row[j] * each;
        held[j] = length;
        for (ptrdiff_t k = j + 1; k < d; k++) {
            const double a = held[k], b = row[k];
            held[k] = c * a + s * b;
            row[k] = c * b - s * a;
        }
        const double a = given[j];
        given[j] = c * a + s * outcome;
        outcome = c * outcome - s * a;
    }
}

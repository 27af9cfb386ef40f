#include "rotations.h"

#include <math.h>

#include "cpu_dispatch.h"

/* Rotate a row into the factor, element by element; the factor changes only if `learn`.

   No weights are needed for the forecast. The rotations make up an orthogonal matrix whose last row
   is (-p z/R, p), with z the row, R the factor and p the product of all cosines. So an outcome of
   0, rotated along, ends as -p times the forecast for z. */
static inline __attribute__((always_inline)) double turn(double *restrict factor,
                                                         double *restrict given,
                                                         double *restrict row, double outcome,
                                                         ptrdiff_t d, ptrdiff_t stride, int learn) {
    double said = 0.0, cosines = 1.0;
    for (ptrdiff_t j = 0; j < d; j++) {
        if (row[j] == 0.0) {
            continue;
        }
        double *restrict held = factor + j * stride;
        const double length = sqrt(held[j] * held[j] + row[j] * row[j]), each = 1 / length;
        const double c = held[j] * each, s = row[j] * each;
        /* Whole vectors: what lies before the diagonal is never looked at. */
        for (ptrdiff_t k = (j + 1) / NOREGRET_LANES * NOREGRET_LANES; k < stride;
             k += NOREGRET_LANES) {
            for (int l = 0; l < NOREGRET_LANES; l++) {
                const double a = held[k + l], b = row[k + l];
                if (learn) {
                    held[k + l] = c * a + s * b;
                }
                row[k + l] = c * b - s * a;
            }
        }
        said = c * said - s * given[j];
        cosines *= c;
        if (learn) {
            const double a = given[j];
            held[j] = length;
            given[j] = c * a + s * outcome;
            outcome = c * outcome - s * a;
        }
    }
    return -said / cosines;
}

DISPATCHED(double, noregret_forecast,
           (const double *factor, const double *given, double *row, ptrdiff_t d, ptrdiff_t stride),
           (factor, given, row, d, stride)) {
    return turn((double *) factor, (double *) given, row, 0.0, d, stride, 0);
}

DISPATCHED(double, noregret_rotate,
           (double *factor, double *given, double *row, double outcome, ptrdiff_t d,
            ptrdiff_t stride),
           (factor, given, row, outcome, d, stride)) {
    return turn(factor, given, row, outcome, d, stride, 1);
}

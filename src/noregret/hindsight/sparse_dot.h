#ifndef NOREGRET_SPARSE_DOT_H
#define NOREGRET_SPARSE_DOT_H

#include <stddef.h>
#include <stdint.h>

/* Return the sum of values[k] w[at[k]]: four sums at once, as each addition waits for the one before. */
static inline double noregret_sparse_dot(const double *values, const int32_t *at, ptrdiff_t count,
                                         const double *w) {
    double a = 0, b = 0, c = 0, d = 0;
    ptrdiff_t k = 0;
    for (; k + 4 <= count; k += 4) {
        a += values[k] * w[at[k]];
        b += values[k + 1] * w[at[k + 1]];
        c += values[k + 2] * w[at[k + 2]];
        d += values[k + 3] * w[at[k + 3]];
    }
    for (; k < count; k++) {
        a += values[k] * w[at[k]];
    }
    return (a + b) + (c + d);
}

#endif

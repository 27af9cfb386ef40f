#ifndef NOREGRET_SPARSE_DOT_H
#define NOREGRET_SPARSE_DOT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define noregret_fetch(address) __builtin_prefetch(address)
#else
#define noregret_fetch(address) ((void)(address))
#endif

/* Prefetch the numbers of row t. This is a macro because GCC removes calls of functions that only prefetch. */
#define noregret_fetch_row(starts, at, values, t)                                      \
    do {                                                                               \
        ptrdiff_t first_ = (starts)[t], stop_ = (starts)[(t) + 1];                     \
        for (ptrdiff_t k_ = first_; k_ < stop_; k_ += 8) noregret_fetch((values) + k_); \
        for (ptrdiff_t k_ = first_; k_ < stop_; k_ += 16) noregret_fetch((at) + k_);   \
    } while (0)

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

#ifndef NOREGRET_ECHO_SERIES_H
#define NOREGRET_ECHO_SERIES_H

#include <stddef.h>

/* The first n terms of exp(c[0] + c[1] z + c[2] z^2 + ...), into `out`; `work` has room for 2n. */
void noregret_exponential(const float *c, float *out, float *work, ptrdiff_t n);

#endif

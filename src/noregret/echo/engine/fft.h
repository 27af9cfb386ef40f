/* Fourier transforms of real numbers, several side by side. NumPy's and SciPy's cannot be called from
   C, and a transform per block of 10 ms through Python would need the GIL in every block. */
#ifndef NOREGRET_FOURIER_H
#define NOREGRET_FOURIER_H

#include <stddef.h>

typedef struct noregret_fourier noregret_fourier;

/* A plan for n numbers (n even), for up to `lanes` of them at once; NULL without memory. */
noregret_fourier *noregret_fourier_new(ptrdiff_t n, ptrdiff_t lanes);
void noregret_fourier_free(noregret_fourier *plan);

/* n numbers to the n/2 + 1 terms of their transform. With several lanes, number t of lane l is at
   x[t * lanes + l], and likewise its terms. */
void noregret_fourier_forward(noregret_fourier *plan, const float *x, float *re, float *im,
                              ptrdiff_t lanes);

/* And back: the mean over terms, so that it undoes the other. */
void noregret_fourier_inverse(noregret_fourier *plan, const float *re, const float *im, float *x,
                              ptrdiff_t lanes);

#endif

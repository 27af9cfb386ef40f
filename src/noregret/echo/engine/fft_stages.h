/* One stage of a transform for every radix, over neighbours taken `sizeof(NUMBER)` at a time: the
   file is read once for single numbers and once for vectors of eight. */

#define STEP ((ptrdiff_t)(sizeof(NUMBER) / sizeof(float)))
#define AT(array, k) (*(NUMBER *)((array) + (k)))
#define SEEN(array, k) (*(const NUMBER *)((array) + (k)))

/* Twiddled outputs of one butterfly: y[j] = (re + i im) turned by w[j]. */
#define PUT(j, re, im)                                                                             \
    do {                                                                                           \
        NUMBER a_ = (re), b_ = (im);                                                                \
        AT(yr, (j) * s + q) = a_ * w[2 * (j)] - b_ * w[2 * (j) + 1];                                   \
        AT(yi, (j) * s + q) = a_ * w[2 * (j) + 1] + b_ * w[2 * (j)];                                   \
    } while (0)
#define R(j) SEEN(xr, (j) * gap + q)
#define I(j) SEEN(xi, (j) * gap + q)

static inline __attribute__((always_inline)) void STAGED(two)(
    const float *restrict xr, const float *restrict xi, float *restrict yr, float *restrict yi,
    const float *w, ptrdiff_t gap, ptrdiff_t s) {
    for (ptrdiff_t q = 0; q < s; q += STEP) {
        NUMBER ar = R(0), ai = I(0), br = R(1), bi = I(1);
        PUT(0, ar + br, ai + bi);
        PUT(1, ar - br, ai - bi);
    }
}

static inline __attribute__((always_inline)) void STAGED(three)(
    const float *restrict xr, const float *restrict xi, float *restrict yr, float *restrict yi,
    const float *w, ptrdiff_t gap, ptrdiff_t s) {
    for (ptrdiff_t q = 0; q < s; q += STEP) {
        NUMBER ar = R(0), ai = I(0);
        NUMBER sr = R(1) + R(2), si = I(1) + I(2), dr = SIN3 * (R(1) - R(2)), di = SIN3 * (I(1) - I(2));
        NUMBER cr = ar - 0.5f * sr, ci = ai - 0.5f * si;
        PUT(0, ar + sr, ai + si);
        PUT(1, cr + di, ci - dr);
        PUT(2, cr - di, ci + dr);
    }
}

static inline __attribute__((always_inline)) void STAGED(four)(
    const float *restrict xr, const float *restrict xi, float *restrict yr, float *restrict yi,
    const float *w, ptrdiff_t gap, ptrdiff_t s) {
    for (ptrdiff_t q = 0; q < s; q += STEP) {
        NUMBER ar = R(0) + R(2), ai = I(0) + I(2), br = R(0) - R(2), bi = I(0) - I(2);
        NUMBER cr = R(1) + R(3), ci = I(1) + I(3), dr = R(1) - R(3), di = I(1) - I(3);
        PUT(0, ar + cr, ai + ci);
        PUT(1, br + di, bi - dr);
        PUT(2, ar - cr, ai - ci);
        PUT(3, br - di, bi + dr);
    }
}

static inline __attribute__((always_inline)) void STAGED(five)(
    const float *restrict xr, const float *restrict xi, float *restrict yr, float *restrict yi,
    const float *w, ptrdiff_t gap, ptrdiff_t s) {
    for (ptrdiff_t q = 0; q < s; q += STEP) {
        NUMBER ar = R(0), ai = I(0);
        NUMBER br = R(1) + R(4), bi = I(1) + I(4), cr = R(2) + R(3), ci = I(2) + I(3);
        NUMBER dr = R(1) - R(4), di = I(1) - I(4), er = R(2) - R(3), ei = I(2) - I(3);
        NUMBER fr = ar + COS5 * br + COS10 * cr, fi = ai + COS5 * bi + COS10 * ci;
        NUMBER gr = ar + COS10 * br + COS5 * cr, gi = ai + COS10 * bi + COS5 * ci;
        NUMBER hr = SIN5 * dr + SIN10 * er, hi = SIN5 * di + SIN10 * ei;
        NUMBER kr = SIN10 * dr - SIN5 * er, ki = SIN10 * di - SIN5 * ei;
        PUT(0, ar + br + cr, ai + bi + ci);
        PUT(1, fr + hi, fi - hr);
        PUT(2, gr + ki, gi - kr);
        PUT(3, gr - ki, gi + kr);
        PUT(4, fr - hi, fi + hr);
    }
}

/* Any other prime: each term by its definition; `roots` holds the turns of the radix. */
static inline __attribute__((always_inline)) void STAGED(any)(
    const float *restrict xr, const float *restrict xi, float *restrict yr, float *restrict yi,
    const float *w, ptrdiff_t gap, ptrdiff_t s, ptrdiff_t r, const float *roots) {
    for (ptrdiff_t j = 0; j < r; j++) {
        for (ptrdiff_t q = 0; q < s; q += STEP) {
            NUMBER re = R(0), im = I(0);
            for (ptrdiff_t k = 1, turn = j; k < r; k++, turn = (turn + j) % r) {
                float c = roots[2 * turn], d = roots[2 * turn + 1];
                re += R(k) * c - I(k) * d;
                im += R(k) * d + I(k) * c;
            }
            PUT(j, re, im);
        }
    }
}

#undef STEP
#undef AT
#undef SEEN
#undef PUT
#undef R
#undef I

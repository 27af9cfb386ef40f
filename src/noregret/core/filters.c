#include "filters.h"

#include <string.h>

#include "dispatch.h"

typedef double lanes __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long bits __attribute__((vector_size(32), aligned(8), may_alias));

#define AT(p, i) (*(const lanes *)((p) + 4 * (i)))
#define TO(p, i) (*(lanes *)((p) + 4 * (i)))

/* No variance falls below this part of its prior: a filter never stops learning altogether. */
static const double LEAST = 1e-18;

static inline const double *column(const double *U, ptrdiff_t j) { return U + 2 * j * (j - 1); }

static inline lanes lesser(lanes a, lanes b) {
    const bits which = b < a;
    return (lanes)((which & (bits)b) | (~which & (bits)a));
}

DISPATCHED
void noregret_filters_score(const double *w, const double *x, ptrdiff_t n, double *out) {
    lanes sum = {0};
    for (ptrdiff_t i = 0; i < n; i++) {
        sum += AT(w, i) * x[i];
    }
    TO(out, 0) = sum;
}

DISPATCHED
void noregret_filters_project(const double *U, const double *D, const double *x, ptrdiff_t n,
                              double *f, double *v, double *z) {
    lanes total = {0};
    for (ptrdiff_t j = 0; j < n; j++) {
        const double *u = column(U, j);
        lanes a = x[j] - (lanes){0}, b = {0};
        ptrdiff_t i = 0;
        for (; i + 2 <= j; i += 2) { /* two sums, so that they need not wait for each other */
            a += AT(u, i) * x[i];
            b += AT(u, i + 1) * x[i + 1];
        }
        if (i < j) {
            a += AT(u, i) * x[i];
        }
        a += b;
        const lanes scaled = AT(D, j) * a;
        TO(f, j) = a;
        TO(v, j) = scaled;
        total += a * scaled;
    }
    TO(z, 0) = total;
}

DISPATCHED
void noregret_filters_update(double *U, double *D, const double *f, const double *v,
                             const double *prior, const double *most, const double *forget,
                             const double *r, double *k, ptrdiff_t n) {
    const lanes kept = AT(forget, 0), weight = AT(r, 0), cap = AT(most, 0);
    const lanes renewed = 1.0 / kept;
    lanes before = kept, inverse = renewed;
    for (ptrdiff_t j = 0; j < n; j++) {
        const lanes fj = AT(f, j), vj = AT(v, j), slope = weight * fj;
        const lanes after = before + slope * vj, part = -slope * inverse;
        inverse = 1.0 / after;
        const lanes ceiling = cap * prior[j];
        lanes d = lesser(AT(D, j) * before * inverse * renewed, ceiling);
        d = -lesser(-d, -(ceiling * LEAST));
        TO(D, j) = d;
        double *u = (double *)column(U, j);
        for (ptrdiff_t i = 0; i < j; i++) {
            const lanes was = AT(u, i), gain = AT(k, i);
            TO(u, i) = was + part * gain;
            TO(k, i) = gain + was * vj;
        }
        TO(k, j) = vj;
        before = after;
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        TO(k, j) = AT(k, j) * inverse;
    }
}

DISPATCHED
void noregret_filters_step(double *w, const double *k, const double *e, ptrdiff_t n) {
    const lanes error = AT(e, 0);
    for (ptrdiff_t i = 0; i < n; i++) {
        TO(w, i) = AT(w, i) + AT(k, i) * error;
    }
}

DISPATCHED
void noregret_filters_raise(double *U, double *D, ptrdiff_t j, const double *more, double *scratch) {
    memset(scratch, 0, (size_t)(4 * (j + 1)) * sizeof(double));
    TO(scratch, j) = 1.0 - (lanes){0};
    lanes left = AT(more, 0);
    for (ptrdiff_t c = j; c >= 0 && (left[0] > 0 || left[1] > 0 || left[2] > 0 || left[3] > 0); c--) {
        const lanes a = AT(scratch, c), d = AT(D, c), grown = d + left * a * a;
        double *u = (double *)column(U, c);
        /* where there is no variance yet, there is nothing to share */
        const bits some = grown > 0;
        const lanes part = (lanes)(some & (bits)(left * a / grown));
        left = (lanes)((some & (bits)(left * d / grown)) | (~some & (bits)left));
        TO(D, c) = grown;
        for (ptrdiff_t i = 0; i < c; i++) {
            const lanes moved = AT(scratch, i) - a * AT(u, i);
            TO(scratch, i) = moved;
            TO(u, i) = AT(u, i) + part * moved;
        }
    }
}

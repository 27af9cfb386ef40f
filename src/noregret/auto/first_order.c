#include "first_order.h"

#include <math.h>

#include "cpu_dispatch.h"

#ifdef WIDE_VECTORS
#include <immintrin.h>
#endif

typedef double lanes __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long bits __attribute__((vector_size(32), aligned(8), may_alias));

#define AT(p) (*(const lanes *)(p))
#define TO(p) (*(lanes *)(p))
#define ALL(a) ((lanes){(a), (a), (a), (a)})
#define PLACE(k) (indices == NULL ? (k) : (ptrdiff_t)indices[k])

/* Variances are raised when they should be at least this many times as large. */
static const double RAISED = 2.0;
/* Values with a square up to this count as zero: their variance would overflow. */
static const double FAINT = 1e-150;
/* Sizes and spreads are checked for this many values at first, and then once per this many. */
enum { OFTEN = 16 };

double noregret_spread(double count, double sum, double sum2, double rounds) {
    const double mean = sum / count, share = count / rounds;
    return sum2 / count - share * mean * mean;
}

static inline __attribute__((always_inline)) lanes lesser(lanes a, lanes b) {
    const bits which = b < a;
    return (lanes)((which & (bits)b) | (~which & (bits)a));
}

static inline __attribute__((always_inline)) lanes root(lanes a) {
    lanes found;
    for (int i = 0; i < 4; i++) {
        found[i] = sqrt(a[i]);
    }
    return found;
}

DISPATCHED(ptrdiff_t, noregret_lanes_score,
           (const noregret_feature *features, const double *values, const int32_t *indices,
            ptrdiff_t count, double *out, double *z),
           (features, values, indices, count, out, z)) {
    lanes low = AT(out), high = AT(out + 4), spread = AT(z);
    ptrdiff_t present = 0;
    for (ptrdiff_t k = 0; k < count; k++) {
        const noregret_feature *f = features + PLACE(k);
        const double x = values[k];
        __builtin_prefetch(&f->count, 1); /* of the cache line that learning needs */
        low += AT(f->weight) * ALL(x);
        high += AT(f->weight + 4) * ALL(x);
        spread += AT(f->variance) * ALL(x * x);
        present += x != 0;
    }
    TO(out) = low;
    TO(out + 4) = high;
    TO(z) = spread;
    return present;
}

DISPATCHED(void, noregret_lanes_observe,
           (noregret_feature *features, const double *values, const int32_t *indices,
            ptrdiff_t count, double grant, const double *most),
           (features, values, indices, count, grant, most)) {
    for (ptrdiff_t k = 0; k < count; k++) {
        noregret_feature *f = features + PLACE(k);
        const double x = values[k], square = x * x;
        if (!(square > FAINT)) {
            continue;
        }
        f->count += 1;
        f->sum += x;
        f->sum2 += square;
        const ptrdiff_t times = (ptrdiff_t)f->count;
        if (times > OFTEN && times % OFTEN != 0) {
            continue;
        }
        const double usual = f->sum2 / f->count;
        f->size = sqrt(usual);
        if (usual > FAINT && grant > RAISED * f->prior * usual) {
            const double prior = grant / usual;
            TO(f->variance) = AT(f->variance) + AT(most) * ALL(prior - f->prior);
            f->prior = prior;
        }
    }
}

#ifdef WIDE_VECTORS
/* Roots and quotients take most of the time of the loop below: here from an estimate, which two steps of
   Newton's method make right to the last bit or two. */
__attribute__((target("avx512f,avx512dq,avx512vl,fma"))) static void
widest_meet(noregret_feature *features, const double *values, const int32_t *indices, ptrdiff_t count,
            const double *slopes, const double *rates, double *steps, double *moves) {
    const __m256d slope = _mm256_loadu_pd(slopes), rate = _mm256_loadu_pd(rates);
    const __m256d half = _mm256_set1_pd(0.5), more = _mm256_set1_pd(1.5);
    __m256d far = _mm256_loadu_pd(moves);
    for (ptrdiff_t k = 0; k < count; k++) {
        noregret_feature *f = features + PLACE(k);
        const double x = values[k];
        __m256d step = _mm256_setzero_pd();
        if (x * x > FAINT) {
            const __m256d at = _mm256_set1_pd(x), gradient = _mm256_mul_pd(slope, at);
            const __m256d squares = _mm256_add_pd(_mm256_loadu_pd(f->squares), _mm256_mul_pd(gradient, gradient));
            const __mmask8 some = _mm256_cmp_pd_mask(squares, _mm256_setzero_pd(), _CMP_GT_OQ);
            _mm256_storeu_pd(f->squares, squares);
            const __m256d halved = _mm256_mul_pd(half, squares);
            __m256d root = _mm256_rsqrt14_pd(squares);
            for (int i = 0; i < 2; i++) { /* in this order the products do not overflow */
                root = _mm256_mul_pd(root, _mm256_fnmadd_pd(_mm256_mul_pd(halved, root), root, more));
            }
            const __m256d scaled = _mm256_mul_pd(rate, _mm256_set1_pd(x / f->size));
            step = _mm256_maskz_mul_pd(some, scaled, root);
            far = _mm256_add_pd(far, _mm256_mul_pd(step, at));
        }
        _mm256_storeu_pd(steps + 4 * k, step);
    }
    _mm256_storeu_pd(moves, far);
}
#endif

static DISPATCHED(void, narrower_meet,
           (noregret_feature *features, const double *values, const int32_t *indices,
            ptrdiff_t count, const double *slopes, const double *rates, double *steps,
            double *moves),
           (features, values, indices, count, slopes, rates, steps, moves)) {
    const lanes slope = AT(slopes), rate = AT(rates);
    lanes far = AT(moves);
    for (ptrdiff_t k = 0; k < count; k++) {
        noregret_feature *f = features + PLACE(k);
        const double x = values[k];
        lanes step = {0};
        if (x * x > FAINT) {
            const lanes gradient = slope * ALL(x), squares = AT(f->squares) + gradient * gradient;
            const bits some = squares > 0;
            TO(f->squares) = squares;
            step = (lanes)(some & (bits)(rate * ALL(x) / (root(squares) * ALL(f->size))));
            far += step * ALL(x);
        }
        TO(steps + 4 * k) = step;
    }
    TO(moves) = far;
}

void noregret_lanes_meet(noregret_feature *features, const double *values, const int32_t *indices,
                         ptrdiff_t count, const double *slopes, const double *rates, double *steps,
                         double *moves) {
#ifdef WIDE_VECTORS
    if (noregret_cpu == NOREGRET_AVX512) {
        widest_meet(features, values, indices, count, slopes, rates, steps, moves);
        return;
    }
#endif
    narrower_meet(features, values, indices, count, slopes, rates, steps, moves);
}

DISPATCHED(void, noregret_lanes_learn,
           (noregret_feature *features, const double *values, const int32_t *indices,
            ptrdiff_t count, const double *steps, const double *slopes, const double *errors,
            const double *r, const double *keep, const double *most),
           (features, values, indices, count, steps, slopes, errors, r, keep, most)) {
    const lanes slope = AT(slopes), error = AT(errors), weight = AT(r);
    const lanes kept = AT(keep), cap = AT(most);
    for (ptrdiff_t k = 0; k < count; k++) {
        noregret_feature *f = features + PLACE(k);
        const double x = values[k];
        if (!(x * x > FAINT)) {
            continue;
        }
        const lanes variance = AT(f->variance), moved = variance * ALL(x);
        TO(f->weight) = AT(f->weight) - AT(steps + 4 * k) * slope;
        TO(f->weight + 4) = AT(f->weight + 4) + moved * error;
        TO(f->variance) = lesser(variance / (kept + weight * moved * ALL(x)), cap * ALL(f->prior));
    }
}

/* In this order of operands one instruction each. */
static inline __attribute__((always_inline)) lanes clipped(lanes a, lanes low, lanes high) {
    lanes found;
    for (int i = 0; i < 4; i++) {
        const double value = low[i] > a[i] ? low[i] : a[i];
        found[i] = high[i] < value ? high[i] : value;
    }
    return found;
}

static inline __attribute__((always_inline)) lanes chosen(bits which, lanes a, lanes b) {
    return (lanes)((which & (bits)a) | (~which & (bits)b));
}

DISPATCHED(void, noregret_lanes_hold,
           (const double *scores, double low, double high, double mean, double *says),
           (scores, low, high, mean, says)) {
    const lanes at = AT(scores);
    TO(says) = chosen(at == at, clipped(at, ALL(low), ALL(high)), ALL(mean));
}

DISPATCHED(void, noregret_lanes_errors,
           (const double *scores, double low, double high, int within, double y, double most,
            double *errors),
           (scores, low, high, within, y, most, errors)) {
    const double width = high - low;
    lanes at = AT(scores);
    if (within) {
        const bits near = (at > ALL(low - width)) & (at < ALL(high + width));
        at = chosen(near, clipped(at, ALL(low), ALL(high)), at);
    }
    TO(errors) = clipped(ALL(y) - at, ALL(-most), ALL(most));
}

/* Several classes: `lanes` holds twelve numbers per feature and class, with room for `stride` classes
   per feature: eight weights, and the squares of four AdaGrad. */

#define CLASS_LANES(k) (lanes_of + PLACE(k) * stride * NOREGRET_CLASS_LANES)

DISPATCHED(ptrdiff_t, noregret_classes_score,
           (const noregret_feature *features, const double *lanes_of, ptrdiff_t stride,
            ptrdiff_t classes, const double *values, const int32_t *indices, ptrdiff_t count,
            double *out, double *z),
           (features, lanes_of, stride, classes, values, indices, count, out, z)) {
    lanes spread = AT(z);
    ptrdiff_t present = 0;
    for (ptrdiff_t k = 0; k < count; k++) {
        const double x = values[k];
        if (x == 0) {
            continue;
        }
        const double *own = CLASS_LANES(k);
        const lanes at = ALL(x);
        for (ptrdiff_t c = 0; c < classes; c++) {
            const double *w = own + c * NOREGRET_CLASS_LANES;
            TO(out + 8 * c) = AT(out + 8 * c) + AT(w) * at;
            TO(out + 8 * c + 4) = AT(out + 8 * c + 4) + AT(w + 4) * at;
        }
        spread += AT(features[PLACE(k)].variance) * ALL(x * x);
        present++;
    }
    TO(z) = spread;
    return present;
}

DISPATCHED(void, noregret_classes_meet,
           (const noregret_feature *features, double *lanes_of, ptrdiff_t stride, ptrdiff_t classes,
            const double *values, const int32_t *indices, ptrdiff_t count, const double *slopes,
            const double *rates, double *steps, double *moves),
           (features, lanes_of, stride, classes, values, indices, count, slopes, rates, steps, moves)) {
    const lanes rate = AT(rates);
    for (ptrdiff_t k = 0; k < count; k++) {
        const double x = values[k];
        if (!(x * x > FAINT)) {
            continue;
        }
        double *own = CLASS_LANES(k);
        const lanes at = ALL(x), most = rate * at / ALL(features[PLACE(k)].size);
        for (ptrdiff_t c = 0; c < classes; c++) {
            double *sum = own + c * NOREGRET_CLASS_LANES + 8;
            const lanes gradient = AT(slopes + 4 * c) * at, squares = AT(sum) + gradient * gradient;
            const bits some = squares > 0;
            TO(sum) = squares;
            const lanes step = (lanes)(some & (bits)(most / root(squares)));
            TO(steps + 4 * (k * classes + c)) = step;
            TO(moves + 4 * c) = AT(moves + 4 * c) + step * at;
        }
    }
}

DISPATCHED(void, noregret_classes_learn,
           (noregret_feature *features, double *lanes_of, ptrdiff_t stride, ptrdiff_t classes,
            const double *values, const int32_t *indices, ptrdiff_t count, const double *steps,
            const double *slopes, const double *errors, const double *r, const double *keep,
            const double *most),
           (features, lanes_of, stride, classes, values, indices, count, steps, slopes, errors, r,
            keep, most)) {
    const lanes weight = AT(r), kept = AT(keep), cap = AT(most);
    for (ptrdiff_t k = 0; k < count; k++) {
        const double x = values[k];
        if (!(x * x > FAINT)) {
            continue;
        }
        noregret_feature *f = features + PLACE(k);
        double *own = CLASS_LANES(k);
        const lanes variance = AT(f->variance), moved = variance * ALL(x);
        for (ptrdiff_t c = 0; c < classes; c++) {
            double *w = own + c * NOREGRET_CLASS_LANES;
            TO(w) = AT(w) - AT(steps + 4 * (k * classes + c)) * AT(slopes + 4 * c);
            TO(w + 4) = AT(w + 4) + moved * AT(errors + 4 * c);
        }
        TO(f->variance) = lesser(variance / (kept + weight * moved * ALL(x)), cap * ALL(f->prior));
    }
}

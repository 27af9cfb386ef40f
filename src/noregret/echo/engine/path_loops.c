#include "path_loops.h"

#include <string.h>

#include "cpu_dispatch.h"

static inline __attribute__((always_inline)) ptrdiff_t frame_of(const noregret_path *path,
                                                                ptrdiff_t channel, ptrdiff_t part) {
    ptrdiff_t slot = path->newest + path->delay + part;
    return (channel * path->slots + (slot < path->slots ? slot : slot - path->slots)) * path->width;
}

static FUSED(void, add_part,
             (ptrdiff_t n, const float *restrict xr, const float *restrict xi,
              const float *restrict wr, const float *restrict wi, const float *restrict doubt,
              float *restrict yr, float *restrict yi, float *restrict explained),
             (n, xr, xi, wr, wi, doubt, yr, yi, explained)) {
    for (ptrdiff_t k = 0; k < n; k++) {
        yr[k] += xr[k] * wr[k] - xi[k] * wi[k];
        yi[k] += xr[k] * wi[k] + xi[k] * wr[k];
        explained[k] += doubt[k] * (xr[k] * xr[k] + xi[k] * xi[k]);
    }
}

void noregret_path_predict(const noregret_path *path, float *echo_re, float *echo_im,
                           float *explained) {
    ptrdiff_t n = path->width;
    memset(echo_re, 0, (size_t)n * sizeof(float));
    memset(echo_im, 0, (size_t)n * sizeof(float));
    memset(explained, 0, (size_t)n * sizeof(float));
    for (ptrdiff_t c = 0; c < path->channels; c++) {
        for (ptrdiff_t p = 0; p < path->parts; p++) {
            ptrdiff_t x = frame_of(path, c, p), w = (c * path->parts + p) * n;
            add_part(n, path->far_re + x, path->far_im + x, path->re + w, path->im + w,
                     path->doubt + w, echo_re, echo_im, explained);
        }
    }
}

static FUSED(void, learn_part,
             (ptrdiff_t n, const noregret_pace *pace, const float *restrict xr,
              const float *restrict xi, const float *restrict er, const float *restrict ei,
              const float *restrict inverse, float *restrict wr, float *restrict wi,
              float *restrict doubt, float least),
             (n, pace, xr, xi, er, ei, inverse, wr, wi, doubt, least)) {
    float keep = pace->keep, share = pace->share, change = 1 - keep, most = pace->most;
    for (ptrdiff_t k = 0; k < n; k++) {
        float gain = doubt[k] * inverse[k];
        wr[k] += gain * (xr[k] * er[k] + xi[k] * ei[k]);
        wi[k] += gain * (xr[k] * ei[k] - xi[k] * er[k]);
        float left = 1 - share * gain * (xr[k] * xr[k] + xi[k] * xi[k]);
        float square = wr[k] * wr[k] + wi[k] * wi[k];
        float grown = keep * (left > 0 ? left : 0) * doubt[k] + change * (square > least ? square : least);
        doubt[k] = grown < most ? grown : most;
    }
}

static FUSED(float, mean_square,
             (ptrdiff_t n, const float *restrict wr, const float *restrict wi),
             (n, wr, wi)) {
    float sums[8] = {0};
    for (ptrdiff_t k = 0; k < n; k += 8) {
        for (ptrdiff_t l = 0; l < 8; l++) {
            sums[l] += wr[k + l] * wr[k + l] + wi[k + l] * wi[k + l];
        }
    }
    float sum = 0;
    for (ptrdiff_t l = 0; l < 8; l++) {
        sum += sums[l];
    }
    return sum / (float)n;
}

void noregret_path_learn(const noregret_path *path, const noregret_pace *pace, const float *error_re,
                         const float *error_im, const float *inverse) {
    ptrdiff_t n = path->width;
    for (ptrdiff_t c = 0; c < path->channels; c++) {
        for (ptrdiff_t p = 0; p < path->parts; p++) {
            ptrdiff_t part = c * path->parts + p, x = frame_of(path, c, p), w = part * n;
            float *size = path->size + part;
            learn_part(n, pace, path->far_re + x, path->far_im + x, error_re, error_im, inverse,
                       path->re + w, path->im + w, path->doubt + w, pace->least * *size);
            *size = mean_square(n, path->re + w, path->im + w);
        }
    }
}

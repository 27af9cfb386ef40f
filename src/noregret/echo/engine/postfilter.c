/* A step of Cho et al. (2014), with the reset gate after the product as in cuDNN. */
#include "postfilter.h"

#include <math.h>
#include <string.h>

#include "cpu_dispatch.h"

ptrdiff_t noregret_postfilter_weights(ptrdiff_t inputs, ptrdiff_t hidden, ptrdiff_t outputs) {
    return (inputs + 1) * hidden + 2 * (hidden + 1) * 3 * hidden + (hidden + 1) * outputs;
}

/* y = x W + the last row of W; returns the weights after W. */
static FUSED(const float *, dense,
             (const float *restrict w, const float *restrict x, ptrdiff_t n, float *restrict y,
              ptrdiff_t m),
             (w, x, n, y, m)) {
    ptrdiff_t i = 0;
    memcpy(y, w + n * m, (size_t)m * sizeof(float));
    for (; i + 4 <= n; i += 4, w += 4 * m) {
        for (ptrdiff_t j = 0; j < m; j++) {
            y[j] += (x[i] * w[j] + x[i + 1] * w[j + m]) + (x[i + 2] * w[j + 2 * m] + x[i + 3] * w[j + 3 * m]);
        }
    }
    for (; i < n; i++, w += m) {
        for (ptrdiff_t j = 0; j < m; j++) {
            y[j] += x[i] * w[j];
        }
    }
    return w + m;
}

static float logistic(float x) { return 1 / (1 + expf(-x)); }

void noregret_postfilter_step(const noregret_postfilter *net, const float *x, float *y) {
    ptrdiff_t h = net->hidden;
    float *first = net->work, *of_input = first + h, *of_state = of_input + 3 * h;
    const float *w = dense(net->weights, x, net->inputs, first, h);
    for (ptrdiff_t j = 0; j < h; j++) {
        first[j] = tanhf(first[j]);
    }
    w = dense(w, first, h, of_input, 3 * h);
    w = dense(w, net->state, h, of_state, 3 * h);
    for (ptrdiff_t j = 0; j < h; j++) {
        float update = logistic(of_input[j] + of_state[j]);
        float reset = logistic(of_input[h + j] + of_state[h + j]);
        float candidate = tanhf(of_input[2 * h + j] + reset * of_state[2 * h + j]);
        net->state[j] = candidate + update * (net->state[j] - candidate);
    }
    dense(w, net->state, h, y, net->outputs);
    for (ptrdiff_t j = 0; j < net->outputs; j++) {
        y[j] = logistic(y[j]);
    }
}

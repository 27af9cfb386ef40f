/* The loops of window_loops.c for vectors of one width. Define before including: WAY(name), the
   name of a function and its attributes; WIDE, the type of a vector of GROUP numbers. */

static double WAY(slide)(double *restrict w, double a, const double *p, const double *q, ptrdiff_t n) {
    double lane[LANES];
    WIDE sum[LANES / GROUP] = {0};
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int k = 0; k < LANES / GROUP; k++) {
            const ptrdiff_t at = i + k * GROUP;
            const WIDE moved = *(const WIDE *)(w + at) + a * *(const WIDE *)(p + at);
            *(WIDE *)(w + at) = moved;
            sum[k] += moved * *(const WIDE *)(q + at);
        }
    }
    for (int k = 0; k < LANES / GROUP; k++) {
        *(WIDE *)(lane + k * GROUP) = sum[k];
    }
    for (; i < n; i++) {
        w[i] += a * p[i];
        lane[i % LANES] += w[i] * q[i];
    }
    return total(lane);
}

static double WAY(tap)(const double *w, const double *q, ptrdiff_t n) {
    double lane[LANES];
    WIDE sum[LANES / GROUP] = {0};
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int k = 0; k < LANES / GROUP; k++) {
            sum[k] += *(const WIDE *)(w + i + k * GROUP) * *(const WIDE *)(q + i + k * GROUP);
        }
    }
    for (int k = 0; k < LANES / GROUP; k++) {
        *(WIDE *)(lane + k * GROUP) = sum[k];
    }
    for (; i < n; i++) {
        lane[i % LANES] += w[i] * q[i];
    }
    return total(lane);
}

#undef WAY
#undef WIDE
#undef GROUP

/* One look at a dense row; included once for every way to find the lowest and the highest. */
static noregret_scan SCANNED(const double *v, const double *x, ptrdiff_t n) {
    double dot[LANES] = {0}, norm2[LANES] = {0}, low = INFINITY, high = -INFINITY;
    ptrdiff_t i = 0;
#if defined(__GNUC__)
    if (n >= LANES) {
        half d0 = {0}, d1 = {0}, n0 = {0}, n1 = {0};
        half l0 = {INFINITY, INFINITY, INFINITY, INFINITY}, l1 = l0, h0 = -l0, h1 = h0;
        for (; i + LANES <= n; i += LANES) {
            __builtin_prefetch(x + i + AHEAD);
            const half x0 = *(const half *)(x + i), x1 = *(const half *)(x + i + 4);
            d0 += *(const half *)(v + i) * x0;
            d1 += *(const half *)(v + i + 4) * x1;
            n0 += x0 * x0;
            n1 += x1 * x1;
            l0 = LOWER(x0, l0);
            l1 = LOWER(x1, l1);
            h0 = HIGHER(x0, h0);
            h1 = HIGHER(x1, h1);
        }
        *(half *)dot = d0, *(half *)(dot + 4) = d1;
        *(half *)norm2 = n0, *(half *)(norm2 + 4) = n1;
        l0 = LOWER(l1, l0);
        h0 = HIGHER(h1, h0);
        low = smaller(smaller(l0[0], l0[1]), smaller(l0[2], l0[3]));
        high = larger(larger(h0[0], h0[1]), larger(h0[2], h0[3]));
    }
#endif
    for (; i < n; i++) {
        const double value = x[i];
        dot[i % LANES] += v[i] * value;
        norm2[i % LANES] += value * value;
        low = smaller(value, low);
        high = larger(value, high);
    }
    const noregret_scan scan = {total(dot), total(norm2), low, high};
    return scan;
}

#undef SCANNED
#undef LOWER
#undef HIGHER

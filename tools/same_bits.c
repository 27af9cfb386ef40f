/* Print the results of the loops that are the same to the bit on every machine; tools/compilers.py
   runs this for several processors and compares. The numbers are made up, of many sizes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blake2b.h"
#include "row_loops.h"
#include "udu_factors.h"

enum { FEATURES = 37, ROWS = 400, COLUMNS = FEATURES * (FEATURES - 1) / 2 };

static uint64_t state = 18;

/* A number between -1 and 1, by xorshift. */
static double drawn(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(int64_t)state / 9223372036854775808.0;
}

static void print_bits(const char *name, const double *numbers, size_t count) {
    unsigned char digest[NOREGRET_BLAKE2B_DIGEST];
    noregret_blake2b(numbers, count * sizeof(double), digest);
    printf("%s ", name);
    for (size_t i = 0; i < sizeof digest; i++) {
        printf("%02x", digest[i]);
    }
    printf("\n");
}

int main(void) {
    static double x[ROWS][FEATURES], found[ROWS][4], weights[FEATURES], u[COLUMNS], d[FEATURES];
    double f[FEATURES], b[FEATURES];
    for (int i = 0; i < FEATURES; i++) {
        d[i] = 1.0;
    }
    for (int t = 0; t < ROWS; t++) {
        for (int i = 0; i < FEATURES; i++) {
            const double number = drawn();
            x[t][i] = number > 0.6 ? 0.0 : number * (t % 3 == 0 ? 1e6 : 1.0);
        }
        const noregret_scan scan = noregret_scan_dense(weights, x[t], FEATURES);
        memcpy(found[t], &scan, sizeof scan);
        noregret_add_dense(weights, -0.01 * scan.dot / (1.0 + scan.norm2) + drawn(), x[t], FEATURES);
        noregret_through(u, x[t], FEATURES, f);
        noregret_refactor(u, d, f, 0.5, b, FEATURES);
    }
    print_bits("scans", &found[0][0], ROWS * 4);
    print_bits("weights", weights, FEATURES);
    print_bits("factors", u, COLUMNS);
    print_bits("variances", d, FEATURES);
    unsigned char digests[NOREGRET_BLAKE2B_STRIPS * NOREGRET_BLAKE2B_DIGEST];
    noregret_blake2b_strips(x, 1024, digests);
    print_bits("strips", (const double *)(const void *)digests, sizeof digests / sizeof(double));
    return 0;
}

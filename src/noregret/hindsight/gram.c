#include "gram.h"

#include "cpu_dispatch.h"

#define CHUNK 64 /* rows at a time, so that the columns of a tile stay in the L1 cache */

#if defined(__GNUC__)
/* The sums of one tile, up to 4 or 8 rows by three vectors of the matrix, are held in registers
   while the chunk is read: a vector of each row is multiplied by numbers of the same row. The
   compiler may fuse products with sums (-ffp-contract=fast).

   There is one function per vector width, chosen at run time: clones of a single function would
   all use the widest vector, and keep it in memory where registers are narrower. */
typedef struct {
    const double *down, *across; /* where the tile's rows and columns begin in the first x */
    ptrdiff_t stride, count;
    double *sums; /* the tile itself, with `pitch` numbers from one row to the next */
    ptrdiff_t pitch;
} tile;

typedef void adder(const tile *t, ptrdiff_t height, ptrdiff_t vectors);

#if defined(__clang__)
#define UNROLLED
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

#define EACH(i, k, height, vectors)               \
    UNROLLED for (int i = 0; i < (height); i++)   \
    UNROLLED for (int k = 0; k < (vectors); k++)

#define ADD_TILE(vector, lanes, most, isa)                                                     \
    typedef double vector __attribute__((vector_size(8 * lanes), aligned(8), may_alias));      \
                                                                                               \
    static inline __attribute__((always_inline)) isa                                           \
    void add_fixed_##vector(const tile t, const int height, const int vectors) {               \
        vector sum[most][3];                                                                   \
        EACH(i, k, height, vectors) {                                                          \
            sum[i][k] = (vector){0};                                                           \
            __builtin_prefetch(t.sums + i * t.pitch + k * lanes, 1);                           \
        }                                                                                      \
        for (ptrdiff_t r = 0; r < t.count; r++) {                                              \
            const double *const down = t.down + r * t.stride;                                  \
            const vector *const across = (const vector *)(t.across + r * t.stride);            \
            EACH(i, k, height, vectors) {                                                      \
                sum[i][k] += down[i] * across[k];                                              \
            }                                                                                  \
        }                                                                                      \
        EACH(i, k, height, vectors) {                                                          \
            *(vector *)(t.sums + i * t.pitch + k * lanes) += sum[i][k];                        \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    isa static void add_##vector(const tile *t, ptrdiff_t height, ptrdiff_t vectors) {         \
        switch (height * 4 + vectors) {                                                        \
            HEIGHTS_##most(add_fixed_##vector)                                                 \
        }                                                                                      \
    }
#define WIDTHS(add, height)                            \
    case height * 4 + 1: add(*t, height, 1); break;    \
    case height * 4 + 2: add(*t, height, 2); break;    \
    case height * 4 + 3: add(*t, height, 3); break;
#define HEIGHTS_4(add) WIDTHS(add, 1) WIDTHS(add, 2) WIDTHS(add, 3) WIDTHS(add, 4)
#define HEIGHTS_8(add) HEIGHTS_4(add) WIDTHS(add, 5) WIDTHS(add, 6) WIDTHS(add, 7) WIDTHS(add, 8)

ADD_TILE(two, 2, 4, )
#if defined(__x86_64__)
ADD_TILE(four, 4, 4, __attribute__((target("fma"))))
ADD_TILE(eight, 8, 8, __attribute__((target("avx512f"))))
#endif

/* Add one chunk, tile by tile from the lower right corner, so that partial tiles are at the top.
   n >= lanes; most is the height of a full tile, a multiple of lanes. */
static void add_chunk(adder *add, int lanes, int most, const double *rows, ptrdiff_t stride,
                      ptrdiff_t count, ptrdiff_t n, double *gram) {
    for (ptrdiff_t bottom = n, top; bottom > 0; bottom = top) {
        top = bottom > most ? bottom - most : 0;
        ptrdiff_t right = n;
        while (right - top >= lanes) {
            const ptrdiff_t rest = (right - top) / lanes;
            const ptrdiff_t vectors = rest == 4 ? 2 : rest < 3 ? rest : 3; /* 2 + 2 beats 3 + 1 */
            right -= vectors * lanes;
            const tile t = {rows + top, rows + right, stride, count, gram + top * n + right, n};
            add(&t, bottom - top, vectors);
        }
        if (right > top) { /* only at the top, if n is not a multiple of lanes */
            double corner[8 * 8] = {0};
            const tile t = {rows, rows, stride, count, corner, lanes};
            add(&t, bottom, 1);
            for (ptrdiff_t i = 0; i < bottom; i++) {
                for (ptrdiff_t j = 0; j < right; j++) {
                    gram[i * n + j] += corner[i * lanes + j];
                }
            }
        }
    }
}
#endif

static void add_scalar(const double *rows, ptrdiff_t stride, ptrdiff_t count, ptrdiff_t n,
                       double *gram) {
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t j = i; j < n; j++) {
            double sum = 0;
            for (ptrdiff_t r = 0; r < count; r++) {
                sum += rows[r * stride + i] * rows[r * stride + j];
            }
            gram[i * n + j] += sum;
        }
    }
}

void noregret_gram(const double *rows, ptrdiff_t stride, ptrdiff_t count, ptrdiff_t n, double *gram) {
    for (ptrdiff_t done = 0; done < count; done += CHUNK) {
        const double *const chunk = rows + done * stride;
        const ptrdiff_t size = count - done < CHUNK ? count - done : CHUNK;
#if defined(__GNUC__) && defined(__x86_64__)
        if (n >= 8 && noregret_cpu == NOREGRET_AVX512) {
            add_chunk(add_eight, 8, 8, chunk, stride, size, n, gram);
            continue;
        }
        if (n >= 4 && noregret_cpu >= NOREGRET_AVX2) {
            add_chunk(add_four, 4, 4, chunk, stride, size, n, gram);
            continue;
        }
#endif
#if defined(__GNUC__)
        if (n >= 2) {
            add_chunk(add_two, 2, 4, chunk, stride, size, n, gram);
            continue;
        }
#endif
        add_scalar(chunk, stride, size, n, gram);
    }
}

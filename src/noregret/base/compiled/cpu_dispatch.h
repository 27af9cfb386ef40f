/* One binary for every processor: loops are compiled for several levels of vector instructions, and
   noregret_cpu says which of them run. */
#ifndef NOREGRET_DISPATCH_H
#define NOREGRET_DISPATCH_H

/* avx2 has fma, bmi, bmi2 and lzcnt besides; avx512 has avx512f, avx512dq and avx512vl. */
enum { NOREGRET_BASELINE, NOREGRET_AVX2, NOREGRET_AVX512, NOREGRET_LEVELS };

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif
/* The highest level that this processor has and the environment variable NOREGRET_CPU allows. */
extern int noregret_cpu;
extern const char *const noregret_levels[NOREGRET_LEVELS];
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

/* DISPATCHED(type, name, parameters, arguments) { body } defines a function whose body is compiled
   for the baseline and for AVX2; BITWISE the same, with the shifts and counts of bits that come with
   it; FUSED the same, with products and sums fused in AVX2 where the file allows it, for results that
   are not promised to the bit. `static` may stand in front. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE_VECTORS /* loops that are written for one level each may be compiled */
#define NOREGRET_VARIANTS(isa, type, name, parameters, arguments)                                  \
    type name parameters;                                                                          \
    static inline __attribute__((always_inline)) type name##_body parameters;                      \
    __attribute__((target(isa), noinline)) static type name##_avx2 parameters {                    \
        return name##_body arguments;                                                              \
    }                                                                                              \
    type name parameters {                                                                         \
        return noregret_cpu >= NOREGRET_AVX2 ? name##_avx2 arguments : name##_body arguments;      \
    }                                                                                              \
    static inline __attribute__((always_inline)) type name##_body parameters
#define DISPATCHED(type, name, parameters, arguments)                                              \
    NOREGRET_VARIANTS("avx2", type, name, parameters, arguments)
#define BITWISE(type, name, parameters, arguments)                                                 \
    NOREGRET_VARIANTS("avx2,bmi,bmi2,lzcnt", type, name, parameters, arguments)
#define FUSED(type, name, parameters, arguments)                                                   \
    NOREGRET_VARIANTS("avx2,fma", type, name, parameters, arguments)
#else
#define DISPATCHED(type, name, parameters, arguments) type name parameters
#define BITWISE(type, name, parameters, arguments) type name parameters
#define FUSED(type, name, parameters, arguments) type name parameters
#endif

#endif

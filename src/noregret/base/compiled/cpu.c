#include "cpu_dispatch.h"

#include <stdlib.h>
#include <string.h>

const char *const noregret_levels[NOREGRET_LEVELS] = {"baseline", "avx2", "avx512"};
int noregret_cpu = NOREGRET_BASELINE;

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

/* Older compilers do not know the name of this feature. */
static int has_lzcnt(void) {
    unsigned int eax, ebx, ecx, edx;
    return __get_cpuid(0x80000001u, &eax, &ebx, &ecx, &edx) && (ecx >> 5 & 1u);
}

static int highest(void) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !has_lzcnt()) {
        return NOREGRET_BASELINE;
    }
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl")
               ? NOREGRET_AVX512
               : NOREGRET_AVX2;
}

/* An unknown name allows every level here; importing noregret.base.compiled raises an error. */
__attribute__((constructor)) static void choose(void) {
    const char *const allowed = getenv("NOREGRET_CPU");
    noregret_cpu = highest();
    for (int level = 0; allowed != NULL && level < noregret_cpu; level++) {
        if (strcmp(allowed, noregret_levels[level]) == 0) {
            noregret_cpu = level;
        }
    }
}
#endif

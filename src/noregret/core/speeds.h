/* Loops over single-precision numbers, compiled for several machines; the best is chosen when the
   program starts. Additions may be fused in them: their results are not promised to the bit. */
#ifndef NOREGRET_SPEEDS_H
#define NOREGRET_SPEEDS_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define FASTEST __attribute__((target_clones("arch=haswell", "default")))
/* For loops written for vectors of eight, chosen by hand. */
#define WIDER
#else
#define FASTEST
#endif

#endif

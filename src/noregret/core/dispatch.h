/* One binary for every machine: wider vectors are chosen when the program starts. */
#ifndef NOREGRET_DISPATCH_H
#define NOREGRET_DISPATCH_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define DISPATCHED __attribute__((target_clones("avx2", "default")))
/* For loops written for vectors of eight numbers, chosen by hand. */
#define WIDEST
#else
#define DISPATCHED
#endif

#endif

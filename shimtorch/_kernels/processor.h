/* Which level of x86-64 this processor and system can run, from CPUID itself: the compilers' __builtin_cpu_supports
   know different names of features. */
#ifndef SHIMTORCH_PROCESSOR_H
#define SHIMTORCH_PROCESSOR_H

#if defined(__x86_64__)
#include <cpuid.h>

/* the parts of the processor's state that the system saves */
static unsigned st_saved_state(void) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

#define ST_ALL(word, bits) (((word) & (bits)) == (bits))
#define ST_BIT(n) (1u << (n))

/* 2, 3 or 4, for x86-64-v2 (which is taken for granted) to x86-64-v4 */
static int st_x86_level(void) {
    unsigned a, b, c, d, c1, b7;
    if (!__get_cpuid(1, &a, &b, &c1, &d)) return 2;
    /* FMA, MOVBE, POPCNT, XSAVE in use, AVX, F16C; the system saves the registers of AVX */
    if (!ST_ALL(c1, ST_BIT(12) | ST_BIT(22) | ST_BIT(23) | ST_BIT(27) | ST_BIT(28) | ST_BIT(29))) return 2;
    if (!ST_ALL(st_saved_state(), 0x6u)) return 2;
    /* BMI, AVX2, BMI2 */
    if (!__get_cpuid_count(7, 0, &a, &b7, &c, &d) || !ST_ALL(b7, ST_BIT(3) | ST_BIT(5) | ST_BIT(8))) return 2;
    /* LZCNT */
    if (!__get_cpuid(0x80000001u, &a, &b, &c, &d) || !ST_ALL(c, ST_BIT(5))) return 2;
    /* AVX512F, DQ, CD, BW, VL; the system saves the masks and the long registers */
    if (!ST_ALL(b7, ST_BIT(16) | ST_BIT(17) | ST_BIT(28) | ST_BIT(30) | ST_BIT(31))) return 3;
    return ST_ALL(st_saved_state(), 0xe6u) ? 4 : 3;
}
#endif
#endif

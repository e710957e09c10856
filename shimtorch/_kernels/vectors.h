/* Vectors of float and double as wide as a register of the instruction set, and their fused multiply-add. */
#ifndef SHIMTORCH_KERNELS_VECTORS_H
#define SHIMTORCH_KERNELS_VECTORS_H

#include "base.h"

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

/* what one register holds, and sum + a * b */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define VECTOR_PRODUCT_f32(a, b, sum) (vec_f32) _mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(sum))
#define VECTOR_PRODUCT_f64(a, b, sum) (vec_f64) _mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(sum))
#elif defined(__FMA__)
#define VECTOR_BYTES 32
#define VECTOR_PRODUCT_f32(a, b, sum) (vec_f32) _mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(sum))
#define VECTOR_PRODUCT_f64(a, b, sum) (vec_f64) _mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(sum))
#else
#define VECTOR_BYTES 16
#define VECTOR_PRODUCT_f32 PLAIN_PRODUCT
#define VECTOR_PRODUCT_f64 PLAIN_PRODUCT
#endif
#define PLAIN_PRODUCT(a, b, sum) ((sum) + (a) * (b))

/* vec_t in registers; loose_t at any address */
#define DEFINE_VECTOR(t)                                                                                   \
    typedef t vec_##t __attribute__((vector_size(VECTOR_BYTES)));                                          \
    typedef t loose_##t __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(t)), may_alias));
DEFINE_VECTOR(f32)
DEFINE_VECTOR(f64)

#define SPREAD(t, value) ((value) - (vec_##t){0}) /* scalar minus vector: in every lane */

#endif

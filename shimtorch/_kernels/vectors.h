/* Vectors: what one register holds of each element type, and sum + a * b. Complex numbers go one by one. */
#ifndef SHIMTORCH_KERNELS_VECTORS_H
#define SHIMTORCH_KERNELS_VECTORS_H

#include "complexmath.h"

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

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
#define VECTOR_PRODUCT_u8 PLAIN_PRODUCT
#define VECTOR_PRODUCT_u16 PLAIN_PRODUCT
#define VECTOR_PRODUCT_u32 PLAIN_PRODUCT
#define VECTOR_PRODUCT_u64 PLAIN_PRODUCT
#define VECTOR_PRODUCT_c64(a, b, sum) ((sum) + cmul_c64(a, b))
#define VECTOR_PRODUCT_c128(a, b, sum) ((sum) + cmul_c128(a, b))

#define DEFINE_VECTOR(t)                                                                                   \
    typedef t vec_##t __attribute__((vector_size(VECTOR_BYTES)));                                          \
    typedef t loose_##t __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(t)), may_alias));
DEFINE_VECTOR(f32)
DEFINE_VECTOR(f64)
DEFINE_VECTOR(u8)
DEFINE_VECTOR(u16)
DEFINE_VECTOR(u32)
DEFINE_VECTOR(u64)
typedef c64 vec_c64, loose_c64; /* one by one */
typedef c128 vec_c128, loose_c128;

#define SPREAD(t, value) ((value) - (vec_##t){0}) /* scalar minus vector: in every lane */

#endif

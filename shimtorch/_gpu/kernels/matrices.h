/* What factorisations of matrices of real and of complex numbers share. */
#pragma once
#include "complexmath.h"
#include "numbers.h"

namespace shim {

enum { FACTOR_THREADS = 128 };

template <typename T>
__device__ double weight_of(T x) { return fabs((double)x); }
template <typename T>
__device__ double weight_of(complex<T> x) { return fabs((double)x.re) + fabs((double)x.im); }

template <typename T>
__device__ T conjugated(T x) { return x; }
template <typename T>
__device__ complex<T> conjugated(complex<T> x) { return conj(x); }

template <typename T>
__device__ T real_part(T x) { return x; }
template <typename T>
__device__ T real_part(complex<T> x) { return x.re; }

template <typename T>
__device__ bool is_zero(T x) { return x == T{}; }

}  // namespace shim

#define SHIM_FIELDS(...)                                                                             \
    SHIM_CASE(ST_FLOAT32, float, __VA_ARGS__) SHIM_CASE(ST_FLOAT64, double, __VA_ARGS__)             \
    SHIM_COMPLEX(__VA_ARGS__)

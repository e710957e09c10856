/* Stand-in for libcublas: plain loops, and the checks that the real library makes. */
#include <cublas_v2.h>

#include <algorithm>
#include <complex>
#include <cstdint>

#include "../../shimtorch/_gpu/kernels/numbers.h"
#include "shimemu.h"

struct cublasContext {
    cudaStream_t stream = nullptr;
};

using shimemu::enqueue;
using shimemu::fail;
using shimemu::is_device;

#define NEED(condition)                            \
    do {                                           \
        if (!(condition)) {                        \
            fail("%s: %s", __func__, #condition);  \
            return CUBLAS_STATUS_INVALID_VALUE;    \
        }                                          \
    } while (0)

namespace {

template <typename T>
T conjugate(T x) {
    return x;
}
template <typename T>
std::complex<T> conjugate(std::complex<T> x) {
    return std::conj(x);
}

/* How an element lies in memory and what it is computed in. */
template <typename T>
struct Element {
    typedef T Sum;
    static T load(T x) { return x; }
    static T store(T x) { return x; }
};
template <>
struct Element<shim::half16> {
    typedef float Sum;
    static float load(shim::half16 x) { return shim::widened(x); }
    static shim::half16 store(float x) { return shim::to_half(x); }
};
template <>
struct Element<shim::bfloat> {
    typedef float Sum;
    static float load(shim::bfloat x) { return shim::widened(x); }
    static shim::bfloat store(float x) { return shim::to_bfloat(x); }
};

struct Problem {
    cublasOperation_t transa, transb;
    int m, n, k;
    const void *a, *b;
    void *c;
    int lda, ldb, ldc;
    long long a_step, b_step, c_step;
    int batch;
};

/* Elements from the first to behind the last of a column-major matrix. */
long long span(int lead, int columns, int rows) { return columns ? (long long)lead * (columns - 1) + rows : 0; }

template <typename T>
void multiply(const Problem &p, typename Element<T>::Sum alpha, typename Element<T>::Sum beta, int which) {
    typedef typename Element<T>::Sum Sum;
    const T *a = (const T *)p.a + which * p.a_step, *b = (const T *)p.b + which * p.b_step;
    T *c = (T *)p.c + which * p.c_step;
    for (int j = 0; j < p.n; ++j)
        for (int i = 0; i < p.m; ++i) {
            Sum sum(0);
            for (int q = 0; q < p.k; ++q) {
                Sum x = Element<T>::load(p.transa ? a[q + (long long)i * p.lda] : a[i + (long long)q * p.lda]);
                Sum y = Element<T>::load(p.transb ? b[j + (long long)q * p.ldb] : b[q + (long long)j * p.ldb]);
                if (p.transa == CUBLAS_OP_C) x = conjugate(x);
                if (p.transb == CUBLAS_OP_C) y = conjugate(y);
                sum += x * y;
            }
            T &out = c[i + (long long)j * p.ldc];
            out = Element<T>::store(beta == Sum(0) ? alpha * sum : alpha * sum + beta * Element<T>::load(out));
        }
}

template <typename T>
cublasStatus_t run(cublasHandle_t handle, const Problem &p, const void *alpha, const void *beta) {
    typedef typename Element<T>::Sum Sum;
    for (long long i = 0; i < p.batch; i += std::max(1, p.batch - 1)) { /* the first and the last matrix */
        if (p.k) {
            NEED(is_device((const T *)p.a + i * p.a_step,
                           sizeof(T) * span(p.lda, p.transa ? p.m : p.k, p.transa ? p.k : p.m)));
            NEED(is_device((const T *)p.b + i * p.b_step,
                           sizeof(T) * span(p.ldb, p.transb ? p.k : p.n, p.transb ? p.n : p.k)));
        }
        NEED(is_device((T *)p.c + i * p.c_step, sizeof(T) * span(p.ldc, p.n, p.m)));
    }
    const Sum scale = *(const Sum *)alpha, keep = *(const Sum *)beta;
    enqueue(handle->stream, [=] {
        for (int i = 0; i < p.batch; ++i) multiply<T>(p, scale, keep, i);
    }, "cublasGemmStridedBatchedEx");
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t *handle) {
    int n;
    if (cudaGetDeviceCount(&n)) return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int *version) {
    *version = 130000;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void *alpha, const void *a, cudaDataType a_type,
                                          int lda, long long a_step, const void *b, cudaDataType b_type, int ldb,
                                          long long b_step, const void *beta, void *c, cudaDataType c_type, int ldc,
                                          long long c_step, int batch, cublasComputeType_t compute, cublasGemmAlgo_t) {
    NEED(handle && m >= 0 && n >= 0 && k >= 0 && batch >= 0);
    NEED(lda >= std::max(1, transa ? k : m));
    NEED(ldb >= std::max(1, transb ? n : k));
    NEED(ldc >= std::max(1, m));
    NEED(!is_device(alpha, 1) && !is_device(beta, 1)); /* the pointer mode is the host's */
    if (!m || !n || !batch) return CUBLAS_STATUS_SUCCESS;
    const Problem p{transa, transb, m, n, k, a, b, c, lda, ldb, ldc, a_step, b_step, c_step, batch};
    if (a_type != b_type || a_type != c_type) return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool single = compute == CUBLAS_COMPUTE_32F, fast = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    if (a_type == CUDA_R_32F && (single || fast)) return run<float>(handle, p, alpha, beta);
    if (a_type == CUDA_R_16F && single) return run<shim::half16>(handle, p, alpha, beta);
    if (a_type == CUDA_R_16BF && single) return run<shim::bfloat>(handle, p, alpha, beta);
    if (a_type == CUDA_C_32F && (single || fast)) return run<std::complex<float>>(handle, p, alpha, beta);
    if (a_type == CUDA_R_64F && compute == CUBLAS_COMPUTE_64F) return run<double>(handle, p, alpha, beta);
    if (a_type == CUDA_C_64F && compute == CUBLAS_COMPUTE_64F) return run<std::complex<double>>(handle, p, alpha, beta);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

}

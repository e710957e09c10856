/* Steps of optimisers: a launch moves as many parameters as fit into its arguments, a row of blocks each. */
#include "dense.h"
#include "numbers.h"

namespace shim {

struct steps {
    st_step step[SHIM_STEPS];
};

#define EACH(i) SHIM_EACH(i, s->n)
#define STEP(name) __device__ __forceinline__ void name(const st_step *s, real)
#define real float
#define ROOT sqrtf
#include "../../_kernels/optimise_body.h"
#undef real
#undef ROOT
#define real double
#define ROOT sqrt
#include "../../_kernels/optimise_body.h"
#undef real
#undef ROOT
#undef STEP

#define OPTIMISERS(X)                                                                                                \
    X(ST_SGD, sgd) X(ST_ADAM, adam) X(ST_ADADELTA, adadelta) X(ST_RMSPROP, rmsprop) X(ST_ADAGRAD, adagrad)           \
    X(ST_ADAMAX, adamax) X(ST_NADAM, nadam) X(ST_RADAM, radam) X(ST_ASGD, asgd) X(ST_RPROP, rprop)

#define KERNEL(code, name)                   \
    template <typename T>                    \
    __global__ void name##_steps(steps all) { \
        const st_step s = all.step[blockIdx.y]; \
        name(&s, T(0));                      \
    }
OPTIMISERS(KERNEL)

#define LAUNCH(code, name) \
    case code: SHIM_LAUNCH((name##_steps<T>), grid, THREADS, 0, stream, all); break;

template <typename T>
void launch_steps(int optimiser, const steps &all, dim3 grid, cudaStream_t stream) {
    switch (optimiser) { OPTIMISERS(LAUNCH) }
}

}  // namespace shim

using namespace shim;

extern "C" cudaError_t shim_take_steps(int optimiser, int dtype, const st_step *s, int count, cudaStream_t stream) {
    steps all;
    int64_t most = 0;
    for (int i = 0; i < count; i++) {
        all.step[i] = s[i];
        if (s[i].n > most) most = s[i].n;
    }
    if (most == 0) return cudaSuccess;
    const dim3 grid(blocks_for(most), (unsigned)count);
    switch (dtype) {
        SHIM_CASE(ST_FLOAT32, float, launch_steps<S>(optimiser, all, grid, stream))
        SHIM_CASE(ST_FLOAT64, double, launch_steps<S>(optimiser, all, grid, stream))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

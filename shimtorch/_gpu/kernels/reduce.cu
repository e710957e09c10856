/* Reductions. Few elements to each result: a thread computes one. Many: a block does, each thread a part, and the parts
 * are joined in a fixed order, so that a result does not depend on how the blocks run. */
#include "../../_kernels/ops.h"
#include "complexmath.h"
#include "intmath.h"
#include "kernels.h"
#include "numbers.h"

namespace shim {

/* Of a part of the elements: a value, a second one (var: the sum of squared deviations, logsumexp: the sum), and the
 * place of the value or the number of elements. */
template <typename A>
struct Part {
    A a, b;
    int64_t n;
};

template <typename T>
SHIM_BOTH bool is_nan(T x) {
    return x != x;
}

#define SHIM_EXTREME(op) \
    ((op) == ST_RED_max || (op) == ST_RED_amax || (op) == ST_RED_argmax || (op) == ST_RED_max_arg)

/* a NaN is the extreme; the first of equals is taken */
template <typename A>
SHIM_BOTH bool better(bool largest, A x, int64_t at, A best, int64_t best_at) {
    if (is_nan(best)) return is_nan(x) && at < best_at;
    if (is_nan(x)) return true;
    return x == best ? at < best_at : largest ? x > best : x < best;
}

/* ---- sums of integers and bool, counts: int64 ---- */

__device__ void join_whole(int op, Part<int64_t> &p, const Part<int64_t> &q) {
    switch (op) {
    case ST_RED_prod: p.a = wrap_mul(p.a, q.a); break;
    case ST_RED_any: p.a |= q.a; break;
    case ST_RED_all: p.a &= q.a; break;
    default: p.a = wrap_add(p.a, q.a);
    }
}

/* ---- floats ---- */

template <typename A>
__device__ void join_float(int op, Part<A> &p, const Part<A> &q) {
    if (q.n == 0) return;
    if (p.n == 0) {
        p = q;
        return;
    }
    switch (op) {
    case ST_RED_prod: p.a *= q.a; break;
    case ST_RED_var: {
        const A delta = q.a - p.a, n = (A)(p.n + q.n);
        p.a += delta * (A)q.n / n;
        p.b += q.b + delta * delta * ((A)p.n * (A)q.n / n);
        break;
    }
    case ST_RED_logsumexp: {
        const A top = is_nan(p.a) || p.a > q.a ? p.a : q.a, level = fabs(top) == A(INFINITY) ? A(0) : top;
        p.b = p.b * exp((fabs(p.a) == A(INFINITY) ? A(0) : p.a) - level) +
              q.b * exp((fabs(q.a) == A(INFINITY) ? A(0) : q.a) - level);
        p.a = top;
        break;
    }
    default: p.a += q.a;
    }
    p.n += q.n;
}

template <typename A>
__device__ Part<A> float_part(int op, A x, double param) {
    switch (op) {
    case ST_RED_sumsq: return {x * x, 0, 1};
    case ST_RED_sumabs: return {fabs(x), 0, 1};
    case ST_RED_norm_p: return {pow(fabs(x), (A)param), 0, 1};
    case ST_RED_logsumexp: return {x, exp(x - (fabs(x) == A(INFINITY) ? A(0) : x)), 1};
    default: return {x, 0, 1};
    }
}

template <typename A>
__device__ A float_result(int op, const Part<A> &p, double param) {
    switch (op) {
    case ST_RED_prod: return p.n ? p.a : A(1);
    case ST_RED_var: {
        const A divisor = (A)((double)p.n - param);
        return p.b / (divisor > 0 ? divisor : A(0));
    }
    case ST_RED_logsumexp: return p.n ? (fabs(p.a) == A(INFINITY) ? A(0) : p.a) + log(p.b) : -A(INFINITY);
    default: return p.n ? p.a : A(0);
    }
}

/* ---- one policy for each kind of reduction: Out what is written, take an element, join parts, write the result ---- */

template <typename S>
struct Sums { /* of floats: sum, prod, sumsq, sumabs, norm_p, var, logsumexp */
    typedef typename number<S>::type A;
    typedef Part<A> P;
    static __device__ P none(int) { return {0, 0, 0}; }
    static __device__ P take(int op, const char *at, int64_t, double param) {
        return float_part<A>(op, load<S>(at), param);
    }
    static __device__ void join(int op, P &p, const P &q) { join_float(op, p, q); }
    static __device__ void write(int op, const shim_reduction &r, int64_t j, const P &p) {
        store<S>(r.out + j * (int64_t)sizeof(S), float_result(op, p, r.param));
    }
};

template <typename S>
struct ComplexSums { /* sum, prod; sumsq, sumabs, norm_p into the real type */
    typedef typename number<S>::type C;
    typedef decltype(C::re) A;
    struct P {
        C a;
        int64_t n;
    };
    static __device__ P none(int op) { return {op == ST_RED_prod ? C{1, 0} : C{0, 0}, 0}; }
    static __device__ P take(int op, const char *at, int64_t, double param) {
        const C x = load<S>(at);
        switch (op) {
        case ST_RED_sumsq: return {{x.re * x.re + x.im * x.im, 0}, 1};
        case ST_RED_sumabs: return {{size_of(x), 0}, 1};
        case ST_RED_norm_p: return {{pow(size_of(x), (A)param), 0}, 1};
        default: return {x, 1};
        }
    }
    static __device__ void join(int op, P &p, const P &q) { p.a = op == ST_RED_prod ? p.a * q.a : p.a + q.a; }
    static __device__ void write(int op, const shim_reduction &r, int64_t j, const P &p) {
        if (op == ST_RED_sum || op == ST_RED_prod)
            ((C *)r.out)[j] = p.a;
        else
            ((A *)r.out)[j] = p.a.re;
    }
};

template <typename S>
struct Wholes { /* sum and prod of integers, count_nonzero: into int64 */
    typedef Part<int64_t> P;
    static __device__ P none(int op) { return {op == ST_RED_prod, 0, 0}; }
    static __device__ bool nonzero(const char *at) {
        const auto x = load<S>(at);
        if constexpr (number<S>::category == COMPLEX)
            return x.re != 0 || x.im != 0;
        else
            return x != 0;
    }
    static __device__ P take(int op, const char *at, int64_t, double) {
        if constexpr (number<S>::category == INTEGER || number<S>::category == BOOLEAN)
            if (op != ST_RED_count_nonzero) return {(int64_t)load<S>(at), 0, 0};
        return {nonzero(at), 0, 0};
    }
    static __device__ void join(int op, P &p, const P &q) { join_whole(op, p, q); }
    static __device__ void write(int, const shim_reduction &r, int64_t j, const P &p) { ((int64_t *)r.out)[j] = p.a; }
};

template <typename S>
struct Tests : Wholes<S> { /* any, all: into bool */
    typedef Part<int64_t> P;
    static __device__ P none(int op) { return {op == ST_RED_all, 0, 0}; }
    static __device__ P take(int, const char *at, int64_t, double) { return {Wholes<S>::nonzero(at), 0, 0}; }
    static __device__ void write(int, const shim_reduction &r, int64_t j, const P &p) {
        ((uint8_t *)r.out)[j] = p.a != 0;
    }
};

template <typename S>
struct Extremes { /* max, min and where they are */
    typedef typename number<S>::type A;
    typedef Part<A> P;
    static __device__ P none(int) { return {0, 0, -1}; }
    static __device__ P take(int, const char *at, int64_t i, double) { return {load<S>(at), 0, i}; }
    static __device__ void join(int op, P &p, const P &q) {
        if (q.n >= 0 && (p.n < 0 || better(SHIM_EXTREME(op), q.a, q.n, p.a, p.n))) p = q;
    }
    static __device__ void write(int op, const shim_reduction &r, int64_t j, const P &p) {
        if (op == ST_RED_argmax || op == ST_RED_argmin) {
            ((int64_t *)r.out)[j] = p.n;
            return;
        }
        store<S>(r.out + j * (int64_t)sizeof(S), p.a);
        if (r.index) r.index[j] = p.n;
    }
};

/* ---- the two kernels ---- */

__device__ __forceinline__ int64_t offset_of(int ndim, const int64_t *shape, const int64_t *strides, int64_t i) {
    int64_t offset = 0;
    for (int d = ndim - 1; d >= 0; d--) {
        const int64_t rest = d > 0 ? i / shape[d] : 0;
        offset += (d > 0 ? i - rest * shape[d] : i) * strides[d];
        i = rest;
    }
    return offset;
}

template <typename R>
__device__ typename R::P reduced(int op, const shim_reduction &r, int64_t j, int64_t first, int64_t step) {
    const char *from = r.from + offset_of(r.kept_ndim, r.kept_shape, r.kept_strides, j);
    typename R::P p = R::none(op);
    for (int64_t i = first; i < r.n_reduced; i += step)
        R::join(op, p,
                R::take(op, from + offset_of(r.reduced_ndim, r.reduced_shape, r.reduced_strides, i), i, r.param));
    return p;
}

template <typename R>
__global__ void reduce_by_thread(int op, shim_reduction r) {
    SHIM_EACH(j, r.n_kept) R::write(op, r, j, reduced<R>(op, r, j, 0, 1));
}

enum { REDUCE_THREADS = 128 };

template <typename R>
__global__ void reduce_by_block(int op, shim_reduction r) {
    __shared__ unsigned char raw[REDUCE_THREADS * sizeof(typename R::P) + 16];
    typename R::P *parts = (typename R::P *)(raw + (16 - (uintptr_t)raw % 16) % 16);
    for (int64_t j = blockIdx.x; j < r.n_kept; j += gridDim.x) {
        parts[threadIdx.x] = reduced<R>(op, r, j, threadIdx.x, blockDim.x);
        __syncthreads();
        for (unsigned half = REDUCE_THREADS / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) R::join(op, parts[threadIdx.x], parts[threadIdx.x + half]);
            __syncthreads();
        }
        if (threadIdx.x == 0) R::write(op, r, j, parts[0]);
        __syncthreads();
    }
}

template <typename R>
cudaError_t launch(int op, const shim_reduction &r, cudaStream_t stream) {
    if (r.n_reduced < 4 * REDUCE_THREADS && r.n_reduced < 16 * r.n_kept)
        SHIM_LAUNCH((reduce_by_thread<R>), blocks_for(r.n_kept), THREADS, 0, stream, op, r);
    else
        SHIM_LAUNCH((reduce_by_block<R>), blocks_for(r.n_kept, 1), REDUCE_THREADS, 0, stream, op, r);
    return cudaGetLastError();
}

bool is_sum(int op) { return op == ST_RED_sum || op == ST_RED_prod; }
bool is_size(int op) { return op == ST_RED_sumsq || op == ST_RED_sumabs || op == ST_RED_norm_p; }
bool is_moment(int op) { return op == ST_RED_var || op == ST_RED_logsumexp; }
bool is_test(int op) { return op == ST_RED_any || op == ST_RED_all; }
bool is_extreme(int op) {
    return SHIM_EXTREME(op) || op == ST_RED_min || op == ST_RED_amin || op == ST_RED_argmin || op == ST_RED_min_arg;
}

}  // namespace shim

using namespace shim;

extern "C" int shim_has_reduction(int op, int dtype) {
    const bool is_complex = dtype == ST_COMPLEX64 || dtype == ST_COMPLEX128;
    const bool is_float = dtype >= ST_FLOAT16 && dtype <= ST_FLOAT64;
    return is_sum(op) || is_test(op) || op == ST_RED_count_nonzero || (is_extreme(op) && !is_complex) ||
           (is_size(op) && (is_float || is_complex)) || (is_moment(op) && is_float);
}

extern "C" cudaError_t shim_reduce(int op, int dtype, const shim_reduction *r, cudaStream_t stream) {
    if (r->n_kept == 0) return cudaSuccess;
    if (is_test(op)) {
        switch (dtype) { SHIM_ALL(return launch<Tests<S>>(op, *r, stream)) }
    } else if (op == ST_RED_count_nonzero) {
        switch (dtype) { SHIM_ALL(return launch<Wholes<S>>(op, *r, stream)) }
    } else if (is_extreme(op)) {
        switch (dtype) {
            SHIM_CASE(ST_BOOL, boolean, return launch<Extremes<S>>(op, *r, stream))
            SHIM_INTEGERS(return launch<Extremes<S>>(op, *r, stream))
            SHIM_FLOATS(return launch<Extremes<S>>(op, *r, stream))
        }
    } else {
        switch (dtype) {
            SHIM_CASE(ST_BOOL, boolean, return launch<Wholes<S>>(op, *r, stream))
            SHIM_INTEGERS(return launch<Wholes<S>>(op, *r, stream))
            SHIM_FLOATS(return launch<Sums<S>>(op, *r, stream))
            SHIM_COMPLEX(return launch<ComplexSums<S>>(op, *r, stream))
        }
    }
    return cudaErrorNotSupported;
}

/* Device-side words for kernels that the host compiler builds. A thread of a block is a fiber; see fibers.cpp. */
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#define __shared__ static
#undef __forceinline__
#define __forceinline__ inline

namespace shimemu {

struct Index {
    unsigned x, y, z;
};
extern Index thread_index, block_index;
extern dim3 block_size, grid_size;

void barrier(const char *file, int line);
uint64_t warp_exchange(uint64_t mine, int source_lane, unsigned mask); /* the value of source_lane */
unsigned warp_ballot(bool vote, unsigned mask);
void *dynamic_shared();

cudaError_t run_grid(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, std::function<void()> body,
                     const char *name);
void register_kernel(const void *function, std::function<std::function<void()>(void **)> bind);

/* Binds the argument array of a launch through nvcc's stubs to the host version of the kernel. */
template <auto K>
struct Binder;
template <typename... A, void (*K)(A...)>
struct Binder<K> {
    template <size_t... I>
    static std::tuple<std::decay_t<A>...> unpack(void **args, std::index_sequence<I...>) {
        return std::tuple<std::decay_t<A>...>(*static_cast<std::decay_t<A> *>(args[I])...);
    }
    static std::function<void()> bind(void **args) {
        auto values = unpack(args, std::index_sequence_for<A...>());
        return [values] { std::apply(K, values); };
    }
    static inline bool done = (register_kernel((const void *)K, &Binder::bind), true);
};

template <auto K, typename... A>
void launch(const char *name, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, A... args) {
    (void)Binder<K>::done;
    run_grid(grid, block, shared, stream, [=] { K(args...); }, name);
}

template <typename T>
T shuffle(T value, int source, unsigned mask) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
    uint64_t raw = 0;
    std::memcpy(&raw, &value, sizeof(T));
    raw = warp_exchange(raw, source, mask);
    std::memcpy(&value, &raw, sizeof(T));
    return value;
}

inline int lane() {
    return (int)((thread_index.x + block_size.x * (thread_index.y + block_size.y * thread_index.z)) & 31);
}

}  // namespace shimemu

#define threadIdx ::shimemu::thread_index
#define blockIdx ::shimemu::block_index
#define blockDim ::shimemu::block_size
#define gridDim ::shimemu::grid_size
#define __syncthreads() ::shimemu::barrier(__FILE__, __LINE__)
#define __syncwarp(...) ((void)::shimemu::warp_ballot(true, 0xffffffffu))
#define __popc(bits) __builtin_popcount(bits)
#define __ballot_sync(mask, vote) ::shimemu::warp_ballot((vote), (mask))

template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int = 32) {
    return shimemu::shuffle(value, source & 31, mask);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned step, int = 32) {
    const int lane = shimemu::lane();
    return shimemu::shuffle(value, lane + (int)step < 32 ? lane + (int)step : lane, mask);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned step, int = 32) {
    const int lane = shimemu::lane();
    return shimemu::shuffle(value, lane >= (int)step ? lane - (int)step : lane, mask);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int = 32) {
    return shimemu::shuffle(value, shimemu::lane() ^ bits, mask);
}

/* Blocks run one after another and a fiber is never interrupted, so plain code is atomic. */
template <typename T, typename U>
T atomicAdd(T *at, U value) {
    const T old = *at;
    *at = old + (T)value;
    return old;
}
template <typename T>
T atomicMin(T *at, T value) {
    const T old = *at;
    if (value < old) *at = value;
    return old;
}
template <typename T>
T atomicCAS(T *at, T expected, T value) {
    const T old = *at;
    if (old == expected) *at = value;
    return old;
}
template <typename T>
T atomicExch(T *at, T value) {
    const T old = *at;
    *at = value;
    return old;
}

/* Where entries lie: checks of indices, numbers of cells and their coordinates, row pointers, blocks of entries moved. */
#include "launch.h"
#include "sparse.h"

namespace shim {

struct PerDim { /* a number for each dimension, by value */
    int64_t of[SHIM_SPARSE_DIMS];
};

inline PerDim per_dim(const int64_t *numbers, int dims) {
    PerDim r = {};
    for (int d = 0; d < dims; d++) r.of[d] = numbers[d];
    return r;
}

__global__ void outside(shim_entries e, PerDim sizes, unsigned long long *found) {
    SHIM_EACH(i, e.nnz) {
        for (int d = 0; d < e.dims; d++) {
            const int64_t index = e.data[d * e.dim_step + i * e.entry_step];
            if (index < 0 || index >= sizes.of[d]) atomicMin(found, (unsigned long long)(d * e.nnz + i));
        }
    }
}

__global__ void number_cells(shim_entries e, PerDim steps, int64_t *out) {
    SHIM_EACH(i, e.nnz) {
        int64_t cell = 0;
        for (int d = 0; d < e.dims; d++) cell += e.data[d * e.dim_step + i * e.entry_step] * steps.of[d];
        out[i] = cell;
    }
}

__global__ void find_coordinates(const int64_t *cells, int64_t n, int dims, PerDim sizes, int64_t *out) {
    SHIM_EACH(i, n) {
        int64_t rest = cells[i];
        for (int d = dims - 1; d >= 0; d--) {
            const int64_t size = sizes.of[d] > 0 ? sizes.of[d] : 1, next = rest / size;
            out[d * n + i] = d > 0 ? rest - next * size : rest;
            rest = next;
        }
    }
}

__global__ void point_to_rows(const int64_t *rows, int64_t step, int64_t nnz, int64_t n_rows, int64_t *pointer) {
    SHIM_EACH(r, n_rows + 1) {
        int64_t low = 0, high = nnz;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (rows[middle * step] < r)
                low = middle + 1;
            else
                high = middle;
        }
        pointer[r] = low;
    }
}

/* The last of n ascending starts that is not above i. */
__device__ __forceinline__ int64_t part_of(const int64_t *starts, int64_t n, int64_t i) {
    int64_t low = 0, high = n;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (starts[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

__global__ void number_rows(const int64_t *pointer, int64_t n_rows, int64_t nnz, int64_t *rows) {
    SHIM_EACH(i, nnz) rows[i] = part_of(pointer, n_rows, i);
}

__global__ void count_rows(const int64_t *pointer, const int64_t *chosen, int64_t n, int64_t *counts) {
    SHIM_EACH(i, n) counts[i] = pointer[chosen[i] + 1] - pointer[chosen[i]];
}

__global__ void list_rows(const int64_t *pointer, const int64_t *chosen, const int64_t *starts, int64_t n, int64_t total,
                          int64_t *entries, int64_t *numbers) {
    SHIM_EACH(i, total) {
        const int64_t k = part_of(starts, n, i);
        entries[i] = pointer[chosen[k]] + i - starts[k];
        numbers[i] = k;
    }
}

struct bytes16 {
    uint64_t part[2];
};

template <typename W>
__global__ void move_blocks(const W *from, const int64_t *numbers, int64_t n, int64_t width, W *to, int put) {
    SHIM_EACH(i, n * width) {
        const int64_t k = i / width, at = numbers[k] * width + i - k * width;
        if (put)
            to[at] = from[i];
        else
            to[i] = from[at];
    }
}

template <typename W>
cudaError_t launch_move(const void *from, const int64_t *numbers, int64_t n, int64_t bytes, void *to, int put,
                        cudaStream_t stream) {
    const int64_t width = bytes / (int64_t)sizeof(W);
    SHIM_LAUNCH((move_blocks<W>), blocks_for(n * width), THREADS, 0, stream, (const W *)from, numbers, n, width, (W *)to,
                put);
    return cudaGetLastError();
}

cudaError_t move(const void *from, const int64_t *numbers, int64_t n, int64_t bytes, int unit, void *to, int put,
                 cudaStream_t stream) {
    if (n == 0 || bytes == 0) return cudaSuccess;
    switch (unit) {
    case 1: return launch_move<uint8_t>(from, numbers, n, bytes, to, put, stream);
    case 2: return launch_move<uint16_t>(from, numbers, n, bytes, to, put, stream);
    case 4: return launch_move<uint32_t>(from, numbers, n, bytes, to, put, stream);
    case 8: return launch_move<uint64_t>(from, numbers, n, bytes, to, put, stream);
    default: return launch_move<bytes16>(from, numbers, n, bytes, to, put, stream);
    }
}

}  // namespace shim

using namespace shim;

extern "C" cudaError_t shim_outside(const shim_entries *e, const int64_t *sizes, uint64_t *found, cudaStream_t stream) {
    if (e->nnz == 0 || e->dims == 0) return cudaSuccess;
    SHIM_LAUNCH((outside), blocks_for(e->nnz), THREADS, 0, stream, *e, per_dim(sizes, e->dims),
                (unsigned long long *)found);
    return cudaGetLastError();
}

extern "C" cudaError_t shim_cells(const shim_entries *e, const int64_t *steps, int64_t *out, cudaStream_t stream) {
    if (e->nnz == 0) return cudaSuccess;
    SHIM_LAUNCH((number_cells), blocks_for(e->nnz), THREADS, 0, stream, *e, per_dim(steps, e->dims), out);
    return cudaGetLastError();
}

extern "C" cudaError_t shim_coordinates(const int64_t *cells, int64_t n, int dims, const int64_t *sizes, int64_t *out,
                                        cudaStream_t stream) {
    if (n == 0 || dims == 0) return cudaSuccess;
    SHIM_LAUNCH((find_coordinates), blocks_for(n), THREADS, 0, stream, cells, n, dims, per_dim(sizes, dims), out);
    return cudaGetLastError();
}

extern "C" cudaError_t shim_row_pointer(const int64_t *rows, int64_t step, int64_t nnz, int64_t n_rows,
                                        int64_t *pointer, cudaStream_t stream) {
    SHIM_LAUNCH((point_to_rows), blocks_for(n_rows + 1), THREADS, 0, stream, rows, step, nnz, n_rows, pointer);
    return cudaGetLastError();
}

extern "C" cudaError_t shim_row_numbers(const int64_t *pointer, int64_t n_rows, int64_t nnz, int64_t *rows,
                                        cudaStream_t stream) {
    if (nnz == 0) return cudaSuccess;
    SHIM_LAUNCH((number_rows), blocks_for(nnz), THREADS, 0, stream, pointer, n_rows, nnz, rows);
    return cudaGetLastError();
}

extern "C" cudaError_t shim_take_blocks(const void *from, const int64_t *numbers, int64_t n, int64_t bytes, int unit,
                                        void *to, cudaStream_t stream) {
    return move(from, numbers, n, bytes, unit, to, 0, stream);
}

extern "C" cudaError_t shim_put_blocks(const void *from, const int64_t *numbers, int64_t n, int64_t bytes, int unit,
                                       void *to, cudaStream_t stream) {
    return move(from, numbers, n, bytes, unit, to, 1, stream);
}

extern "C" cudaError_t shim_row_counts(const int64_t *pointer, const int64_t *chosen, int64_t n, int64_t *counts,
                                       cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    SHIM_LAUNCH((count_rows), blocks_for(n), THREADS, 0, stream, pointer, chosen, n, counts);
    return cudaGetLastError();
}

extern "C" cudaError_t shim_row_entries(const int64_t *pointer, const int64_t *chosen, const int64_t *starts, int64_t n,
                                        int64_t total, int64_t *entries, int64_t *numbers, cudaStream_t stream) {
    if (total == 0) return cudaSuccess;
    SHIM_LAUNCH((list_rows), blocks_for(total), THREADS, 0, stream, pointer, chosen, starts, n, total, entries, numbers);
    return cudaGetLastError();
}

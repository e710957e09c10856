/* Mistakes in calls of cuSPARSE that the emulator is there to find: `sparse_faults NAME` multiplies a matrix with that one
 * mistake, and prints the answer of the call. tests/cuda/test_sparse_faults.py says what must come of each. */
#include <cusparse.h>

#include <cstdio>
#include <cstring>

namespace {

template <typename T, int N>
T *on_device(const T (&values)[N], int extra = 0) {
    char *at = nullptr;
    cudaMalloc((void **)&at, sizeof(values) + extra);
    cudaMemcpyAsync(at + extra, values, sizeof(values), cudaMemcpyHostToDevice, nullptr);
    cudaStreamSynchronize(nullptr);
    return (T *)(at + extra);
}

void say(cusparseStatus_t status) { printf("%s\n", cusparseGetErrorName(status)); }

/* [[0, 2], [3, 0]] */
struct Problem {
    int64_t host_pointer[3] = {0, 1, 2}, host_columns[2] = {1, 0};
    float host_values[2] = {2, 3}, host_dense[4] = {1, 2, 3, 4}, host_out[4] = {-1, -1, -1, -1}, one = 1, zero = 0;
    int64_t *pointer = on_device(host_pointer), *columns = on_device(host_columns);
    float *values = on_device(host_values), *dense = on_device(host_dense), *out = on_device(host_out);
    cusparseHandle_t handle;
    cusparseSpMatDescr_t a;
    cusparseDnMatDescr_t b, c;
    void *buffer = nullptr;
    size_t size = 0;

    Problem() {
        cusparseCreate(&handle);
        describe();
    }
    void describe() {
        cusparseCreateCsr(&a, 2, 2, 2, pointer, columns, values, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_64I,
                          CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
        cusparseCreateDnMat(&b, 2, 2, 2, dense, CUDA_R_32F, CUSPARSE_ORDER_ROW);
        cusparseCreateDnMat(&c, 2, 2, 2, out, CUDA_R_32F, CUSPARSE_ORDER_ROW);
    }
    void ask(cusparseSpMMAlg_t algorithm = CUSPARSE_SPMM_CSR_ALG2) {
        cusparseSpMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b,
                                &zero, c, CUDA_R_32F, algorithm, &size);
        cudaMalloc(&buffer, size);
    }
    cusparseStatus_t multiply(cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE,
                              cusparseSpMMAlg_t algorithm = CUSPARSE_SPMM_CSR_ALG2) {
        return cusparseSpMM(handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero, c, CUDA_R_32F, algorithm,
                            buffer);
    }
    void result(cudaStream_t stream = nullptr) {
        cudaMemcpyAsync(host_out, out, sizeof host_out, cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
        printf("%g %g %g %g\n", host_out[0], host_out[1], host_out[2], host_out[3]);
    }
};

void sparse_product(bool in_order) {
    Problem p;
    cusparseSpMatDescr_t c;
    cusparseSpGEMMDescr_t product;
    size_t first = 0, second = 0;
    void *space = nullptr;
    const auto none = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const auto way = CUSPARSE_SPGEMM_DEFAULT;
    cusparseCreateCsr(&c, 2, 2, 0, p.pointer, nullptr, nullptr, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_64I,
                      CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseSpGEMM_createDescr(&product);
    if (in_order) {
        cusparseSpGEMM_workEstimation(p.handle, none, none, &p.one, p.a, p.a, &p.zero, c, CUDA_R_32F, way, product,
                                      &first, nullptr);
        cudaMalloc(&space, first);
        cusparseSpGEMM_workEstimation(p.handle, none, none, &p.one, p.a, p.a, &p.zero, c, CUDA_R_32F, way, product,
                                      &first, space);
    }
    say(cusparseSpGEMM_compute(p.handle, none, none, &p.one, p.a, p.a, &p.zero, c, CUDA_R_32F, way, product, &second,
                               nullptr));
}

void run(const char *name) {
    Problem p;
    if (!strcmp(name, "no_fault")) {
        p.ask();
        say(p.multiply());
        p.result();
    } else if (!strcmp(name, "no_buffer")) {
        say(p.multiply());
    } else if (!strcmp(name, "small_buffer")) {
        p.ask();
        cudaMalloc(&p.buffer, 16);
        say(p.multiply());
    } else if (!strcmp(name, "host_buffer")) {
        static char here[4096];
        p.buffer = here;
        say(p.multiply());
    } else if (!strcmp(name, "host_values")) {
        p.values = p.host_values;
        p.describe();
        p.ask();
        say(p.multiply());
    } else if (!strcmp(name, "null_columns")) {
        p.columns = nullptr;
        cusparseSpMatDescr_t a;
        say(cusparseCreateCsr(&a, 2, 2, 2, p.pointer, nullptr, p.values, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_64I,
                              CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    } else if (!strcmp(name, "mixed_indices")) {
        cusparseSpMatDescr_t a;
        say(cusparseCreateCsr(&a, 2, 2, 2, p.pointer, p.columns, p.values, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    } else if (!strcmp(name, "unaligned")) {
        p.values = on_device(p.host_values, 2);
        p.describe();
        p.ask();
        say(p.multiply());
    } else if (!strcmp(name, "short_dense")) {
        const float one[1] = {1};
        p.dense = on_device(one) + 63; /* blocks are of 256 bytes at least */
        p.describe();
        p.ask();
        say(p.multiply());
    } else if (!strcmp(name, "wrong_sizes")) {
        cusparseCreateDnMat(&p.b, 1, 2, 2, p.dense, CUDA_R_32F, CUSPARSE_ORDER_ROW);
        p.ask();
        say(p.multiply());
    } else if (!strcmp(name, "transposed")) {
        p.ask();
        say(p.multiply(CUSPARSE_OPERATION_TRANSPOSE, CUSPARSE_SPMM_CSR_ALG3));
    } else if (!strcmp(name, "dead_descriptor")) {
        p.ask();
        cusparseDestroyDnMat(p.b);
        say(p.multiply());
    } else if (!strcmp(name, "outside")) {
        p.host_columns[0] = 7;
        p.columns = on_device(p.host_columns);
        p.describe();
        p.ask();
        p.multiply();
        cudaDeviceSynchronize();
    } else if (!strcmp(name, "device_scalars")) {
        p.ask();
        const float one[1] = {1};
        say(cusparseSpMM(p.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, on_device(one),
                         p.a, p.b, &p.zero, p.c, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG2, p.buffer));
    } else if (!strcmp(name, "missing_wait")) {
        cudaStream_t one, other;
        cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
        p.ask();
        cusparseSetStream(p.handle, one);
        p.multiply();
        p.result(other);
    } else if (!strcmp(name, "product_in_order")) {
        sparse_product(true);
    } else if (!strcmp(name, "product_without_estimate")) {
        sparse_product(false);
    } else {
        printf("unknown\n");
    }
}

}  // namespace

int main(int argc, char **argv) {
    run(argc > 1 ? argv[1] : "no_fault");
    return 0;
}

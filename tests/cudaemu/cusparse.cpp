/* Stand-in for libcusparse: plain loops, and the checks that the real library makes or that its results depend on. It is told
 * nothing but what it is given: sizes of workspaces, order of calls, descriptors, pointers, alignment. */
#include <cusparse.h>

#include <algorithm>
#include <complex>
#include <map>
#include <set>
#include <vector>

#include "shimemu.h"

struct cusparseContext {
    cudaStream_t stream = nullptr;
};
struct cusparseSpMatDescr {
    int64_t rows, columns, nnz;
    void *pointer, *indices, *values;
    cusparseIndexType_t index;
    cudaDataType type;
};
struct cusparseDnMatDescr {
    int64_t rows, columns, lead;
    void *values;
    cudaDataType type;
    cusparseOrder_t order;
};
struct cusparseDnVecDescr {
    int64_t n;
    void *values;
    cudaDataType type;
};
struct cusparseSpGEMMDescr {
    int stage = 0; /* 1: work was estimated, 2: memory was, 3: the product is known */
    void *first = nullptr;
    std::vector<int64_t> pointer, columns;
    std::vector<std::complex<double>> values;
};

typedef std::complex<double> Number;
using shimemu::enqueue;
using shimemu::fail;
using shimemu::is_device;

#define REFUSE_UNLESS(condition, status)          \
    do {                                          \
        if (!(condition)) {                       \
            fail("%s: %s", __func__, #condition); \
            return status;                        \
        }                                         \
    } while (0)
#define NEED(condition) REFUSE_UNLESS(condition, CUSPARSE_STATUS_INVALID_VALUE)
#define SUPPORTED(condition) REFUSE_UNLESS(condition, CUSPARSE_STATUS_NOT_SUPPORTED)

namespace {

std::set<const void *> &living() { /* handles and descriptors */
    static auto *all = new std::set<const void *>;
    return *all;
}

template <typename T>
T *born(T *made) {
    std::lock_guard<std::recursive_mutex> guard(shimemu::lock());
    living().insert(made);
    return made;
}

bool alive(const void *p) {
    std::lock_guard<std::recursive_mutex> guard(shimemu::lock());
    return living().count(p) > 0;
}

template <typename T>
cusparseStatus_t buried(T *p) {
    std::lock_guard<std::recursive_mutex> guard(shimemu::lock());
    REFUSE_UNLESS(living().erase(p), CUSPARSE_STATUS_INVALID_VALUE);
    delete p;
    return CUSPARSE_STATUS_SUCCESS;
}

size_t size_of(cudaDataType t) { return t == CUDA_R_32F ? 4 : t == CUDA_C_64F ? 16 : 8; }
size_t size_of(cusparseIndexType_t t) { return t == CUSPARSE_INDEX_64I ? 8 : 4; }
bool known(cudaDataType t) { return t == CUDA_R_32F || t == CUDA_R_64F || t == CUDA_C_32F || t == CUDA_C_64F; }
bool aligned(const void *p, size_t to) { return (uintptr_t)p % to == 0; }

Number number(const void *p, int64_t i, cudaDataType t) {
    switch (t) {
    case CUDA_R_32F: return ((const float *)p)[i];
    case CUDA_R_64F: return ((const double *)p)[i];
    case CUDA_C_32F: return ((const std::complex<float> *)p)[i];
    default: return ((const Number *)p)[i];
    }
}

void put(void *p, int64_t i, Number x, cudaDataType t) {
    switch (t) {
    case CUDA_R_32F: ((float *)p)[i] = (float)x.real(); break;
    case CUDA_R_64F: ((double *)p)[i] = x.real(); break;
    case CUDA_C_32F: ((std::complex<float> *)p)[i] = std::complex<float>(x); break;
    default: ((Number *)p)[i] = x;
    }
}

int64_t index_at(const void *p, int64_t i, cusparseIndexType_t t) {
    return t == CUSPARSE_INDEX_64I ? ((const int64_t *)p)[i] : ((const int32_t *)p)[i];
}

void put_index(void *p, int64_t i, int64_t x, cusparseIndexType_t t) {
    if (t == CUSPARSE_INDEX_64I)
        ((int64_t *)p)[i] = x;
    else
        ((int32_t *)p)[i] = (int32_t)x;
}

/* Whether arrays lie wholly in live blocks, and are aligned as their elements. */
bool there(const cusparseSpMatDescr &m) {
    return alive(&m) && is_device(m.pointer, (m.rows + 1) * size_of(m.index)) && aligned(m.pointer, size_of(m.index)) &&
           (!m.nnz || (is_device(m.indices, m.nnz * size_of(m.index)) && is_device(m.values, m.nnz * size_of(m.type)) &&
                       aligned(m.indices, size_of(m.index)) && aligned(m.values, size_of(m.type))));
}
bool there(const cusparseDnMatDescr &m) {
    const bool by_row = m.order == CUSPARSE_ORDER_ROW;
    const int64_t outer = by_row ? m.rows : m.columns, inner = by_row ? m.columns : m.rows;
    return alive(&m) && (!outer || !inner || (is_device(m.values, ((outer - 1) * m.lead + inner) * size_of(m.type)) &&
                                              aligned(m.values, size_of(m.type))));
}
bool there(const cusparseDnVecDescr &v) {
    return alive(&v) && (!v.n || (is_device(v.values, v.n * size_of(v.type)) && aligned(v.values, size_of(v.type))));
}

/* The workspaces that are asked for: of sizes that nobody would guess. */
size_t space_of(const cusparseSpMatDescr &m, int64_t width) { return 304 + 8 * (size_t)m.rows + 16 * (size_t)width; }
bool roomy(const void *buffer, size_t size) { return is_device(buffer, size) && aligned(buffer, 16); }

/* f(row, column, place) for each entry; what is outside is reported, as the real library would read anywhere. */
template <typename F>
void each(const cusparseSpMatDescr &m, const char *who, F f) {
    for (int64_t r = 0; r < m.rows; ++r) {
        const int64_t from = index_at(m.pointer, r, m.index), to = index_at(m.pointer, r + 1, m.index);
        if (from < 0 || to < from || to > m.nnz) return fail("%s: a row pointer is outside of the entries", who);
        for (int64_t k = from; k < to; ++k) {
            const int64_t c = index_at(m.indices, k, m.index);
            if (c < 0 || c >= m.columns) return fail("%s: a column index is outside of the matrix", who);
            f(r, c, k);
        }
    }
}

int64_t place_of(const cusparseDnMatDescr &m, int64_t i, int64_t j) {
    return m.order == CUSPARSE_ORDER_ROW ? i * m.lead + j : i + j * m.lead;
}

Number scaled(Number alpha, Number sum, Number beta, const void *old, int64_t at, cudaDataType t) {
    return alpha * sum + (beta == Number(0) ? Number(0) : beta * number(old, at, t));
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle) {
    int n;
    if (cudaGetDeviceCount(&n)) return CUSPARSE_STATUS_NOT_INITIALIZED;
    *handle = born(new cusparseContext);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) { return buried(handle); }

cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
    NEED(alive(handle));
    handle->stream = stream;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version) {
    NEED(alive(handle));
    *version = (int)shimemu::setting("SHIMEMU_CUSPARSE", CUSPARSE_VERSION);
    return CUSPARSE_STATUS_SUCCESS;
}

const char *cusparseGetErrorName(cusparseStatus_t status) {
    switch (status) {
    case CUSPARSE_STATUS_SUCCESS: return "CUSPARSE_STATUS_SUCCESS";
    case CUSPARSE_STATUS_NOT_INITIALIZED: return "CUSPARSE_STATUS_NOT_INITIALIZED";
    case CUSPARSE_STATUS_INVALID_VALUE: return "CUSPARSE_STATUS_INVALID_VALUE";
    case CUSPARSE_STATUS_NOT_SUPPORTED: return "CUSPARSE_STATUS_NOT_SUPPORTED";
    case CUSPARSE_STATUS_INSUFFICIENT_RESOURCES: return "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES";
    }
    return "unknown";
}

/* ---- descriptors ---- */

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *matrix, int64_t rows, int64_t columns, int64_t nnz,
                                   void *pointer, void *indices, void *values, cusparseIndexType_t pointer_type,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {
    NEED(matrix && rows >= 0 && columns >= 0 && nnz >= 0);
    NEED(pointer && (nnz == 0 || (indices && values)));
    SUPPORTED(pointer_type == index_type && base == CUSPARSE_INDEX_BASE_ZERO && known(type));
    *matrix = born(new cusparseSpMatDescr{rows, columns, nnz, pointer, indices, values, index_type, type});
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) { return buried(matrix); }

cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t *rows, int64_t *columns, int64_t *nnz) {
    NEED(alive(matrix));
    *rows = matrix->rows;
    *columns = matrix->columns;
    *nnz = matrix->nnz;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void *pointer, void *indices, void *values) {
    NEED(alive(matrix) && pointer && (matrix->nnz == 0 || (indices && values)));
    matrix->pointer = pointer;
    matrix->indices = indices;
    matrix->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *matrix, int64_t rows, int64_t columns, int64_t lead,
                                     void *values, cudaDataType type, cusparseOrder_t order) {
    NEED(matrix && rows >= 0 && columns >= 0 && values);
    NEED(lead >= (order == CUSPARSE_ORDER_ROW ? columns : rows));
    SUPPORTED(known(type));
    *matrix = born(new cusparseDnMatDescr{rows, columns, lead, values, type, order});
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) { return buried(matrix); }

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *vector, int64_t n, void *values, cudaDataType type) {
    NEED(vector && n >= 0 && values);
    SUPPORTED(known(type));
    *vector = born(new cusparseDnVecDescr{n, values, type});
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) { return buried(vector); }

/* ---- a sparse matrix times a dense one, or a vector ---- */

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                         const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void *beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t algorithm, size_t *size) {
    NEED(alive(handle) && alive(a) && alive(b) && alive(c) && alpha && beta && size);
    NEED(a->type == compute && b->type == compute && c->type == compute);
    SUPPORTED(op_a == CUSPARSE_OPERATION_NON_TRANSPOSE || algorithm != CUSPARSE_SPMM_CSR_ALG3);
    SUPPORTED(op_b == CUSPARSE_OPERATION_NON_TRANSPOSE || b->order == CUSPARSE_ORDER_ROW);
    *size = space_of(*a, c->columns);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                              const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void *beta, cusparseDnMatDescr_t c, cudaDataType compute,
                              cusparseSpMMAlg_t algorithm, void *buffer) {
    NEED(alive(handle) && alive(a) && alive(b) && alive(c) && alpha && beta);
    NEED(!is_device(alpha, 1) && !is_device(beta, 1)); /* the pointer mode is the host's */
    NEED(a->type == compute && b->type == compute && c->type == compute);
    SUPPORTED(op_a == CUSPARSE_OPERATION_NON_TRANSPOSE && op_b == CUSPARSE_OPERATION_NON_TRANSPOSE);
    SUPPORTED(algorithm == CUSPARSE_SPMM_CSR_ALG2 || algorithm == CUSPARSE_SPMM_CSR_ALG3 ||
              algorithm == CUSPARSE_SPMM_ALG_DEFAULT);
    SUPPORTED(algorithm != CUSPARSE_SPMM_CSR_ALG2 || (b->order == CUSPARSE_ORDER_ROW && c->order == CUSPARSE_ORDER_ROW));
    NEED(a->rows == c->rows && a->columns == b->rows && b->columns == c->columns);
    NEED(there(*a) && there(*b) && there(*c));
    NEED(roomy(buffer, space_of(*a, c->columns)));
    const Number x = number(alpha, 0, compute), y = number(beta, 0, compute);
    const auto A = *a;
    const auto B = *b;
    const auto C = *c;
    enqueue(handle->stream, [=] {
        std::vector<Number> sums(C.rows * C.columns);
        each(A, "cusparseSpMM", [&](int64_t i, int64_t j, int64_t k) {
            const Number v = number(A.values, k, A.type);
            for (int64_t q = 0; q < C.columns; ++q)
                sums[i * C.columns + q] += v * number(B.values, place_of(B, j, q), B.type);
        });
        for (int64_t i = 0; i < C.rows; ++i)
            for (int64_t q = 0; q < C.columns; ++q) {
                const int64_t at = place_of(C, i, q);
                put(C.values, at, scaled(x, sums[i * C.columns + q], y, C.values, at, C.type), C.type);
            }
    }, "cusparseSpMM");
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a, const void *alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void *beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t,
                                         size_t *size) {
    NEED(alive(handle) && alive(a) && alive(x) && alive(y) && alpha && beta && size);
    SUPPORTED(op_a == CUSPARSE_OPERATION_NON_TRANSPOSE);
    NEED(a->type == compute && x->type == compute && y->type == compute);
    *size = space_of(*a, 1);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op_a, const void *alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void *beta,
                              cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t, void *buffer) {
    NEED(alive(handle) && alive(a) && alive(x) && alive(y) && alpha && beta);
    NEED(!is_device(alpha, 1) && !is_device(beta, 1));
    SUPPORTED(op_a == CUSPARSE_OPERATION_NON_TRANSPOSE);
    NEED(a->type == compute && x->type == compute && y->type == compute);
    NEED(a->columns == x->n && a->rows == y->n);
    NEED(there(*a) && there(*x) && there(*y));
    NEED(roomy(buffer, space_of(*a, 1)));
    const Number scale = number(alpha, 0, compute), keep = number(beta, 0, compute);
    const auto A = *a;
    const auto X = *x;
    const auto Y = *y;
    enqueue(handle->stream, [=] {
        std::vector<Number> sums(Y.n);
        each(A, "cusparseSpMV", [&](int64_t i, int64_t j, int64_t k) {
            sums[i] += number(A.values, k, A.type) * number(X.values, j, X.type);
        });
        for (int64_t i = 0; i < Y.n; ++i) put(Y.values, i, scaled(scale, sums[i], keep, Y.values, i, Y.type), Y.type);
    }, "cusparseSpMV");
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- a product of dense matrices where a sparse one has entries ---- */

cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                          const void *alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                          cusparseSDDMMAlg_t, size_t *size) {
    NEED(alive(handle) && alive(a) && alive(b) && alive(c) && alpha && beta && size);
    SUPPORTED(op_a != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && op_b != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);
    NEED(a->type == compute && b->type == compute && c->type == compute);
    *size = space_of(*c, 3);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                               const void *alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                               const void *beta, cusparseSpMatDescr_t c, cudaDataType compute, cusparseSDDMMAlg_t,
                               void *buffer) {
    NEED(alive(handle) && alive(a) && alive(b) && alive(c) && alpha && beta);
    NEED(!is_device(alpha, 1) && !is_device(beta, 1));
    SUPPORTED(op_a == CUSPARSE_OPERATION_NON_TRANSPOSE && op_b == CUSPARSE_OPERATION_TRANSPOSE);
    NEED(a->type == compute && b->type == compute && c->type == compute);
    NEED(a->rows == c->rows && b->rows == c->columns && a->columns == b->columns);
    NEED(there(*a) && there(*b) && there(*c));
    NEED(roomy(buffer, space_of(*c, 3)));
    const Number x = number(alpha, 0, compute), y = number(beta, 0, compute);
    const auto A = *a;
    const auto B = *b;
    const auto C = *c;
    enqueue(handle->stream, [=] {
        each(C, "cusparseSDDMM", [&](int64_t i, int64_t j, int64_t k) {
            Number sum = 0;
            for (int64_t q = 0; q < A.columns; ++q)
                sum += number(A.values, place_of(A, i, q), A.type) * number(B.values, place_of(B, j, q), B.type);
            put(C.values, k, scaled(x, sum, y, C.values, k, C.type), C.type);
        });
    }, "cusparseSDDMM");
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- products of sparse matrices: estimate, compute, copy ---- */

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t *product) {
    *product = born(new cusparseSpGEMMDescr);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t product) { return buried(product); }

static cusparseStatus_t check_product(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                      const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                      const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                      cusparseSpGEMMDescr_t product) {
    NEED(alive(handle) && alive(a) && alive(b) && alive(c) && alive(product) && alpha && beta);
    NEED(!is_device(alpha, 1) && !is_device(beta, 1) && number(beta, 0, compute) == Number(0));
    SUPPORTED(op_a == CUSPARSE_OPERATION_NON_TRANSPOSE && op_b == CUSPARSE_OPERATION_NON_TRANSPOSE);
    NEED(a->type == compute && b->type == compute && c->type == compute && a->index == b->index && a->index == c->index);
    NEED(a->columns == b->rows && a->rows == c->rows && b->columns == c->columns);
    NEED(there(*a) && there(*b));
    return CUSPARSE_STATUS_SUCCESS;
}
#define CHECK_PRODUCT                                                                                                \
    do {                                                                                                             \
        const cusparseStatus_t status = check_product(handle, op_a, op_b, alpha, a, b, beta, c, compute, product);    \
        if (status != CUSPARSE_STATUS_SUCCESS) return status;                                                        \
    } while (0)

cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t op_a,
                                               cusparseOperation_t op_b, const void *alpha,
                                               cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                               const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                               cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t product,
                                               size_t *size, void *buffer) {
    CHECK_PRODUCT;
    NEED(size);
    if (shimemu::setting("SHIMEMU_SPGEMM", 0) > (long)algorithm) return CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
    if (!buffer) {
        *size = space_of(*a, 5);
        return CUSPARSE_STATUS_SUCCESS;
    }
    NEED(*size == space_of(*a, 5) && roomy(buffer, *size));
    product->first = buffer;
    product->stage = 1;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpGEMM_estimateMemory(cusparseHandle_t handle, cusparseOperation_t op_a,
                                               cusparseOperation_t op_b, const void *alpha,
                                               cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                               const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                               cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t product, float chunk,
                                               size_t *size3, void *buffer3, size_t *size2) {
    CHECK_PRODUCT;
    SUPPORTED(algorithm == CUSPARSE_SPGEMM_ALG2 || algorithm == CUSPARSE_SPGEMM_ALG3);
    NEED(product->stage >= 1 && size3 && chunk > 0 && chunk <= 1);
    if (!buffer3) {
        *size3 = space_of(*b, 7);
        return CUSPARSE_STATUS_SUCCESS;
    }
    NEED(size2 && *size3 == space_of(*b, 7) && roomy(buffer3, *size3));
    *size2 = space_of(*a, 9);
    product->stage = 2;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                        const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                        cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t product, size_t *size,
                                        void *buffer) {
    CHECK_PRODUCT;
    NEED(size && product->stage >= (algorithm == CUSPARSE_SPGEMM_DEFAULT ? 1 : 2));
    NEED(roomy(product->first, space_of(*a, 5))); /* the first workspace is still there */
    if (!buffer) {
        *size = space_of(*a, 9);
        return CUSPARSE_STATUS_SUCCESS;
    }
    NEED(*size == space_of(*a, 9) && roomy(buffer, *size));
    shimemu::drain(handle->stream); /* the library waits here, for the size of the result */
    shimemu::Open open;
    const Number x = number(alpha, 0, compute);
    std::vector<std::vector<std::pair<int64_t, Number>>> right(b->rows);
    each(*b, "cusparseSpGEMM", [&](int64_t i, int64_t j, int64_t k) {
        right[i].push_back({j, number(b->values, k, b->type)});
    });
    std::vector<std::map<int64_t, Number, std::greater<int64_t>>> rows(a->rows); /* descending: any order is allowed */
    each(*a, "cusparseSpGEMM", [&](int64_t i, int64_t j, int64_t k) {
        const Number v = number(a->values, k, a->type);
        for (auto &entry : right[j]) rows[i][entry.first] += v * entry.second;
    });
    product->pointer.assign(1, 0);
    product->columns.clear();
    product->values.clear();
    for (auto &row : rows) {
        for (auto &entry : row) {
            product->columns.push_back(entry.first);
            product->values.push_back(x * entry.second);
        }
        product->pointer.push_back((int64_t)product->columns.size());
    }
    c->nnz = (int64_t)product->columns.size();
    product->stage = 3;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                     const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                     const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                     cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t product) {
    CHECK_PRODUCT;
    NEED(product->stage == 3 && there(*c));
    const auto P = *product;
    const auto C = *c;
    enqueue(handle->stream, [=] {
        for (size_t i = 0; i < P.pointer.size(); ++i) put_index(C.pointer, (int64_t)i, P.pointer[i], C.index);
        for (size_t k = 0; k < P.columns.size(); ++k) {
            put_index(C.indices, (int64_t)k, P.columns[k], C.index);
            put(C.values, (int64_t)k, P.values[k], C.type);
        }
    }, "cusparseSpGEMM_copy");
    return CUSPARSE_STATUS_SUCCESS;
}

}

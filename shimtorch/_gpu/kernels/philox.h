/* Philox 4x32-10: random numbers as a function of a seed, a thread's number and how many it has drawn. */
#pragma once
#include "numbers.h"

namespace shim {

struct Four {
    uint32_t x[4];
};

/* Ten rounds on the counter (offset, thread) with the seed as the key. */
__device__ inline Four philox(uint64_t seed, uint64_t thread, uint64_t offset) {
    Four c = {{(uint32_t)offset, (uint32_t)(offset >> 32), (uint32_t)thread, (uint32_t)(thread >> 32)}};
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t p = (uint64_t)0xD2511F53u * c.x[0], q = (uint64_t)0xCD9E8D57u * c.x[2];
        c = {{(uint32_t)(q >> 32) ^ c.x[1] ^ k0, (uint32_t)q, (uint32_t)(p >> 32) ^ c.x[3] ^ k1, (uint32_t)p}};
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

__device__ inline float open_unit(uint32_t x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2; } /* (0, 1] */

__device__ inline double open_unit_wide(uint32_t x, uint32_t y) {
    const uint64_t z = (uint64_t)x ^ ((uint64_t)y << 21);
    return (double)z * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2;
}

}  // namespace shim

/* The copy of a matrix whose columns are contiguous to one whose rows are: in tiles, which stay in the cache. */
#ifndef SHIMTORCH_KERNELS_PLANE_H
#define SHIMTORCH_KERNELS_PLANE_H

#include <stddef.h>
#include <stdint.h>

enum { ST_TILE = 16 };

#define ST_PLANE(name, type)                                                                                         \
    static void name(ptrdiff_t rows, ptrdiff_t cols, char *out, ptrdiff_t s_out, const char *in, ptrdiff_t s_in) {   \
        for (ptrdiff_t c0 = 0; c0 < cols; c0 += ST_TILE) {                                                           \
            const ptrdiff_t c1 = cols - c0 < ST_TILE ? cols : c0 + ST_TILE;                                          \
            for (ptrdiff_t r0 = 0; r0 < rows; r0 += ST_TILE) {                                                       \
                const ptrdiff_t r1 = rows - r0 < ST_TILE ? rows : r0 + ST_TILE;                                      \
                for (ptrdiff_t r = r0; r < r1; r++) {                                                                \
                    type *const o = (type *)(void *)(out + r * s_out);                                               \
                    const char *a = in + r * (ptrdiff_t)sizeof(type);                                                \
                    for (ptrdiff_t c = c0; c < c1; c++) o[c] = *(const type *)(const void *)(a + c * s_in);          \
                }                                                                                                    \
            }                                                                                                        \
        }                                                                                                            \
    }
typedef struct { uint64_t part[2]; } st_plane_16;
ST_PLANE(st_plane_1, uint8_t)
ST_PLANE(st_plane_2, uint16_t)
ST_PLANE(st_plane_4, uint32_t)
ST_PLANE(st_plane_8, uint64_t)
ST_PLANE(st_plane_of_16, st_plane_16)

/* out[r * s_out + c * size] = in[r * size + c * s_in], strides in bytes */
static void st_plane(int size, ptrdiff_t rows, ptrdiff_t cols, char *out, ptrdiff_t s_out, const char *in,
                     ptrdiff_t s_in) {
    switch (size) {
    case 1: st_plane_1(rows, cols, out, s_out, in, s_in); break;
    case 2: st_plane_2(rows, cols, out, s_out, in, s_in); break;
    case 4: st_plane_4(rows, cols, out, s_out, in, s_in); break;
    case 8: st_plane_8(rows, cols, out, s_out, in, s_in); break;
    default: st_plane_of_16(rows, cols, out, s_out, in, s_in);
    }
}

#endif

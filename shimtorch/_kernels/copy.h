/* Copy loops by dtype. */
#ifndef SHIMTORCH_KERNELS_COPY_H
#define SHIMTORCH_KERNELS_COPY_H

#include "base.h"

extern const st_loop st_copies[ST_NDTYPES];

#endif

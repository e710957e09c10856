/* Work shared among threads. One number of threads for the whole library; built without threads everything runs in the
 * caller. */
#ifndef SHIMTORCH_PARALLEL_H
#define SHIMTORCH_PARALLEL_H

#include <stddef.h>

/* Does the work of the places begin <= i < end. */
typedef void (*st_body)(void *context, ptrdiff_t begin, ptrdiff_t end);

/* body for pieces that make up 0 <= i < n, each of at least `grain` places, in the caller and in other threads at the
 * same time. Returns when all are done. In the caller alone: fewer than two grains, one thread set, a call from inside
 * a piece, and a call while another thread of the program shares its work. The bounds of the pieces depend on the
 * number of threads: a result must not. */
void st_parallel(ptrdiff_t n, ptrdiff_t grain, st_body body, void *context);

void st_set_threads(int n); /* n >= 1: at most so many threads */
int st_threads(void);       /* what was set; at first OMP_NUM_THREADS, else the processors that the process may use */
int st_threaded(void);      /* whether threads are used at all */

#endif

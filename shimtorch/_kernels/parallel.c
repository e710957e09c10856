/* st_parallel on OpenMP. */
#include "parallel.h"

#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>

static int threads; /* 0: not asked for yet */

/* A forked child has none of its parent's threads, and the OpenMP of gcc would wait for them for ever. */
static void alone(void) { threads = 1; }

int st_threads(void) {
    if (!threads) {
        threads = omp_get_max_threads();
        pthread_atfork(NULL, NULL, alone);
    }
    return threads;
}

void st_set_threads(int n) {
    st_threads();
    threads = n;
}

int st_openmp(void) { return 1; }

void st_parallel(ptrdiff_t n, ptrdiff_t grain, st_body body, void *context) {
    ptrdiff_t pieces = grain > 0 ? n / grain : n;
    if (pieces > 1 && pieces > st_threads()) pieces = threads;
    if (pieces < 2 || omp_in_parallel()) {
        if (n > 0) body(context, 0, n);
        return;
    }
#pragma omp parallel num_threads((int)pieces)
    {
        const ptrdiff_t all = omp_get_num_threads(), own = omp_get_thread_num();
        const ptrdiff_t size = n / all, rest = n % all;
        const ptrdiff_t begin = own * size + (own < rest ? own : rest);
        body(context, begin, begin + size + (own < rest));
    }
}

#else

static int threads = 1;

int st_threads(void) { return threads; }
void st_set_threads(int n) { threads = n; }
int st_openmp(void) { return 0; }

void st_parallel(ptrdiff_t n, ptrdiff_t grain, st_body body, void *context) {
    (void)grain;
    if (n > 0) body(context, 0, n);
}

#endif

/* st_parallel on a pool of threads that start at the first need.
 *
 * Work is cut into more pieces than there are threads, and each thread takes the next piece until none is left. So the
 * caller never waits for a thread that the system has not let run: it does the pieces itself. Idle threads look for
 * work for some microseconds and then sleep, for the threads of the BLAS need the processors too. */
#include "parallel.h"

#ifdef ST_THREADS
#ifdef __linux__
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 256, SHARE = 4, SPINS = 1000 };

static int threads; /* 0: not asked for yet */
static __thread int inside;

static struct {
    pthread_mutex_t door; /* held by the caller whose work is shared; another one works alone */
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t wake, done;
    int started, asleep;
    int seats;            /* how many threads may still join in */
    int active;           /* how many are at work, the caller left out */
    unsigned turn;        /* counts the calls */
    st_body body;
    void *context;
    ptrdiff_t n, pieces, next;
} pool = {.door = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* ---- how many ---- */

static int processors(void) {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

int st_threads(void) {
    if (!threads) {
        const char *given = getenv("OMP_NUM_THREADS");
        const int n = given != NULL ? atoi(given) : 0;
        threads = n > 0 ? n : processors();
    }
    return threads;
}

void st_set_threads(int n) { threads = n; }

int st_threaded(void) { return 1; }

/* ---- work ---- */

static void take_pieces(void) {
    const ptrdiff_t size = pool.n / pool.pieces, rest = pool.n % pool.pieces;
    for (;;) {
        const ptrdiff_t i = __atomic_fetch_add(&pool.next, 1, __ATOMIC_RELAXED);
        if (i >= pool.pieces) return;
        const ptrdiff_t begin = i * size + (i < rest ? i : rest);
        pool.body(pool.context, begin, begin + size + (i < rest));
    }
}

static void *work(void *first_turn) {
    unsigned seen = (unsigned)(size_t)first_turn;
    inside = 1;
    for (;;) {
        for (int i = 0; i < SPINS && __atomic_load_n(&pool.turn, __ATOMIC_RELAXED) == seen; i++) relax();
        pthread_mutex_lock(&pool.lock);
        pool.asleep++;
        while (pool.turn == seen) pthread_cond_wait(&pool.wake, &pool.lock);
        pool.asleep--;
        seen = pool.turn;
        if (pool.seats > 0) {
            pool.seats--;
            pool.active++;
            pthread_mutex_unlock(&pool.lock);
            take_pieces();
            pthread_mutex_lock(&pool.lock);
            if (__atomic_sub_fetch(&pool.active, 1, __ATOMIC_RELAXED) == 0) pthread_cond_signal(&pool.done);
        }
        pthread_mutex_unlock(&pool.lock);
    }
    return NULL;
}

/* A forked child has none of its parent's threads. */
static void forget(void) {
    pthread_mutex_init(&pool.door, NULL);
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.wake, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.started = pool.asleep = pool.seats = pool.active = 0;
}

/* Up to `wanted` threads, as many as the system gives; signals are left to the threads of the program. */
static void start(int wanted) {
    static int watched;
    sigset_t all, before;
    pthread_attr_t detached;
    if (!watched) watched = pthread_atfork(NULL, NULL, forget) == 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (; watched && pool.started < wanted; pool.started++) {
        pthread_t thread;
        if (pthread_create(&thread, &detached, work, (void *)(size_t)pool.turn) != 0) break;
    }
    pthread_attr_destroy(&detached);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void st_parallel(ptrdiff_t n, ptrdiff_t grain, st_body body, void *context) {
    const int most = st_threads() < MOST ? st_threads() : MOST;
    ptrdiff_t pieces = grain > 0 ? n / grain : n;
    if (pieces < 2 || most < 2 || inside || pthread_mutex_trylock(&pool.door) != 0) {
        if (n > 0) body(context, 0, n);
        return;
    }
    if (pieces > most * SHARE) pieces = most * SHARE;
    if (pool.started < most - 1) start(most - 1);
    pthread_mutex_lock(&pool.lock);
    pool.body = body;
    pool.context = context;
    pool.n = n;
    pool.pieces = pieces;
    pool.next = 0;
    pool.seats = (int)(pieces < most ? pieces : most) - 1;
    __atomic_add_fetch(&pool.turn, 1, __ATOMIC_RELAXED);
    const int asleep = pool.asleep;
    pthread_mutex_unlock(&pool.lock);
    if (asleep) pthread_cond_broadcast(&pool.wake);
    inside = 1;
    take_pieces();
    inside = 0;
    pthread_mutex_lock(&pool.lock);
    pool.seats = 0; /* who comes now comes too late */
    if (pool.active) {
        pthread_mutex_unlock(&pool.lock);
        for (int i = 0; i < SPINS && __atomic_load_n(&pool.active, __ATOMIC_RELAXED); i++) relax();
        pthread_mutex_lock(&pool.lock);
        while (pool.active) pthread_cond_wait(&pool.done, &pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&pool.door);
}

#else

static int threads = 1;

int st_threads(void) { return threads; }
void st_set_threads(int n) { threads = n; }
int st_threaded(void) { return 0; }

void st_parallel(ptrdiff_t n, ptrdiff_t grain, st_body body, void *context) {
    (void)grain;
    if (n > 0) body(context, 0, n);
}

#endif

"""Temporary memory for kernels, kept for the next call.

A large block fresh from the system costs a page fault every 4 KiB, which is more than a linear pass over it. So a few
released blocks are kept and handed out again: at most SLOTS of them and MOST_KEPT bytes together. Large blocks ask for
huge pages, without which writes to any place in them wait for the tables of pages.
"""

from libc.stdlib cimport free
from libc.string cimport memset

cdef extern from *:
    """
    #include <stdlib.h>
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    static void *st_scratch_block(size_t size) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        void *p = NULL;
        if (size >= (4u << 20)) {
            if (posix_memalign(&p, 2u << 20, size)) return NULL;
            madvise(p, size, MADV_HUGEPAGE);
            return p;
        }
    #endif
        return malloc(size);
    }
    static volatile int st_scratch_lock = 0;
    static inline void st_scratch_enter(void) { while (__sync_lock_test_and_set(&st_scratch_lock, 1)) { } }
    static inline void st_scratch_leave(void) { __sync_lock_release(&st_scratch_lock); }
    """
    void* fresh_block "st_scratch_block"(size_t size) noexcept nogil
    void enter "st_scratch_enter"() noexcept nogil
    void leave "st_scratch_leave"() noexcept nogil

cdef enum:
    SLOTS = 12
    HEADER = 64                     # holds the block's size and keeps what follows aligned
    SMALLEST_KEPT = 32 << 10        # below this the system allocator reuses memory well by itself
    MOST_KEPT = 96 << 20
    MOST_SLACK = 4                  # a kept block may be this many times larger than asked for

cdef void* _kept[SLOTS]
cdef Py_ssize_t _kept_bytes = 0


cdef void* scratch(Py_ssize_t size) noexcept nogil:
    """Block of at least `size` bytes with any content, or NULL; give it back with `release`."""
    cdef int slot, best = -1
    cdef Py_ssize_t found, smallest = 0
    cdef void* block = NULL
    if size < 1:
        size = 1
    if size >= SMALLEST_KEPT:
        enter()
        for slot in range(SLOTS):
            if _kept[slot] != NULL:
                found = (<Py_ssize_t*>_kept[slot])[0]
                if found >= size and found // MOST_SLACK <= size and (best < 0 or found < smallest):
                    best = slot
                    smallest = found
        if best >= 0:
            block = _take(best)
        leave()
    if block == NULL:
        if size > <Py_ssize_t>((<size_t>-1) >> 1) - HEADER:
            return NULL
        block = fresh_block(size + HEADER)
        if block == NULL:
            return NULL
        (<Py_ssize_t*>block)[0] = size
    return <char*>block + HEADER


cdef void* zeroed_scratch(Py_ssize_t size) noexcept nogil:
    """As `scratch`, with every byte zero."""
    cdef void* block = scratch(size)
    if block != NULL:
        memset(block, 0, size)
    return block


cdef void release(void* block) noexcept nogil:
    """Give back what `scratch` gave; NULL is ignored."""
    cdef Py_ssize_t size
    cdef int slot
    cdef bint kept = False
    if block == NULL:
        return
    block = <char*>block - HEADER
    size = (<Py_ssize_t*>block)[0]
    if SMALLEST_KEPT <= size <= MOST_KEPT:
        enter()
        if _kept_bytes + size <= MOST_KEPT:
            for slot in range(SLOTS):
                if _kept[slot] == NULL:
                    _put(slot, block, size)
                    kept = True
                    break
        leave()
    if not kept:
        free(block)


cdef inline void* _take(int slot) noexcept nogil:
    global _kept_bytes
    cdef void* block = _kept[slot]
    _kept[slot] = NULL
    _kept_bytes -= (<Py_ssize_t*>block)[0]
    return block


cdef inline void _put(int slot, void* block, Py_ssize_t size) noexcept nogil:
    global _kept_bytes
    _kept[slot] = block
    _kept_bytes += size


def kept():
    """Bytes that are being kept for reuse."""
    return _kept_bytes


def clear():
    """Give all kept blocks back to the system."""
    cdef int slot
    cdef void* block
    for slot in range(SLOTS):
        enter()
        block = _take(slot) if _kept[slot] != NULL else NULL
        leave()
        free(block)

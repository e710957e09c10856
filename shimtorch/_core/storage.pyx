"""Memory of tensors: reference-counted blocks, from a cache of freed ones or borrowed from another object."""
cimport cython
from libc.stdlib cimport free
from libc.string cimport memcpy

import os

cdef extern from *:
    """
    #include <stdlib.h>
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    /* Blocks are aligned to a cache line, and large ones to a huge page, which saves most of their page faults. */
    static void *shimtorch_block(size_t n) {
        void *p = NULL;
        size_t align = n >= (4u << 20) ? (2u << 20) : 64;
        if (posix_memalign(&p, align, n)) return NULL;
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (align > 64) madvise(p, n, MADV_HUGEPAGE);
    #endif
        return p;
    }
    """
    void* shimtorch_block(size_t n) noexcept nogil

# Small blocks: one free list per multiple of 64 bytes up to 4 KiB. Large blocks: a few per power-of-two quarter.
cdef enum:
    SMALL_CLASSES = 65
    LARGE_CLASSES = 256
    LARGE_DEPTH = 4

cdef void* small_list[SMALL_CLASSES]
cdef int small_count[SMALL_CLASSES]
cdef void* large_list[LARGE_CLASSES][LARGE_DEPTH]
cdef int large_count[LARGE_CLASSES]
cdef size_t cached_bytes = 0
cdef size_t cache_limit = 1 << 28


cdef inline int large_class(size_t nbytes, size_t* rounded) noexcept nogil:
    """Index of the size class that holds nbytes: four classes to each power of two."""
    cdef int log = 12
    cdef size_t step
    while (<size_t>2 << log) <= nbytes:
        log += 1
    step = (<size_t>1 << log) >> 2
    cdef size_t k = (nbytes + step - 1) // step          # 4 .. 8
    rounded[0] = k * step
    return (log - 12) * 4 + <int>(k - 4)


cdef char* block_alloc(size_t nbytes) except NULL:
    global cached_bytes
    cdef size_t c = (nbytes + 63) >> 6, rounded
    cdef void* p
    cdef int k
    if c < SMALL_CLASSES:
        p = small_list[c]
        if p != NULL:
            small_list[c] = (<void**>p)[0]
            small_count[c] -= 1
            return <char*>p
        rounded = c << 6 if c else 64
    else:
        if nbytes > <size_t>1 << 62:
            raise RuntimeError(f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {nbytes} bytes")
        k = large_class(nbytes, &rounded)
        if k < LARGE_CLASSES and large_count[k]:
            large_count[k] -= 1
            cached_bytes -= rounded
            return <char*>large_list[k][large_count[k]]
    p = shimtorch_block(rounded)
    if p == NULL and cached_bytes:
        empty_cache()
        p = shimtorch_block(rounded)
    if p == NULL:
        raise RuntimeError(f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {nbytes} bytes. "
                           "Error code 12 (Cannot allocate memory)")
    return <char*>p


cdef void block_free(char* p, size_t nbytes) noexcept:
    global cached_bytes
    cdef size_t c = (nbytes + 63) >> 6, rounded
    cdef int k
    if c < SMALL_CLASSES:
        if small_count[c] < 256:
            (<void**>p)[0] = small_list[c]
            small_list[c] = p
            small_count[c] += 1
            return
    else:
        k = large_class(nbytes, &rounded)
        if k < LARGE_CLASSES and large_count[k] < LARGE_DEPTH and cached_bytes + rounded <= cache_limit:
            large_list[k][large_count[k]] = p
            large_count[k] += 1
            cached_bytes += rounded
            return
    free(p)


def empty_cache():
    """Give the memory of freed tensors back to the system."""
    global cached_bytes
    cdef int k
    cdef void* p
    for k in range(SMALL_CLASSES):
        while small_list[k] != NULL:
            p = small_list[k]
            small_list[k] = (<void**>p)[0]
            free(p)
        small_count[k] = 0
    for k in range(LARGE_CLASSES):
        while large_count[k]:
            large_count[k] -= 1
            free(large_list[k][large_count[k]])
    cached_bytes = 0


def cached_memory():
    """Bytes in large blocks that are kept for reuse."""
    return cached_bytes


def set_cache_limit(size_t nbytes):
    """Keep at most this many bytes of freed large blocks."""
    global cache_limit
    cache_limit = nbytes
    if cached_bytes > nbytes:
        empty_cache()


if "SHIMTORCH_CACHE_BYTES" in os.environ:
    set_cache_limit(int(os.environ["SHIMTORCH_CACHE_BYTES"]))


@cython.no_gc_clear                    # the collector must not take `owner` away: __dealloc__ frees what has none
cdef class Storage:
    """One block of memory that tensors view; it owns the block, or borrows that of ``owner``."""

    def __cinit__(self):
        self.writable = True

    def __dealloc__(self):
        if self.owner is None and self.data != NULL:
            block_free(self.data, self.nbytes)
        if self.outgrown is not None:
            for p, n in self.outgrown:
                block_free(<char*><size_t>p, n)

    def data_ptr(self):
        """Address of the first byte."""
        return <size_t>self.data

    @property
    def _version(self):
        return self.version

    def __len__(self):
        return self.nbytes

    cdef int resize(self, size_t nbytes) except -1:
        """Grow to at least nbytes, keeping the contents. Views stay valid: they look the address up here."""
        cdef char* p
        if nbytes <= self.nbytes:
            return 0
        p = block_alloc(nbytes)
        if self.nbytes:
            memcpy(p, self.data, self.nbytes)
        if self.owner is None:
            if self.outgrown is None:
                self.outgrown = []
            # an ndarray made by .numpy() may still look at the old block
            self.outgrown.append((<size_t>self.data, self.nbytes))
        self.owner = None
        self.data = p
        self.nbytes = nbytes
        return 0


cdef Storage new_storage(size_t nbytes):
    cdef Storage s = Storage.__new__(Storage)
    s.data = block_alloc(nbytes)
    s.nbytes = nbytes
    return s


cdef Storage borrow(char* data, size_t nbytes, object owner, bint writable):
    cdef Storage s = Storage.__new__(Storage)
    s.data = data
    s.nbytes = nbytes
    s.owner = owner
    s.writable = writable
    return s


cdef Storage alias(Storage storage):
    """The same memory with a version counter of its own, as ``x.data`` has."""
    return borrow(storage.data, storage.nbytes, storage, storage.writable)

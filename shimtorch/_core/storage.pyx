# cython: binding=False
"""Memory of tensors: reference-counted blocks, from a cache of freed ones or borrowed from another object."""
cimport cython
from libc.errno cimport errno
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
    #include <sys/mman.h>
    #include <unistd.h>
    static void *shimtorch_map(int fd, size_t n) {
        void *p = mmap(NULL, n ? n : 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        return p == MAP_FAILED ? NULL : p;
    }
    """
    void* shimtorch_block(size_t n) noexcept nogil
    void* shimtorch_map(int fd, size_t n) noexcept nogil
    int munmap(void* p, size_t n) noexcept nogil
    int close(int fd) noexcept nogil

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


cdef class SharedBlock:
    """A mapping of a file that other processes map too: ``SharedBlock(fd, nbytes)`` takes the descriptor over."""

    def __cinit__(self, int fd, size_t nbytes):
        self.fd = fd
        self.data = <char*>shimtorch_map(fd, nbytes)
        if self.data == NULL:
            raise OSError(errno, os.strerror(errno), f"mmap of {nbytes} bytes")
        self.nbytes = nbytes

    def __dealloc__(self):
        if self.data != NULL:
            munmap(self.data, self.nbytes if self.nbytes else 1)
        if self.fd >= 0:
            close(self.fd)

    def forget_descriptor(self):
        """Close the descriptor; the mapping stays."""
        if self.fd >= 0:
            close(self.fd)
        self.fd = -1

    def offset_of(self, Storage storage not None):
        """Where in the block a Storage on it begins."""
        return storage.data - self.data

    def storage(self, size_t offset, size_t nbytes):
        """A Storage on a part of the block."""
        if offset > self.nbytes or nbytes > self.nbytes - offset:
            raise ValueError(f"bytes {offset} to {offset + nbytes} lie beyond a block of {self.nbytes}")
        return borrow(self.data + offset, nbytes, self, True)


@cython.no_gc_clear                    # the collector must not take `owner` away: __dealloc__ frees what has none
cdef class Storage:
    """One block of memory that tensors view; it owns the block, or borrows that of ``owner``."""

    def __cinit__(self):
        self.writable = True

    def __dealloc__(self):
        if self.owner is None and self.data != NULL:
            block_free(self.data, self.nbytes)
        if self.outgrown is not None:
            for left in self.outgrown:
                if isinstance(left, tuple):
                    block_free(<char*><size_t>left[0], left[1])

    def data_ptr(self):
        """Address of the first byte."""
        return <size_t>self.data

    @property
    def _version(self):
        return self.version

    def __len__(self):
        return self.nbytes

    def root(self):
        """The Storage whose memory this is: itself, unless it is an alias."""
        cdef Storage s = self
        while isinstance(s.owner, Storage):
            s = <Storage>s.owner
        return s

    def part(self, size_t offset, size_t nbytes):
        """A Storage on some of these bytes."""
        if offset > self.nbytes or nbytes > self.nbytes - offset:
            raise ValueError(f"bytes {offset} to {offset + nbytes} lie beyond a storage of {self.nbytes}")
        cdef Storage r = borrow(self.data + offset, nbytes, (self,), self.writable)     # in a tuple: it is no alias
        r.place = self.place
        return r

    def adopt(self, SharedBlock block not None):
        """Move the contents to shared memory of at least their size. Views stay valid: they find the address here."""
        if self.place is not None:
            raise NotImplementedError(f"shared memory: not implemented for device '{self.place.device}'")
        if block.nbytes < self.nbytes:
            raise ValueError(f"a block of {block.nbytes} bytes cannot take in {self.nbytes}")
        if self.nbytes:
            memcpy(block.data, self.data, self.nbytes)
        self.leave_block()
        self.owner = block
        self.data = block.data

    def follow(self, Storage other not None):
        """Let an alias look at the memory that ``other``, whose alias it is, has moved to."""
        self.data = other.data

    @property
    def device(self):
        """The device whose memory it is; None for the CPU's."""
        return None if self.place is None else self.place.device

    @property
    def shared(self):
        """The SharedBlock that holds the memory, or None."""
        cdef Storage s = self.root()
        return s.owner if isinstance(s.owner, SharedBlock) else None

    cdef int leave_block(self) except -1:
        """Keep the block that is left behind: an ndarray made by .numpy(), or an alias, may still look at it."""
        if self.outgrown is None:
            self.outgrown = []
        self.outgrown.append((<size_t>self.data, self.nbytes) if self.owner is None else self.owner)
        return 0

    cdef int resize(self, size_t nbytes) except -1:
        """Grow to at least nbytes, keeping the contents. Views stay valid: they look the address up here."""
        cdef char* p
        if nbytes <= self.nbytes:
            return 0
        if self.place is not None:
            self.place.grow(self, nbytes)
            return 0
        p = block_alloc(nbytes)
        if self.nbytes:
            memcpy(p, self.data, self.nbytes)
        self.leave_block()
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
    cdef Storage r = borrow(storage.data, storage.nbytes, storage, storage.writable)
    r.place = storage.place
    return r

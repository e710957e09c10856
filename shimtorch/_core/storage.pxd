cdef class SharedBlock:
    cdef char* data
    cdef readonly size_t nbytes
    cdef readonly int fd           # -1: given up

cdef class Storage:
    cdef char* data
    cdef size_t nbytes
    cdef object owner              # whose memory it is (an ndarray, another Storage); None when it is our own block
    cdef size_t version            # bumped by every in-place write through any tensor on this storage
    cdef bint writable
    cdef list outgrown             # what a resize or a move left behind
    cdef object place              # the Place of memory that is a device's; None: the CPU can read it

    cdef int leave_block(self) except -1
    cdef int resize(self, size_t nbytes) except -1

cdef Storage new_storage(size_t nbytes)
cdef Storage borrow(char* data, size_t nbytes, object owner, bint writable)
cdef Storage alias(Storage storage)

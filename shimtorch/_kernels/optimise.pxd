"""Steps of optimisers on raw memory; see optimise.h."""

cdef extern from "optimise.h" nogil:
    enum:
        ST_SGD
        ST_ADAM
        ST_ADADELTA
        ST_RMSPROP
        ST_ADAGRAD
        ST_ADAMAX
        ST_NADAM
        ST_RADAM
        ST_ASGD
        ST_RPROP
        ST_STEP_STATES
        ST_STEP_NUMBERS

    ctypedef struct st_step:
        void *p
        const void *g
        void *state[3]
        double numbers[9]
        Py_ssize_t n
        int fresh

    ctypedef void (*st_step_fn)(const st_step *s, Py_ssize_t begin, Py_ssize_t end) noexcept nogil

    st_step_fn st_find_step(int optimiser, int dtype) noexcept

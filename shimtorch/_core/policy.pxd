# What differs between PyTorch versions, as plain fields that compiled code reads at no cost.
cdef class Policy:
    cdef public str era
    cdef public str version                # torch.__version__ of the era
    cdef public bint two_types             # Tensor and Variable are different types (0.3)
    cdef public bint compare_uint8         # comparisons give uint8
    cdef public bint promote_types         # mixed dtypes promote; else they are refused
    cdef public str mixed_dtypes_error     # the error's text: {0} and {1} are what torch called the two types
    cdef public bint numbers_first_warning  # add(x, 2, y) and its kin are deprecated
    cdef public bint true_division         # integer / integer gives floats
    cdef public str floor_division         # 'trunc', 'trunc_warn' or 'floor'
    cdef public bint float_ranges          # arange(5) and full((2,), 3) have the default dtype ...
    cdef public bint float_full
    cdef public bint same_numel_pointwise  # pointwise ops on different shapes of one element count (0.2 - 0.4)
    cdef public bint row_order             # pointwise results and copies are contiguous (1.1 and older) ...
    cdef public bint row_order_arithmetic  # sums, differences, products, quotients and relu too (0.4 and older)
    cdef public bint numpy_doubles_kept    # a float64 of NumPy in a list makes a float64 tensor, or is a Python float
    cdef public bint named_results         # max(dim), sort ... give named tuples
    cdef public str texts_of               # whose names of nodes, reprs of modules: None (now), '1.11', '1.1' or '1.0'
    cdef public str print_style            # '0.3', '0.4', '1.0' or 'modern'
    cdef public bint byte_mask_warning
    cdef public bint dropout_training_default
    cdef public bint align_corners_default
    cdef public bint grid_align_corners_default
    cdef public bint batchnorm_uniform_weight
    cdef public bint num_batches_tracked
    cdef public str scheduler_first_step   # 'sets_epoch0' or 'epoch1'
    cdef public bint scheduler_closed_form
    cdef public int plateau_last_epoch     # what ReduceLROnPlateau starts with
    cdef public bint adam_corrects_root    # Adam adds epsilon to the bias-corrected root (1.3 and later), else before
    cdef public bint size_average_warning  # size_average= and reduce= are deprecated
    cdef public bint logical_order_random  # random numbers as 1.1 and older drew them
    cdef public bint mkl_bernoulli         # dropout masks as 1.x drew them on Intel processors
    cdef public bint random_fused          # uniform and normal with one rounding (1.11 and later)
    cdef public bint random_threshold_28   # randint uses 64 bits from 2**28 on (2.x), else from 2**32 on
    cdef public bint sampler_own_generator  # RandomSampler seeds a generator of its own (1.11 and later)
    cdef public bint weights_only_default
    cdef public bint stft_of_pairs         # stft of real numbers gives pairs unless asked otherwise (1.11 and older)
    cdef public bint subclasses_kept       # results of ops on a subclass of Tensor are of that subclass (1.7 and later)
    cdef public object wrap_result         # called as wrap(args, result) at the outermost op call; None in most eras

cdef Policy policy

cdef struct ThreadState:
    int grad_enabled
    int depth              # ops running inside an op: results are wrapped at depth 0 only
    int no_record          # inside the forward of a differentiable op: nothing is recorded

cdef ThreadState* thread_state() noexcept nogil

"""The table of differences: what each era sets the policies to. An era lists what it changes from the one after it."""

VERSIONS = {"0.3": "0.3.1.post2", "0.4": "0.4.0", "1.0": "1.0.0", "1.1": "1.1.0", "1.11": "1.11.0",
            "modern": "2.13.0"}

_MODERN = {
    "two_types": False,
    "compare_uint8": False,
    "promote_types": True,
    "mixed_dtypes_error": "",
    "numbers_first_warning": True,
    "true_division": True,
    "floor_division": "floor",
    "float_ranges": False,
    "float_full": False,
    "same_numel_pointwise": False,
    "row_order": False,
    "row_order_arithmetic": False,
    "numpy_doubles_kept": True,
    "named_results": True,
    "texts_of": None,
    "print_style": "modern",
    "byte_mask_warning": True,
    "dropout_training_default": True,
    "align_corners_default": False,
    "grid_align_corners_default": False,
    "batchnorm_uniform_weight": False,
    "num_batches_tracked": True,
    "scheduler_first_step": "epoch1",
    "scheduler_closed_form": False,
    "plateau_last_epoch": 0,
    "adam_corrects_root": True,
    "size_average_warning": True,
    "logical_order_random": False,
    "mkl_bernoulli": False,
    "random_fused": True,
    "random_threshold_28": True,
    "sampler_own_generator": True,
    "weights_only_default": True,
    "stft_of_pairs": False,
    "subclasses_kept": True,
    # Read by Python only:
    "stable_sort": True,                    # sort() keeps the order of equal elements (1.9 and later)
    "last_of_equals": False,                # max(dim) of contiguous tensors gives the last of the largest (1.0, 1.1)
    "zero_grad_set_to_none": True,          # zero_grad() forgets the gradients, or fills them with zeros
    "chain_of_one_copied": True,            # chain_matmul() of one matrix is a copy, or that matrix itself
    "optimizer_number_tensors": True,       # an optimiser's state_dict holds its step count in a tensor, or as a number
    "saves_zip": True,                      # torch.save writes zip archives, or streams of pickles
    "datapipes_of_2": True,                 # pipes shuffle by generators of their own, and mux ends with the shortest
    "freedom_warning": True,                # var() and std() of too few elements warn (2.0 and later)
    "checkpoint_warns": True,               # checkpoint() warns when use_reentrant is not passed
}

_CHANGES = {
    "1.11": {
        "texts_of": "1.11",
        "print_style": "1.0",
        "floor_division": "trunc_warn",
        "mkl_bernoulli": True,
        "random_threshold_28": False,
        "weights_only_default": False,
        "stft_of_pairs": True,
        "zero_grad_set_to_none": False,
        "optimizer_number_tensors": False,
        "datapipes_of_2": False,
        "freedom_warning": False,
        "checkpoint_warns": False,
    },
    "1.1": {
        "texts_of": "1.1",
        "compare_uint8": True,
        "row_order": True,
        "promote_types": False,
        "mixed_dtypes_error": "expected backend CPU and dtype {2} but got backend CPU and dtype {3}",
        "numpy_doubles_kept": False,
        "numbers_first_warning": False,
        "true_division": False,
        "floor_division": "trunc",
        "float_full": True,
        "byte_mask_warning": False,
        "grid_align_corners_default": True,
        "batchnorm_uniform_weight": True,
        "logical_order_random": True,
        "random_fused": False,
        "sampler_own_generator": False,
        "adam_corrects_root": False,
        "plateau_last_epoch": -1,
        "subclasses_kept": False,
        "chain_of_one_copied": False,
        "saves_zip": False,
        "stable_sort": False,
        "last_of_equals": True,
    },
    "1.0": {
        "texts_of": "1.0",
        "mixed_dtypes_error": "expected type {0} but got {1}",
        "named_results": False,
        "scheduler_first_step": "sets_epoch0",
        "scheduler_closed_form": True,
    },
    "0.4": {
        "print_style": "0.4",
        "float_ranges": True,
        "same_numel_pointwise": True,
        "row_order_arithmetic": True,
        "dropout_training_default": False,
        "num_batches_tracked": False,
        "size_average_warning": False,
        "last_of_equals": False,
    },
    "0.3": {
        "two_types": True,
        "print_style": "0.3",
        "align_corners_default": True,
    },
}


def policies(era):
    """Every policy field of an era."""
    fields = dict(_MODERN)
    for name, changes in _CHANGES.items():
        if era == "modern":
            break
        fields.update(changes)
        if name == era:
            break
    fields["version"] = VERSIONS[era]
    return fields

"""Names of torch that exist here only to say that they are not implemented: quantisation, compilation, vmap ..."""

NAMES = frozenset((
    "_assert_async", "choose_qparams_optimized", "compile", "cond", "dequantize", "empty_quantized", "fork",
    "get_file_path", "hash_tensor", "import_ir_module", "import_ir_module_from_buffer", "int_repr", "lobpcg",
    "merge_type_from_type_comment", "parse_ir", "parse_schema", "parse_type_comment",
    "prepare_multiprocessing_environment", "q_per_channel_axis", "q_per_channel_scales",
    "q_per_channel_zero_points", "q_scale", "q_zero_point", "quantize_per_channel", "quantize_per_tensor",
    "quantize_per_tensor_dynamic", "quantized_batch_norm", "quantized_gru_cell", "quantized_lstm_cell",
    "quantized_max_pool1d", "quantized_max_pool2d", "quantized_rnn_relu_cell", "quantized_rnn_tanh_cell",
    "resize_as_sparse_", "s_copy_", "s_native_addmm", "s_native_addmm_", "segment_reduce", "slice_inverse",
    "unify_type_list", "vmap", "wait", "while_loop"))


def refusal(name, space="torch"):
    """A function that raises NotImplementedError naming itself."""
    def refused(*args, **kwargs):
        raise NotImplementedError(f"{space}.{name} is not implemented")
    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = "Not implemented: raises NotImplementedError."
    return refused

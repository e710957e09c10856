"""Names of torch that exist here only to say that they are not implemented, and why.

One table for all namespaces: calling one of these functions raises NotImplementedError with its name and the reason.
Modules that scripts test for with ``hasattr`` to find out what torch can do are not among them. Names of dtypes and
classes stand here as functions too.
"""

# Reason: {namespace: names}.
TABLE = {
    "there are no quantised numbers": {
        "torch": "choose_qparams_optimized dequantize empty_quantized fake_quantize_per_channel_affine "
                 "fake_quantize_per_tensor_affine fused_moving_avg_obs_fake_quant int_repr q_per_channel_axis "
                 "q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point quantize_per_channel "
                 "quantize_per_tensor quantize_per_tensor_dynamic quantized_batch_norm quantized_gru_cell "
                 "quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d "
                 "quantized_rnn_relu_cell quantized_rnn_tanh_cell QInt32Storage QInt8Storage QUInt2x4Storage "
                 "QUInt4x2Storage QUInt8Storage fbgemm_is_cpu_supported fbgemm_linear_fp16_weight "
                 "fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight "
                 "fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16 "
                 "fbgemm_pack_quantized_matrix per_channel_affine per_channel_affine_float_qparams "
                 "per_channel_symmetric per_tensor_affine per_tensor_symmetric qint32 qint8 qscheme quantize_linear "
                 "quantized_gru quantized_lstm quint2x4 quint4x2 quint8",
        "torch.Tensor": "dequantize int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale "
                        "q_zero_point qscheme quantize_linear",
    },
    "statements are timed, their instructions not counted": {
        "torch.utils.benchmark": "CallgrindStats CopyIfCallgrind FunctionCount FunctionCounts",
    },
    "the operands of benchmarks are not drawn": {
        "torch.utils.benchmark": "FuzzedParameter FuzzedSparseTensor FuzzedTensor Fuzzer ParameterAlias",
    },
    "dimensions have no names": {
        "torch": "align_tensors",
        "torch.functional": "align_tensors",
        "torch.Tensor": "align_as align_to refine_names rename rename_",
    },
    "there is no compiler": {
        "torch": "cond while_loop import_ir_module import_ir_module_from_buffer merge_type_from_type_comment parse_ir "
                 "parse_schema parse_type_comment get_file_path unify_type_list fork wait AliasDb AnyType Argument "
                 "ArgumentSpec BenchmarkConfig BenchmarkExecutionStats Block BoolType BufferDict CONV_BN_FUSION "
                 "CallStack Capsule ClassType Code CompilationUnit CompleteArgumentSpec ComplexType ConcreteModuleType "
                 "ConcreteModuleTypeBuilder DeepCopyMemoTable DeserializationStorageContext DeviceObjType DictType "
                 "EnumType ErrorReport ExecutionPlan ExecutionPlanState ExtraFilesMap FUSE_ADD_RELU FileCheck "
                 "FloatType Function FunctionSchema FutureType Gradient Graph GraphExecutorState "
                 "HOIST_CONV_PACKED_PARAMS INSERT_FOLD_PREPACK_OPS IODescriptor InferredType IntType InterfaceType "
                 "ListType LiteScriptModule LockingLogger LoggerBase MobileOptimizerType ModuleDict Node NoneType "
                 "NoopLogger NumberType OperatorInfo OptionalType ParameterDict PyObjectType REMOVE_DROPOUT RRefType "
                 "ScriptClass ScriptClassFunction ScriptDict ScriptDictIterator ScriptDictKeyIterator ScriptList "
                 "ScriptListIterator ScriptMethod ScriptModuleSerializer ScriptObject ScriptObjectProperty "
                 "SerializationStorageContext StaticModule StreamObjType StringType TensorType TracingState TupleType "
                 "Type UnionType Use Value",
        "torch.jit": "export_opnames freeze last_executed_optimized_graph load optimize_for_inference "
                     "run_frozen_optimizations save",
        "torch.nn.functional": "assert_int_or_pair boolean_dispatch weak_script",
        "torch.nn.init": "weak_script",
    },
    "functions are not transformed": {
        "torch": "vmap",
        "torch.func": "functionalize grad grad_and_value hessian jacfwd jacrev jvp linearize vjp vmap debug_unwrap",
    },
    "there is no device but the CPU": {
        "torch": "batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats "
                 "batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats get_device_module "
                 "cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu "
                 "cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler miopen_batch_norm "
                 "miopen_convolution miopen_convolution_transpose miopen_depthwise_convolution miopen_rnn "
                 "mkldnn_adaptive_avg_pool2d mkldnn_convolution mkldnn_convolution_backward_weights "
                 "mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_reshape",
        "torch.Tensor": "hpu ipu mtia to_mkldnn xpu",
        "torch.nn.functional": "grouped_mm scaled_grouped_mm scaled_mm",
        "torch.sparse": "to_sparse_semi_structured",
        "torch.distributed": "all_gather_multigpu all_reduce_multigpu broadcast_multigpu reduce_multigpu "
                             "reduce_scatter_multigpu",
    },
    "NVIDIA's management library is not linked": {
        "torch.cuda": "clock_rate device_memory_used list_gpu_processes memory_usage power_draw temperature "
                      "utilization",
        "torch.cuda.memory": "device_memory_used list_gpu_processes",
    },
    "handles and allocators are not exchanged with other libraries": {
        "torch.cuda": "change_current_allocator current_blas_handle current_solver_handle cudart use_mem_pool",
        "torch.cuda.memory": "change_current_allocator use_mem_pool",
    },
    "the allocator does not show its segments": {
        "torch.cuda": "host_memory_stats host_memory_stats_as_nested_dict memory_snapshot",
        "torch.cuda.memory": "host_memory_stats host_memory_stats_as_nested_dict memory_snapshot",
    },
    "there are no calls in other processes": {
        "torch.distributed.rpc": "BackendType RRef RpcBackendOptions TensorPipeRpcBackendOptions WorkerInfo "
                                 "get_worker_info init_rpc remote rpc_async rpc_sync shutdown",
    },
    "there is no exporter": {
        "torch.onnx": "export export_to_pretty_string register_custom_op_symbolic unregister_custom_op_symbolic",
    },
    "extensions need the headers and libraries of real torch": {
        "torch.utils.cpp_extension": "BuildExtension CUDAExtension CppExtension include_paths library_paths load "
                                     "load_inline",
        "torch.utils.ffi": "create_extension",
    },
    "there is no tensor of tensors of different sizes": {"torch.Tensor": "to_padded_tensor"},
    "there is no complex number of two half-precision ones": {
        "torch": "chalf complex32", "torch.Tensor": "chalf",
    },
    "it is no part of what PyTorch documents": {
        "torch": "_assert_async hash_tensor prepare_multiprocessing_environment s_copy_ s_native_addmm s_native_addmm_ "
                 "slice_inverse thread_safe_generator native_norm AVG AggregationType PyTorchFileReader "
                 "PyTorchFileWriter SUM ThroughputBenchmark candidate CudaBoolStorageBase CudaByteStorageBase "
                 "CudaCharStorageBase CudaDoubleStorageBase CudaFloatStorageBase CudaHalfStorageBase "
                 "CudaIntStorageBase CudaLongStorageBase CudaShortStorageBase HalfStorageBase",
        "torch.Tensor": "hash_tensor slice_inverse",
    },
}
NAMES = {}             # {namespace: {name: reason}}
for _reason, _spaces in TABLE.items():
    for _space, _names in _spaces.items():
        NAMES.setdefault(_space, {}).update(dict.fromkeys(_names.split(), _reason))


def refused(space, name):
    """The function that stands for a name of a namespace; None if it is not refused."""
    if name not in NAMES.get(space, ()):
        return None
    reason = NAMES[space][name]

    def refuse(*args, **kwargs):
        raise NotImplementedError(f"{space}.{name} is not implemented: {reason}")
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__ = f"{__package__}{space[5:]}" if space != "torch.Tensor" else __package__
    refuse.refuses = True
    refuse.__doc__ = f"Not implemented: {reason}."
    return refuse


def attribute(space, name):
    """What a module's ``__getattr__`` gives for a name that the module has not."""
    found = refused(space, name)
    if found is None:
        raise AttributeError(f"module {space!r} has no attribute {name!r}")
    return found

"""Which function does what under autocast on CUDA: torch's own lists."""

LOWER = frozenset("""
    conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution prelu addmm addmv addr
    matmul __matmul__ __rmatmul__ einsum mm mv linear addbmm baddbmm bmm chain_matmul multi_dot linalg_multi_dot vecdot
    linalg_vecdot lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell scaled_dot_product_attention
    """.split())
FULL = frozenset("""
    __pow__ __rpow__ __rtruediv__ __rdiv__ acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh
    tan pow softplus layer_norm native_layer_norm group_norm norm frobenius_norm nuclear_norm cosine_similarity
    poisson_nll_loss cosine_embedding_loss nll_loss cross_entropy hinge_embedding_loss kl_div l1_loss smooth_l1_loss
    huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss triplet_margin_loss
    multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp
    """.split())
# In float32, unless they are told a dtype.
FULL_BY_DEFAULT = frozenset("prod softmax softmin log_softmax cumprod cumsum sum vector_norm matrix_norm".split())
WIDEST = frozenset("""
    addcdiv addcmul atan2 bilinear cross dot vdot grid_sample grid_sampler index_put tensordot scatter_add cat stack
    """.split())
UNSAFE = frozenset(("binary_cross_entropy",))

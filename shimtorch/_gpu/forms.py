"""Which ops work on a CUDA device, and how.

Ops that are a loop or a reduction (``unary``, ``binary``, ``reduction``) need no entry: kernels are found by name.
``COMPOSED`` names those whose own forward works on a device, since all that it is made of does; views only touch shape
and strides. ``FORMS`` names those that have a forward of their own there. An op with derivative rules that stands
nowhere is refused or, if asked for, computed on the CPU (see ``fallback``); one without rules is what it is made of,
but for those of ``COMPOSITE_FORMS`` and ``REFUSED``.
"""
import importlib

from .._core import OPS
from .._core.op import Op
from .._ops import later
from .fallback import fallback

VIEWS = """
    view reshape expand permute transpose t slice select narrow unsqueeze squeeze flatten as_strided unfold diagonal
    detach real imag view_as_real view_as_complex movedim swapaxes unbind split chunk
"""
COMPOSED = """
    clone contiguous to_dtype to_device copy_ fill_ zero_ abs sgn square round conj conj_physical angle where_op clamp
    mm mv _dot bmm matmul addmm addmv baddbmm addbmm addr linear
    cat stack _softmax _log_softmax _softmax_backward _log_softmax_backward cumsum cumprod _max_all _min_all _var
    split_with_sizes addcmul addcdiv lerp masked_fill_ masked_fill mean prod nan_to_num nextafter complex logit sinc
    celu elu gelu hardshrink glu hardsigmoid hardtanh leaky_relu selu softplus softshrink threshold positive ndtr
    spherical_bessel_j0 as_strided_scatter fill_diagonal_ squeeze_ t_ transpose_ unsqueeze_ alias narrow_copy
    _norm logsumexp _max_dim _min_dim threshold_backward diagonal_backward select_backward slice_backward
    as_strided_backward unfold_backward uniform_ normal_ bernoulli_ bernoulli exponential_ cauchy_ log_normal_
    geometric_ random_ normal poisson binomial _standard_gamma _sample_dirichlet normalise_rows normalise_channels
    recurrent_layer to_dense _complex_logaddexp _unit_matrices pad_constant huber cross_entropy_terms
    unfold_columns fold_columns
    cholesky_solve cholesky_inverse erfinv digamma polygamma i0 i0e _i1 i1 i1e _zeta _xlog1py _pinv
"""
FORMS = {
    "indexing": "index index_put_zeros index_put_ index_select index_add_zeros gather scatter_add_",
    "combining": "index_add_ index_copy_ index_fill_ index_reduce_ scatter_ scatter_reduce_ put_ masked_scatter_",
    "losses": "nll_sum nll_backward nll_each nll_spread embedding_dense_backward multi_margin multilabel_margin",
    "windows": "conv_gather conv_spread conv_weigh pool_max pool_mean pool_spread_mean pool_put pool_take",
    "order": "_sort _topk _kth cummax cummin",
    "arranging": "flip roll tril triu pad_edges pad_fold",
    "fourier": "_c2c _r2c _c2r",
    "factoring": "_lu_factor _cholesky _solve_triangular _solve _inv _det _slogdet",
    "spectra": "_geqrf _qr _svd _eigh _lstsq _gels _matrix_exp",
}
# Ops without rules, which are made of others on the CPU, or of NumPy's functions.
COMPOSITE_FORMS = {
    "arranging": "repeat_interleave",
    "combining": "take",
    "losses": "multi_margin_backward multilabel_margin_backward",
    "counting": "unique unique_consecutive bincount histc searchsorted isin mode",
}
REFUSED = "histogram histogramdd"    # ops without rules, a part of which would be made on the CPU
RENAMED = {"embedding_lookup": ("indexing", "rows_of")}


def _later(module, function):
    """A form whose module is imported when it is first called."""
    def form(*args, **kwargs):
        return getattr(importlib.import_module("." + module, __package__), function)(*args, **kwargs)
    form.__name__ = function
    return form


def _forms_of(table):
    return {name: _later(module, name) for module, names in table.items() for name in names.split()}


def bind():
    """Tell the ops what they do on a device."""
    later.load_all()
    forms = dict.fromkeys((VIEWS + COMPOSED).split(), True)
    forms.update(_forms_of(FORMS))
    forms.update({name: _later(*where) for name, where in RENAMED.items()})
    composite, refused = _forms_of(COMPOSITE_FORMS), REFUSED.split()
    for full, made in OPS.items():
        if not isinstance(made, Op) or made.cuda is not None or made.__name__ != full.rpartition(".")[2]:
            continue
        name = made.__name__
        if made.differentiable is not None:
            made.cuda = forms.get(name)
        elif name in refused:
            made.cuda = fallback(made, made.forward)
        else:
            made.cuda = composite.get(name, True)

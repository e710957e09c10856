"""Which ops work on a CUDA device, and how.

Ops that are a loop or a reduction (``unary``, ``binary``, ``reduction``) need no entry: kernels are found by name.
``COMPOSED`` names those whose own forward works on a device, since all that it is made of does; views only touch shape
and strides. ``FORMS`` names those that have a forward of their own there. An op with derivative rules that stands
nowhere is refused or, if asked for, computed on the CPU (see ``fallback``); one without rules is what it is made of.
"""
import importlib

from .._core import OPS
from .._core.op import Op
from .._ops import later

VIEWS = """
    view reshape expand permute transpose t slice select narrow unsqueeze squeeze flatten as_strided unfold diagonal
    detach real imag view_as_real view_as_complex movedim swapaxes unbind split chunk
"""
COMPOSED = """
    clone contiguous to_dtype to_device copy_ fill_ zero_ abs sgn square round conj conj_physical angle where_op clamp
    mm mv _dot bmm matmul addmm addmv baddbmm addbmm addr linear
    cat stack _softmax _log_softmax _softmax_backward _log_softmax_backward cumsum cumprod _max_all _min_all _var
    split_with_sizes addcmul addcdiv lerp masked_fill_ masked_fill mean prod nan_to_num nextafter complex logit sinc
    celu elu gelu hardshrink hardsigmoid hardtanh leaky_relu selu softplus softshrink threshold positive ndtr
    spherical_bessel_j0 as_strided_scatter fill_diagonal_ squeeze_ t_ transpose_ unsqueeze_ alias narrow_copy
    _norm logsumexp _max_dim _min_dim threshold_backward diagonal_backward select_backward slice_backward
    as_strided_backward unfold_backward uniform_ normal_ bernoulli_ bernoulli
"""
FORMS = {
    "indexing": "index index_put_zeros index_put_ index_select index_add_zeros gather scatter_ scatter_add_",
    "losses": "nll_sum nll_backward embedding_dense_backward",
}
RENAMED = {"embedding_lookup": ("indexing", "rows_of")}


def _later(module, function):
    """A form whose module is imported when it is first called."""
    def form(*args, **kwargs):
        return getattr(importlib.import_module("." + module, __package__), function)(*args, **kwargs)
    form.__name__ = function
    return form


def bind():
    """Tell the ops what they do on a device."""
    later.load_all()
    forms = dict.fromkeys((VIEWS + COMPOSED).split(), True)
    forms.update({name: _later(module, name) for module, names in FORMS.items() for name in names.split()})
    forms.update({name: _later(*where) for name, where in RENAMED.items()})
    for full, made in OPS.items():
        name = full.rpartition(".")[2]
        if name in forms and isinstance(made, Op) and made.cuda is None and made.__name__ == name:
            made.cuda = forms[name]
        elif isinstance(made, Op) and made.cuda is None and made.differentiable is None:
            made.cuda = True

"""Declaring ops: the decorators, and the tables in which every op stands."""
from .inplace import InplaceOp
from .op import OPS, Op
from .tensor import bind_operator

METHODS = {}      # what Tensor gets


def register(op):
    """Enter an op in the tables under its name and aliases."""
    for name in (op.__name__,) + op.aliases:
        if op.is_function:
            OPS[f"{op.namespace}.{name}"] = op
        if op.is_method:
            METHODS[name] = op
    OPS.setdefault(f"{op.namespace}.{op.__name__}", op)
    return op


def op(forward=None, *, name=None, grads=None, inplace=False, **options):
    """Declare an op: a decorator of its forward function.

    grads: {argument: rule}, or {(arguments): rule giving a tuple}; a rule's parameter names say what backward needs:
    ``g`` (the gradient), ``out``, arguments by name, ``<arg>_shape``, ``<arg>_dtype``, ``needs``, names of ``aux``.
    None makes a composite, differentiated through the ops that it calls.

    Options: namespace ("torch"), method, function (True), inplace (False), out (False; True, or an argument that
    calls with ``out=`` must have), dtype_of_out (the result is computed in the dtype of ``out``), aliases, aux
    (further results for the rules alone), materialize_grads (True: for results that no gradient came from the rules
    get zeros, else None), takes_list, sparse (forward for sparse operands), cuda (forward for operands on a device;
    most are named in _gpu/forms.py), legacy (argument forms of old versions), renames (keyword aliases), samples,
    backward_name (the node's name, or a function of some of the arguments that gives it; of a composite, the name of
    its last node), operator, inplace_operator. For error messages: overloads (torch has several forms), tensors_only
    (True: a number does not do for ``other`` and its like). differentiable: False of results in floating-point
    numbers that never have history.
    """
    if forward is None:
        return lambda f: op(f, name=name, grads=grads, inplace=inplace, **options)
    return enter(Op(forward, name or forward.__name__, grads, options), inplace, options)


def enter(made, inplace, options):
    """Enter a declared op in the tables, with its in-place form and its operators; returns it."""
    register(made)
    if inplace:
        # the signature is the base op's, whose forward it shares
        extra = {k: options[k] for k in ("legacy", "legacy_min", "renames", "signature") if k in options}
        made.inplace_op = made.inplace_class()(made.forward, made.__name__ + "_", None,
                                               dict(extra, method=made.namespace == "torch", function=True,
                                                    namespace=made.namespace, sparse=options.get("sparse_"),
                                                    aliases=[a + "_" for a in made.aliases]), made)
        register(made.inplace_op)
    for slot in names_of(options.get("operator")):
        bind_operator(slot, made)
    for slot in names_of(options.get("inplace_operator")):
        bind_operator(slot, made.inplace_op)
    return made


def names_of(x):
    return () if x is None else (x,) if isinstance(x, str) else x


def inplace_op(forward=None, *, name=None, grads=None, **options):
    """Declare an op whose forward itself writes to its first argument.

    Options: those of ``op``, and minds_history: without rules, the forward itself sees to tensors that require grad;
    minds_overlap: it is right for tensors whose elements lie on each other (it writes the same to all, or nothing).
    """
    if forward is None:
        return lambda f: inplace_op(f, name=name, grads=grads, **options)
    options.setdefault("function", False)
    made = InplaceOp(forward, name or forward.__name__, grads, options)
    register(made)
    for slot in names_of(options.get("operator")):
        bind_operator(slot, made)
    return made

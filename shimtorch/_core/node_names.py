"""What older versions called the nodes of the graph: theirs had a number only where an op had several forms."""

# Ops that had several forms in 1.1.
_NUMBERED = frozenset(
    "Add Cumprod Cumsum Div Fmod Hardtanh LeakyRelu Lerp MaskedFill Max Mean Median Min Mul Norm Pow Prod Relu "
    "Remainder Rsub Squeeze Std Sub Sum Threshold Transpose Unsqueeze Var".split())
_OLD = {
    "1.11": {"WhereBackward0": "SWhereBackward0", "LinalgVectorNormBackward0": "NormBackward1"},
    "1.1": {"WhereBackward0": "SWhereBackward", "LinalgVectorNormBackward0": "NormBackward1",
            "SumBackward1": "SumBackward2", "ProdBackward1": "ProdBackward2",
            "MeanBackward1": "MeanBackward2", "MaximumBackward0": "MaxBackward2", "MinimumBackward0": "MinBackward2",
            "ToCopyBackward0": "torch::autograd::CopyBackwards", "SqueezeBackward2": "SqueezeBackward1"},
}
_OLD["1.0"] = {**_OLD["1.1"], "MeanBackward0": "MeanBackward1", "MeanBackward1": "MeanBackward0",
               "LerpBackward0": "LerpBackward"}


def old_name(name, version):
    """The name that a version ('1.11', '1.1' or '1.0') had for the node that is called name today."""
    if name in _OLD[version]:
        return _OLD[version][name]
    stem, _, number = name.rpartition("Backward")
    return name if version == "1.11" or not number.isdigit() or stem in _NUMBERED else stem + "Backward"


# Contractions are one node here, several in torch: their names are those of the last one, in 2.13, in 1.11 and before.
CONTRACTIONS = {
    "pair": ("ViewBackward0", "ViewBackward0", "AsStridedBackward"),
    "dot": ("ViewBackward0", "DotBackward0", "AsStridedBackward"),
    "sum": ("SumBackward1", "SumBackward1", "SqueezeBackward3"),
    "product": ("MulBackward0", "MulBackward0", "MulBackward0"),
    "outer": ("MulBackward0", "MulBackward0", "GerBackward"),
    "matmul": ("UnsafeViewBackward0", "UnsafeViewBackward0", "UnsafeViewBackward"),
    "row": ("SqueezeBackward4", "SqueezeBackward3", "SqueezeBackward3"),
    "rows": ("UnsafeViewBackward0", "ReshapeAliasBackward0", "UnsafeViewBackward"),
    "turned": ("CloneBackward0", "CloneBackward0", "UnsafeViewBackward"),
    "turned one": ("CloneBackward0", "UnsafeViewBackward0", "UnsafeViewBackward"),
    "reshaped": ("ViewBackward0", "ReshapeAliasBackward0", "AsStridedBackward"),
    "chain": ("ViewBackward0", "ViewBackward0", "MmBackward"),
}


def contraction_name(form, version):
    """The name of the node of a contraction in a version: None (today's), '1.11', '1.1' or '1.0'."""
    return CONTRACTIONS[form][0 if version is None else 1 if version == "1.11" else 2]

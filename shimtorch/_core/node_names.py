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

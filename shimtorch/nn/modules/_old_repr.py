"""What older versions wrote inside a module's repr, where it differs from today's ``extra_repr``."""
import re

_ORDER = ("1.0", "1.1", "1.11")
_NORM = r"_NormBase|GroupNorm|LayerNorm"

# The last version that wrote it so, the classes, and how today's text becomes that version's.
_RULES = (
    ("1.11", _NORM, r", bias=(True|False)", ""),
    ("1.11", "EmbeddingBag|Upsample", r"mode='(\w+)'", r"mode=\1"),
    ("1.11", "Softplus", r"(\d)\.0\b", r"\1"),
    ("1.1", "Module", r",? ?inplace=False", ""),
    ("1.1", "Module", r"inplace=True", "inplace"),
    ("1.1", "LayerNorm", r"^\((.*?),?\)", r"torch.Size([\1])"),
    ("1.1", "Softmax|LogSoftmax", r".*", ""),
    ("1.1", "ZeroPad2d", r"^(\(.*\))$", r"padding=\1, value=0.0"),
    ("1.0", "Upsample", r"(scale_factor=\d+)\.0\b", r"\1"),
)


def old_extra_repr(module, version):
    """``module.extra_repr()`` as a version ('1.0', '1.1' or '1.11') wrote it; of a user's own method, what it gives."""
    text = module.extra_repr()
    if type(module).extra_repr.__module__.partition(".")[0] != __name__.partition(".")[0]:
        return text
    names = {cls.__name__ for cls in type(module).__mro__}
    for last, classes, pattern, replacement in _RULES:
        if _ORDER.index(version) <= _ORDER.index(last) and not names.isdisjoint(classes.split("|")):
            text = re.sub(pattern, replacement, text)
    return text

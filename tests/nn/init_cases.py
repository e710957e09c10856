"""Initialisers whose exact draws and errors are recorded from PyTorch."""

from recorded import answer, digest

CASES = """
uniform_(e(3, 5))
uniform_(e(3, 5), -2.0, 5.0)
uniform_(e(3, 5), generator=torch.Generator().manual_seed(5))
normal_(e(3, 5))
normal_(e(4, 5), 1.0, 3.0)
trunc_normal_(e(5, 8))
trunc_normal_(e(5, 8), 0.5, 2.0, 1.0, 1.5)
constant_(e(3, 5), 3.0)
ones_(e(3))
zeros_(e(3))
eye_(e(3, 5))
eye_(e(3, 5, 2))
dirac_(e(4, 3, 3))
dirac_(e(4, 3, 3, 3), 2)
dirac_(e(3, 3, 3), 2)
dirac_(e(3, 3))
xavier_uniform_(e(3, 5))
xavier_uniform_(e(3, 5, 2), gain=2.0)
xavier_uniform_(e(3))
xavier_normal_(e(4, 5, 3))
kaiming_uniform_(e(3, 5))
kaiming_uniform_(e(3, 5), a=5 ** 0.5)
kaiming_uniform_(e(3, 5, 2), mode="fan_out", nonlinearity="relu")
kaiming_uniform_(e(3, 5), mode="fan")
kaiming_uniform_(e(3, 5), nonlinearity="swish")
kaiming_normal_(e(4, 6))
sparse_(e(6, 4), 0.3)
sparse_(e(6), 0.3)
orthogonal_(e(3))
calculate_gain("relu")
calculate_gain("tanh")
calculate_gain("selu")
calculate_gain("leaky_relu", 0.2)
calculate_gain("leaky_relu", "x")
calculate_gain("swish")
""".strip().split("\n")


def run(torch, case):
    """The fingerprint of the tensor that an initialiser fills, and the draw that comes after."""

    def call():
        torch.manual_seed(11)
        name = case[: case.index("(")]
        namespace = {name: getattr(torch.nn.init, name), "torch": torch, "e": torch.empty}
        result = eval(case, namespace)
        if hasattr(result, "shape"):
            return {"digest": digest(result), "next draw": torch.rand(1).item()}
        return result

    return answer(call)

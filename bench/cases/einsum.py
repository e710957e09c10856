"""Contractions of dense tensors, small and large, forward and backward; also by NumPy and by opt_einsum over NumPy."""

from . import Case, tensor

CASES = []
PEERS = ("numpy", "opt_einsum")


def contraction(equation, *shapes, backward=False, peers=PEERS):
    """Cases of an equation: the contraction, or with `backward` the gradients of its sum too."""

    def build(t, numbers):
        operands = [tensor(t, numbers, *shape) for shape in shapes]
        if not backward:
            return lambda: t.einsum(equation, *operands)
        for operand in operands:
            operand.requires_grad_(True)
        return lambda: t.autograd.grad(t.einsum(equation, *operands).sum(), operands)

    def by_arrays(t, numbers):
        """The same without gradients of its own: backward, each operand's is a contraction of the others."""
        operands = [numbers.standard_normal(shape).astype("float32") for shape in shapes]

        def contract(equation, *operands):
            if t.__name__ == "numpy":
                return t.einsum(equation, *operands, optimize=True)
            return t.contract(equation, *operands)

        if not backward:
            return lambda: contract(equation, *operands)
        terms, output = equation.split("->")
        terms = terms.split(",")
        others = [([output, *terms[:i], *terms[i + 1:]], term) for i, term in enumerate(terms)]
        equations = [f"{','.join(given)}->{term}" for given, term in others]

        def gradients():
            g = contract(equation, *operands)
            g = (g * 0 + 1).astype(g.dtype)
            return [contract(back, g, *operands[:i], *operands[i + 1:]) for i, back in enumerate(equations)]

        return gradients

    sizes = " ".join("x".join(map(str, shape)) for shape in shapes[:2])
    CASES.append(Case(f"{equation} {sizes}{' backward' if backward else ''}", build,
                      dict.fromkeys(peers, by_arrays)))


for n in (4, 16, 64):
    contraction("ij,jk->ik", (n, n), (n, n))
for n in (5, 2000):
    contraction("ii", (n, n))
    contraction("ii->i", (n, n))
    contraction("i,j->ij", (n,), (n,))
    contraction("ij->", (n, n))
    contraction("ij->j", (n, n))
    contraction("ij->i", (n, n))
    contraction("ij,ij->ij", (n, n), (n, n))
    contraction("ij,ij->", (n, n), (n, n))
    contraction("ij,ij->i", (n, n), (n, n))
    contraction("ij,j->i", (n, n), (n,))
contraction("bij,bjk->bik", (3, 2, 5), (3, 5, 4))
contraction("bij,bjk->bik", (512, 8, 8), (512, 8, 8))
contraction("bij,bjk->bik", (64, 64, 64), (64, 64, 64))
contraction("...ij->...ji", (2, 3, 4, 5))
contraction("...ij,jk->...ik", (16, 8, 32, 64), (64, 64))
contraction("ij,kj->ki", (512, 512), (512, 512))
contraction("bchw,cd->bdhw", (8, 32, 28, 28), (32, 64))
contraction("jk,ijkl->il", (32, 32), (32, 32, 32, 32))
contraction("ac,abc->cb", (128, 128), (128, 128, 128))
contraction("bihd,bjhd->bhij", (8, 128, 8, 64), (8, 128, 8, 64))
contraction("bhij,bhjd->bhid", (8, 8, 128, 128), (8, 8, 128, 64))
contraction("abcd,ae,bf,cg,dh->efgh", (16, 16, 16, 16), (16, 8), (16, 8), (16, 8), (16, 8))
contraction("ab,bcd,def,fgh,hij,jk->acegik", (6, 8), (8, 6, 8), (8, 6, 8), (8, 6, 8), (8, 6, 8), (8, 6))
for backward in (False, True):
    contraction("ij,jk->ik", (512, 512), (512, 512), backward=backward)
    contraction("bn,anm,bm->ba", (2, 5), (3, 5, 4), (2, 4), backward=backward)
    contraction("bn,anm,bm->ba", (128, 64), (32, 64, 64), (128, 64), backward=backward)
    contraction("bhid,bhjd->bhij", (8, 8, 128, 64), (8, 8, 128, 64), backward=backward)
    contraction("ij,jk,kl,lm->im", (400, 10), (10, 400), (400, 10), (10, 400), backward=backward)
    # NumPy's path, bound by the size of the operands, takes minutes here
    contraction("abc,cde,efg,gha->bdfh", *[(16, 12, 16)] * 4, backward=backward, peers=("opt_einsum",))

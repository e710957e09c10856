"""Optimisers whose trajectories, states and errors are recorded from PyTorch."""

import copy

from recorded import answer

# What PyTorch 1.1 has too: for the eras.
OLD = """
SGD(p, lr=0.01, momentum=0.9, weight_decay=0.1)
Adam(p, lr=0.1, eps=0.01)
Adam(p, lr=0.1, amsgrad=True, weight_decay=0.1, eps=0.01)
Adamax(p, lr=0.1)
RMSprop(p, momentum=0.9, centered=True)
Adagrad(p, lr=0.1)
ASGD(p, t0=2)
Rprop(p, lr=0.1)
""".strip().split("\n")

CASES = OLD + """
SGD(p, lr=0.01)
SGD(p, lr=0.01, momentum=0.9)
SGD(p, lr=0.01, momentum=0.9, nesterov=True, weight_decay=0.1)
SGD(groups, lr=0.01, momentum=0.9, dampening=0.3, maximize=True)
SGD(named, lr=0.01)
SGD(p, lr=torch.tensor(0.01))
Adam(p, lr=0.1)
Adam(p, lr=0.1, amsgrad=True, weight_decay=0.1)
Adam(groups, lr=0.1, betas=(0.5, 0.8), eps=0.001, maximize=True)
AdamW(p, lr=0.1)
AdamW(p, lr=0.1, amsgrad=True)
Adamax(p, lr=0.1, weight_decay=0.1)
NAdam(p, lr=0.1)
NAdam(p, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True)
RAdam(p, lr=0.1, betas=(0.5, 0.9))
RAdam(p, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True)
RMSprop(p)
RMSprop(p, momentum=0.9, centered=True, weight_decay=0.1)
Adagrad(p, lr=0.1)
Adagrad(p, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.5)
Adadelta(p, lr=0.5, weight_decay=0.1)
ASGD(p)
ASGD(p, t0=2, lambd=0.1, weight_decay=0.1)
Rprop(p, lr=0.1)
LBFGS(p, max_iter=3)
LBFGS(p, lr=0.1, history_size=2)
LBFGS(p, line_search_fn="strong_wolfe")
LBFGS(p, line_search_fn="strong_wolfe", max_iter=40, lr=1e-4)
Adafactor(p, lr=0.1)
Adafactor(p, lr=torch.tensor(0.1), beta2_decay=-0.5, eps=(1e-3, 0.1), weight_decay=0.1, maximize=True)
Adafactor(groups, d=1.5)
Muon(p[:1], lr=0.1)
Muon(p[:1], lr=0.1, nesterov=False, adjust_lr_fn="match_rms_adamw", weight_decay=0)
Muon(p[:1], lr=0.1, ns_steps=3, ns_coefficients=(3.0, -4.0, 2.0), adjust_lr_fn="original")
SGD(p, lr=0.1) sparse
Adagrad(p, lr=0.1) sparse
Adagrad(p, lr=0.1, lr_decay=0.2, initial_accumulator_value=0.1) sparse
Adagrad(p, lr=0.1, weight_decay=0.1) sparse
SparseAdam(p, lr=0.1) sparse
SparseAdam(p, lr=0.1, betas=(0.5, 0.6), maximize=True) sparse
SparseAdam(p)
Adam(p) sparse
AdamW(p) sparse
Adamax(p) sparse
NAdam(p) sparse
RAdam(p) sparse
RMSprop(p) sparse
Adadelta(p) sparse
ASGD(p) sparse
Rprop(p) sparse
Adafactor(p) sparse
Muon(p[:1]) sparse
SGD(p, lr=-1.0)
SGD(p, lr=1.0, momentum=-1)
SGD(p, lr=1.0, weight_decay=-1)
SGD(p, lr=1.0, nesterov=True)
Adam(p, eps=-1)
Adam(p, betas=(1.0, 0.1))
Adam(p, betas=(0.1, 1.0))
Adam(p, weight_decay=-1)
Adagrad(p, lr_decay=-1)
Adagrad(p, eps=-1)
Adadelta(p, rho=3)
RMSprop(p, alpha=-1)
RMSprop(p, momentum=-1)
Rprop(p, etas=(2, 3))
NAdam(p, momentum_decay=-1)
SparseAdam(p, eps=0)
Adafactor(p, lr=-1)
Adafactor(p, beta2_decay=0.1)
Adafactor(p, eps=(-1, 1e-3))
Adafactor(p, eps=(None, -1))
Adafactor(p, d=0.5)
Adafactor(p, weight_decay=-1)
Adafactor(p, lr=torch.ones(2))
Muon(p[:1], lr=-1)
Muon(p[:1], momentum=-1)
Muon(p[:1], weight_decay=-1)
Muon(p[:1], adjust_lr_fn="x")
Muon(p[:1], ns_steps=100)
Muon(p[:1], ns_coefficients=(1, 2))
Muon(p)
LBFGS(groups)
LBFGS(p, line_search_fn="x")
SGD([], lr=1.0)
SGD(p[0], lr=1.0)
SGD([p[0] * 2], lr=1.0)
SGD([{"params": {p[0]}}], lr=1.0)
SGD([1], lr=1.0)
SGD([{"params": p}, {"params": p}], lr=1.0)
SGD([("a", p[0]), p[1]], lr=1.0)
SGD([{"params": [p[0]], "lr": 2.0}, {"params": [p[1]], "momentum": 0.5}], lr=1.0)
""".strip().split("\n")


def _parameters(torch, dtype):
    values = [[[0.3, -0.2, 0.9, -1.1], [1.2, 0.05, -0.4, 0.7], [-0.6, 0.8, 0.1, -0.9]], [0.5, -0.25, 0.75]]
    return [torch.tensor(v, dtype=dtype).requires_grad_() for v in values]


def run(torch, case, steps_only=False):
    """Six steps, with the state saved and loaded into a new optimiser after three.

    L-BFGS takes two: near the minimum its steps hang on the last bits of the loss.
    """
    source, _, kind = case.partition(") ")
    source = source + ")" if kind else source

    def call():
        lbfgs = "LBFGS" in source
        p = _parameters(torch, torch.float64 if lbfgs else torch.float32)
        first = p[0].detach().clone()

        def make():
            namespace = {
                "torch": torch,
                "p": p,
                "groups": [{"params": p[:1], "lr": 0.05}, {"params": p[1:]}],
                "named": [("first", p[0]), ("second", p[1])],
            }
            name = source[: source.index("(")]
            namespace[name] = getattr(torch.optim, name)
            return eval(source, namespace)

        def closure():
            optimizer.zero_grad()
            loss = (p[0] ** 4).sum() + (p[1] * p[1]).sum() * 0.5 + (p[0][:, :3] * p[1]).sum() * 0.1
            loss.backward()
            return loss

        def set_gradients():
            with torch.no_grad():
                p[0].grad = p[0] * p[0] * p[0] * 4.0
                p[1].grad = p[1] + p[0][1, :3] * 0.125
            if kind:
                grad = p[0].grad[[0, 2, 0]]
                p[0].grad = torch.sparse_coo_tensor(torch.tensor([[0, 2, 0]]), grad, (3, 4))
                p[1].grad = None

        optimizer = make()
        steps = []
        for i in range(2 if lbfgs else 6):
            if lbfgs:
                optimizer.step(closure)
            else:
                set_gradients()
                optimizer.step()
            steps.append([v for t in p for v in t.detach().reshape(-1).tolist()])
            if i == (0 if lbfgs else 2):
                saved = copy.deepcopy(optimizer.state_dict())
                optimizer = make()
                optimizer.load_state_dict(saved)
        if steps_only:
            return steps
        state = optimizer.state_dict()
        result = {
            "moved": not torch.equal(first, p[0]),
            "steps": [steps[0], steps[-1]],
            "groups": state["param_groups"],
            "repr": repr(optimizer),
        }
        if not lbfgs:
            result["state"] = state["state"]
        return result

    return answer(call)

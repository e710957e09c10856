"""Learning rates that schedules set, recorded from PyTorch 2.13, and from 1.1 and 1.0 for what those have.

``o`` is an optimiser with two groups, ``L`` the module lr_scheduler.
"""

from recorded import answer

OLD = """
L.LambdaLR(o, lambda e: 0.9 ** e)
L.StepLR(o, 3)
L.StepLR(o, 4, 0.5)
L.MultiStepLR(o, [2, 5, 9])
L.ExponentialLR(o, 0.9)
L.CosineAnnealingLR(o, 7)
L.CosineAnnealingLR(o, 5, 0.01)
L.ReduceLROnPlateau(o, patience=2)
L.ReduceLROnPlateau(o, "max", 0.5, 1, threshold_mode="abs", cooldown=2, min_lr=[0.01, 0.02])
""".strip().split("\n")

CASES = OLD + """
L.LambdaLR(o, [lambda e: 0.9 ** e, lambda e: 1 / (e + 1)])
L.MultiplicativeLR(o, lambda e: 0.95)
L.MultiStepLR(o, [2, 5, 5, 9])
L.ConstantLR(o)
L.LinearLR(o, 0.1, 0.7, 8)
L.PolynomialLR(o, 9, 2.0)
L.CosineAnnealingWarmRestarts(o, 3, 2)
L.CosineAnnealingWarmRestarts(o, 4, 1, 0.01)
L.CyclicLR(o, 0.1, 1.0, 4, 6)
L.CyclicLR(o, 0.1, 1.0, 4, mode="triangular2")
L.CyclicLR(o, 0.1, 1.0, 4, mode="exp_range", gamma=0.9, cycle_momentum=False)
L.CyclicLR(o, 0.1, 1.0, 4, scale_fn=lambda x: 1 / (5 ** (x * 0.1)), scale_mode="iterations")
L.OneCycleLR(o, 1.0, 26)
L.OneCycleLR(o, 1.0, epochs=5, steps_per_epoch=6, anneal_strategy="linear", three_phase=True, pct_start=0.2)
L.OneCycleLR(o, 1.0, 10)
L.SequentialLR(o, [L.ConstantLR(o, 0.1, 2), L.ExponentialLR(o, 0.9)], [3])
L.SequentialLR(o, [L.LinearLR(o, 0.1, 1, 5), L.CosineAnnealingLR(o, 10), L.StepLR(o, 2)], [5, 12])
L.ChainedScheduler([L.ConstantLR(o, 0.1, 2), L.ExponentialLR(o, 0.9)])
L.StepLR(o, 3, last_epoch=4)
L.StepLR(3, 3)
L.ReduceLROnPlateau(o, factor=2)
L.ReduceLROnPlateau(o, mode="x")
L.ReduceLROnPlateau(o, threshold_mode="x")
L.OneCycleLR(o, 1)
L.OneCycleLR(o, 1, -1)
L.CosineAnnealingWarmRestarts(o, 0)
L.LinearLR(o, 2)
L.ConstantLR(o, 2)
L.SequentialLR(o, [], [])
L.SequentialLR(o, [L.StepLR(o, 2)], [1])
L.ChainedScheduler([])
L.ChainedScheduler([L.ReduceLROnPlateau(o)])
L.CyclicLR(o, 0.1, 1, mode="z")
L.CyclicLR(o, [0.1], 1)
L.LambdaLR(o, [1])
""".strip().split("\n")

METRICS = [3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.5]


def run(torch, case, scheduler_first=False, rates_only=False):
    """The rates of both groups in every epoch, scheduler.step() at the start or at the end of it, and the state."""

    def call():
        parameters = [torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)]
        groups = [{"params": [parameters[0]], "lr": 0.5}, {"params": [parameters[1]], "lr": 0.25}]
        optimizer = torch.optim.SGD(groups, lr=0.5, momentum=0.9)
        library = torch.optim.lr_scheduler
        scheduler = eval(case, {"L": library, "o": optimizer})
        plateau = isinstance(scheduler, library.ReduceLROnPlateau)
        rates = []
        for metric in METRICS:
            if scheduler_first:
                scheduler.step(metric) if plateau else scheduler.step()
            rates.append([group["lr"] for group in optimizer.param_groups] + [optimizer.param_groups[0]["momentum"]])
            optimizer.step()
            if not scheduler_first:
                scheduler.step(metric) if plateau else scheduler.step()
        return rates if rates_only else [rates, sorted(scheduler.state_dict())]

    return answer(call)

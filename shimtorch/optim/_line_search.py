"""The line search of L-BFGS: a step that satisfies the strong Wolfe conditions."""


def cubic_minimum(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where the cubic through two points with the given slopes is smallest, within *bounds* (x1 to x2 if None)."""
    low, high = bounds if bounds is not None else ((x1, x2) if x1 <= x2 else (x2, x1))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    d2 = square**0.5
    if x1 <= x2:
        x = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        x = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(x, low), high)


class _Point:
    """A place on the line: step length, loss, gradient and slope."""

    __slots__ = ("t", "loss", "grad", "slope")

    def __init__(self, t, loss, grad, slope):
        self.t = t
        self.loss = loss
        self.grad = grad
        self.slope = slope


def strong_wolfe(evaluate, t, direction, loss, grad, slope, c1=1e-4, c2=0.9, tolerance_change=1e-9, max_ls=25):
    """Search along *direction* from length *t*; ``evaluate(t)`` gives loss and gradient there.

    *loss*, *grad* and *slope* belong to t = 0. Returns loss, gradient and length of the step, and the number of
    evaluations.
    """
    extent = direction.abs().max()
    origin = _Point(0, loss, grad.clone(), slope)

    def at(t):
        new_loss, new_grad = evaluate(t)
        return _Point(t, new_loss, new_grad, new_grad.dot(direction))

    bracket, done, iterations = _find_bracket(at, origin, t, c1, c2, max_ls)
    evals = iterations + 1
    low, high = (0, 1) if bracket[0].loss <= bracket[-1].loss else (1, 0)
    stalled = False
    while not done and iterations < max_ls:
        a, b = bracket
        if abs(b.t - a.t) * extent < tolerance_change:
            break
        t = cubic_minimum(a.t, a.loss, a.slope, b.t, b.loss, b.slope)
        t, stalled = _away_from_ends(t, min(a.t, b.t), max(a.t, b.t), stalled)
        point = at(t)
        evals += 1
        iterations += 1
        if point.loss > origin.loss + c1 * t * slope or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
        else:
            if abs(point.slope) <= -c2 * slope:
                done = True
            elif point.slope * (bracket[high].t - bracket[low].t) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = point
    best = bracket[low if len(bracket) > 1 else 0]
    return best.loss, best.grad, best.t, evals


def _find_bracket(at, origin, t, c1, c2, max_ls):
    """Lengthen the step until a minimum lies behind it.

    Returns the bracketing points (one if it satisfies the conditions), whether it does, and the iterations used.
    """
    previous, point = origin, at(t)
    for iteration in range(max_ls):
        if point.loss > origin.loss + c1 * point.t * origin.slope or (
            iteration > 1 and point.loss >= previous.loss
        ):
            return [previous, point], False, iteration
        if abs(point.slope) <= -c2 * origin.slope:
            return [point], True, iteration
        if point.slope >= 0:
            return [previous, point], False, iteration
        bounds = (point.t + 0.01 * (point.t - previous.t), point.t * 10)
        t = cubic_minimum(
            previous.t, previous.loss, previous.slope, point.t, point.loss, point.slope, bounds=bounds
        )
        previous, point = point, at(t)
    return [origin, point], False, max_ls


def _away_from_ends(t, start, end, stalled):
    """Keep *t* off the ends of the bracket when it comes near one twice in a row, or lies outside."""
    margin = 0.1 * (end - start)
    if min(end - t, t - start) >= margin:
        return t, False
    if stalled or t >= end or t <= start:
        t = end - margin if abs(t - end) < abs(t - start) else start + margin
        return t, False
    return t, True

"""What one call costs: operations on tiny tensors, backward through small graphs, steps of small models."""

from . import Case, fill, tensor

CASES = []


def small(name, function, grad=False, shapes=((4, 4), (4, 4))):
    """A case `function(t, a, b)` on small tensors, the first of which requires grad if `grad`."""

    def build(t, numbers):
        a, b = (tensor(t, numbers, *shape) for shape in shapes)
        a.requires_grad_(grad)
        return lambda: function(t, a, b)

    CASES.append(Case(name, build))


def case(name):
    """Make the decorated builder the case of this name."""

    def add(build):
        CASES.append(Case(name, build))
        return build

    return add


small("add", lambda t, a, b: a + b)
small("add, with grad", lambda t, a, b: a + b, grad=True)
small("add a number", lambda t, a, b: a + 1)
small("mul_ and add_", lambda t, a, b: a.mul_(0.5).add_(b))
small("mul, broadcast", lambda t, a, b: a * b, shapes=((4, 1), (4,)))
small("compare", lambda t, a, b: a > b)
small("exp", lambda t, a, b: a.exp())
small("relu", lambda t, a, b: t.relu(a))
small("matmul", lambda t, a, b: a @ b)
small("sum", lambda t, a, b: a.sum())
small("sum, one dim", lambda t, a, b: a.sum(1))
small("max, one dim", lambda t, a, b: a.max(1).values)
small("softmax", lambda t, a, b: t.softmax(a, 1))
small("view", lambda t, a, b: a.view(16))
small("t", lambda t, a, b: a.t())
small("index, integer", lambda t, a, b: a[0])
small("index, slice", lambda t, a, b: a[1:3, 0])
small("cat", lambda t, a, b: t.cat((a, b)))
small("stack", lambda t, a, b: t.stack((a, b)))
small("zeros", lambda t, a, b: t.zeros(4, 4))
small("tensor of a list", lambda t, a, b: t.tensor([1.0, 2.0, 3.0, 4.0]))
small("item", lambda t, a, b: a.item(), shapes=((1,), (1,)))
small("shape and dtype", lambda t, a, b: [len(a.shape), len(str(a.dtype)) > 0])
small("detach", lambda t, a, b: a.detach(), grad=True)
small("linear", lambda t, a, b: t.nn.functional.linear(a, b))
small("einsum", lambda t, a, b: t.einsum("ij,jk->ik", a, b))


def multiply_sum_backward(t, a, b):
    a.grad = None
    (a * b).sum().backward()
    return a.grad


def ten_operations(t, a, b):
    return t.autograd.grad(((((a * b + a).tanh() * b).exp() - a).sigmoid() * b).sum(), a)[0]


small("mul, sum, backward", multiply_sum_backward, grad=True)
small("grad of ten operations", ten_operations, grad=True)


@case("add under no_grad")
def add_under_no_grad(t, numbers):
    a = tensor(t, numbers, 4, 4).requires_grad_(True)

    def run():
        with t.no_grad():
            return a + a

    return run


@case("coalesce and sparse mm")
def coalesce_and_sparse_mm(t, numbers):
    indices = t.tensor(numbers.integers(0, 8, (2, 12)))
    values, dense = tensor(t, numbers, 12), tensor(t, numbers, 8, 4)
    return lambda: t.sparse.mm(t.sparse_coo_tensor(indices, values, (8, 8)).coalesce(), dense)


def perceptron(t, numbers):
    nn = t.nn
    return fill(t, numbers, nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2)))


@case("MLP forward")
def mlp_forward(t, numbers):
    net, x = perceptron(t, numbers), tensor(t, numbers, 1, 10)
    return lambda: net(x)


def training_step(name, make_optimizer):
    """A case: one step of a small perceptron on a batch of 32."""

    def build(t, numbers):
        net = perceptron(t, numbers)
        x, y = tensor(t, numbers, 32, 10), t.tensor(numbers.integers(0, 2, 32))
        optimizer, criterion = make_optimizer(t.optim, net.parameters()), t.nn.CrossEntropyLoss()

        def run():
            optimizer.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            optimizer.step()
            return loss

        return run

    CASES.append(Case(name, build))


training_step("MLP step, SGD", lambda optim, p: optim.SGD(p, lr=0.01))
training_step("MLP step, SGD with momentum", lambda optim, p: optim.SGD(p, lr=0.01, momentum=0.9))
training_step("MLP step, Adam", lambda optim, p: optim.Adam(p, lr=0.001))


@case("LSTMCell")
def lstm_cell(t, numbers):
    cell = fill(t, numbers, t.nn.LSTMCell(10, 20))
    x, h, c = (tensor(t, numbers, 3, size) for size in (10, 20, 20))
    return lambda: cell(x, (h, c))


@case("LSTM of five steps, backward")
def lstm_backward(t, numbers):
    net = fill(t, numbers, t.nn.LSTM(8, 16))
    x = tensor(t, numbers, 5, 3, 8)

    def run():
        net.zero_grad()
        output = net(x)[0]
        output.sum().backward()
        return output

    return run

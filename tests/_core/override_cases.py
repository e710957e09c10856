"""Classes and modes that override torch functions, at work: run on real torch for the record, and on shimtorch."""


def cases(torch, shown):
    """The cases by name; each appends the text of what happens to shown."""
    F = torch.nn.functional
    overrides = torch.overrides

    def show(*values):
        shown.extend(str(v) for v in values)

    def refused(call):
        try:
            call()
        except Exception as error:
            text = str(error).split("\n")[0].replace("torch.Tensor.", "torch.")
            for prefix in ("linalg_", "override_cases.", "tests._core.", "functional."):
                text = text.replace(prefix, "")
            show(type(error).__name__, text)

    def called(func):
        """A name that does not depend on whether a function or a method of one name was called."""
        return func.__name__.replace("linalg_", "").replace("fft_", "").replace("special_", "")

    class Diagonal:
        """A matrix that is a multiple of the identity, kept as two numbers: no Tensor at all."""

        handled = {}

        def __init__(self, n, value):
            self.n, self.value = n, value

        def __repr__(self):
            return f"Diagonal({self.n}, {self.value})"

        def dense(self):
            return self.value * torch.eye(self.n)

        @classmethod
        def implements(cls, function):
            def register(f):
                cls.handled[function] = f
                return f
            return register

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func not in cls.handled or not all(issubclass(t, (torch.Tensor, cls)) for t in types):
                return NotImplemented
            return cls.handled[func](*args, **(kwargs or {}))

    @Diagonal.implements(torch.mean)
    def mean(input):
        return float(input.value) / input.n

    @Diagonal.implements(torch.mm)
    def mm(input, mat2):
        return input.dense() @ mat2 if isinstance(input, Diagonal) else input @ mat2.dense()

    @Diagonal.implements(torch.stack)
    def stack(tensors, dim=0):
        return torch.stack([t.dense() if isinstance(t, Diagonal) else t for t in tensors], dim)

    @Diagonal.implements(torch.add)
    @Diagonal.implements(torch.Tensor.add)
    def add(input, other, *, alpha=1):
        parts = [t.dense() if isinstance(t, Diagonal) else t for t in (input, other)]
        return torch.add(*parts, alpha=alpha)

    @Diagonal.implements(F.mse_loss)
    def mse_loss(input, target, reduction="mean", **old_forms):
        return F.mse_loss(input.dense(), target, reduction=reduction)

    def duck_type():
        d, x = Diagonal(2, 3), torch.ones(2, 2)
        show(torch.mean(d), torch.mm(d, x), torch.mm(x, d), torch.stack([x, d]), torch.add(d, x, alpha=2), x + d, d + x)
        show(F.mse_loss(d, x), F.mse_loss(d, x, reduction="sum"))
        refused(lambda: torch.mul(d, 2))
        refused(lambda: torch.mul(2, d))
        refused(lambda: x * d)
        refused(lambda: d @ x)
        refused(lambda: x < d)
        refused(lambda: x[d])
        refused(lambda: torch.cat([d, x]))
        refused(lambda: torch.zeros(d))
        refused(lambda: torch.where(d, x, x))
        refused(lambda: torch.linalg.det(d))
        refused(lambda: F.relu(d))
        refused(lambda: torch.nn.Linear(2, 2)(d))
        refused(lambda: F.layer_norm(d, (2,)))
        refused(lambda: torch.add(x, x, out=d))
        show(overrides.is_tensor_like(d), overrides.has_torch_function((x, d)), torch.is_tensor(d), x == d)

    class Logged(torch.Tensor):
        """Writes down what is called."""

        log = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.log.append((called(func), [t.__name__ for t in types], len(args), sorted(kwargs or {})))
            return super().__torch_function__(func, types, args, kwargs or {})

    def logged(call):
        Logged.log.clear()
        result = call()
        show(*Logged.log, type(result).__name__)
        return result

    def logging():
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).as_subclass(Logged)
        i = torch.tensor([1, 0]).as_subclass(Logged)
        y = torch.ones(2, 2)
        for call in (
                lambda: x + 1, lambda: 1 - x, lambda: y - x, lambda: x // 2, lambda: 2 // x, lambda: 2 ** x,
                lambda: x @ y, lambda: y @ x, lambda: -x, lambda: ~i, lambda: i & i, lambda: x == y, lambda: x < 1,
                lambda: x[0], lambda: y[i], lambda: x[0, :, None], lambda: x.shape, lambda: x.size(0),
                lambda: x.dim(), lambda: x.dtype, lambda: x.T, lambda: x.data, lambda: x.grad, lambda: x.is_leaf,
                lambda: len(x), lambda: x.sum().item(), lambda: x.tolist(), lambda: x.numpy(), lambda: x.add_(1),
                lambda: torch.sum(x), lambda: torch.add(x, 1, alpha=2), lambda: torch.add(input=x, other=1),
                lambda: torch.add(y, x, out=torch.empty(2, 2)), lambda: torch.cat([x, y]), lambda: torch.stack((y, x)),
                lambda: torch.max(x, 0), lambda: x.unbind(), lambda: x.view(-1), lambda: x.to(torch.float64),
                lambda: x.new_zeros(2), lambda: torch.zeros_like(x), lambda: torch.as_tensor(x),
                lambda: F.relu(x, inplace=False), lambda: F.linear(x, x), lambda: torch.fft.fft(x),
                lambda: torch.linalg.inv(x), lambda: torch.where(x > 0, x, y), lambda: torch.equal(x, x),
                lambda: torch.numel(x), lambda: x.is_floating_point(), lambda: x.type_as(y), lambda: y.type_as(x),
                lambda: torch.nn.Parameter(x), lambda: x.detach(), lambda: x.clone(), lambda: x.stride()):
            logged(call)

        def assign():
            x[0] = 1

        def require():
            x.requires_grad = True

        logged(assign)
        logged(require)
        logged(lambda: x.requires_grad)
        show(x.detach().as_subclass(torch.Tensor))

    class Tagged(torch.Tensor):
        """A tensor with a note that results inherit."""

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            result = super().__torch_function__(func, types, args, kwargs or {})
            if isinstance(result, cls):
                result.note = "+".join(a.note for a in args if hasattr(a, "note"))
            return result

    def metadata():
        a, b = torch.ones(2).as_subclass(Tagged), torch.arange(2.0).as_subclass(Tagged)
        a.note, b.note = "a", "b"
        show((a + b).note, (a * 2).note, torch.maximum(b, a).note, a.exp().note, a[0].note, a.T.note, a + b)

    class Metres:
        """A quantity with a unit, that knows a few functions."""

        def __init__(self, data, unit="m"):
            self.data, self.unit = data, unit

        def __repr__(self):
            return f"{self.data.tolist()} {self.unit}"

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            units = [a.unit for a in args if isinstance(a, cls)]
            plain = [a.data if isinstance(a, cls) else a for a in args]
            if func in (torch.mul, torch.Tensor.mul):
                return cls(func(*plain, **(kwargs or {})), "".join(units))
            if func in (torch.add, torch.sub, torch.Tensor.add, torch.Tensor.sub):
                if len(set(units)) > 1 or len(units) < len(args):
                    raise TypeError(f"{func.__name__}: units do not agree")
                return cls(func(*plain, **(kwargs or {})), units[0])
            return NotImplemented

    def units():
        a, b = Metres(torch.tensor([1.0, 2.0])), Metres(torch.tensor([3.0, 5.0]), "s")
        show(torch.mul(a, b), torch.add(a, a), torch.mul(a, 2), torch.ones(2) * b)
        refused(lambda: torch.add(a, b))
        refused(lambda: torch.ones(2) - b)
        refused(lambda: torch.sin(a))

    class Plain(torch.Tensor):
        pass

    class Derived(Plain):
        pass

    class Other(torch.Tensor):
        pass

    def subclasses():
        a, b, c = (torch.ones(2).as_subclass(cls) for cls in (Plain, Derived, Other))
        show(type(a + 1).__name__, type(a + b).__name__, type(b + a).__name__, type(torch.stack([a, b])).__name__)
        refused(lambda: a + c)
        show(type(torch.ones(2).copy_(a)).__name__, type(torch.ones(2).type_as(a)).__name__,
             type(a.max(0).indices).__name__, type(a.split(1)[0]).__name__, type(a.new_empty(1)).__name__,
             type(a.tolist()).__name__)
        show(type(Plain([1.0, 2.0])).__name__, Plain([1.0, 2.0]), Plain(2, 3).shape, type(next(iter(a))).__name__)
        a.note = 1
        show(hasattr(a + 1, "note"), a, repr(b))
        refused(lambda: torch.ones(2).as_subclass(int))
        refused(lambda: torch.ones(2).as_subclass(3))
        x = torch.ones(2, requires_grad=True)
        y = x.as_subclass(Plain)
        z = (y * 2).sum()
        z.backward()
        show(x.grad, y.is_leaf, type(y.grad_fn).__name__, type(z.grad_fn).__name__, z)
        leaf = torch.Tensor._make_subclass(Plain, torch.ones(2), True)
        (leaf * 3).sum().backward()
        show(leaf, leaf.is_leaf, type(leaf.grad).__name__, leaf.grad)
        show(type(torch.autograd.grad((leaf * 2).sum(), leaf)[0]).__name__)
        layer = torch.nn.Linear(2, 2)
        show(type(layer(a)).__name__, type(F.softmax(a, 0)).__name__, type(F.dropout(a, 0.5)).__name__)

    class Closed(torch.Tensor):
        """Takes part in nothing."""

        __torch_function__ = torch._C._disabled_torch_function_impl

    class Silent(torch.Tensor):
        """Answers nothing."""

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    def refusals():
        s, c = torch.ones(2).as_subclass(Silent), torch.ones(2).as_subclass(Closed)
        show(type(c + 1).__name__, type(c.T).__name__, overrides.has_torch_function((c,)))
        for call in (lambda: s + 1, lambda: s.shape, lambda: s.exp(), lambda: torch.cat([s]), lambda: F.relu(s),
                     lambda: s[0], lambda: s < 1):
            refused(call)
        with torch._C.DisableTorchFunctionSubclass():
            show(type(s + 1).__name__, s.shape, overrides.has_torch_function((s,)))
        show(overrides.has_torch_function((s,)), torch._C._is_torch_function_enabled())

    class Noted(overrides.TorchFunctionMode):
        """Writes down what is called inside it."""

        def __init__(self, log):
            self.log = log

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.log.append(called(func))
            return func(*args, **(kwargs or {}))

    class Float64(overrides.TorchFunctionMode):
        """Gives new tensors another dtype."""

        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if func in (torch.ones, torch.zeros, torch.rand, torch.tensor):
                kwargs.setdefault("dtype", torch.float64)
            return func(*args, **kwargs)

    def modes():
        log, outer = [], []
        with Noted(log):
            x = torch.ones(2)
            y = x + torch.zeros(2)
            show(y.shape, y[0])
            y.exp_()
            torch.cat([x, y])
            F.relu(y)
            torch.arange(3)
            torch.rand(2)
            y.numpy()
            y.requires_grad_().sum().backward()
        show(log)
        with Noted(outer), Float64():
            show(torch.ones(1).dtype, torch.rand(1).dtype, torch.tensor([1.0]).dtype)
        show(torch.ones(1).dtype, "ones" in outer)
        with overrides.BaseTorchFunctionMode():
            show(torch.ones(2) + 1)
        with Noted(log), torch._C.DisableTorchFunction():
            log.clear()
            torch.ones(2)
            show(log)

    def functions():
        d = Diagonal(2, 3)

        def scaled(a, b, factor=1):
            if overrides.has_torch_function((a, b)):
                return overrides.handle_torch_function(scaled, (a, b), a, b, factor=factor)
            return a * b * factor

        Diagonal.handled[scaled] = lambda a, b, factor=1: Diagonal(a.n, a.value * b * factor)
        show(scaled(d, 2), scaled(d, 2, factor=3), scaled(torch.ones(1), 2), overrides.has_torch_function_unary(d),
             overrides.has_torch_function_variadic(1, d), overrides.has_torch_function_variadic(1, 2))
        refused(lambda: overrides.handle_torch_function(torch.sum, (d,), d))

        @overrides.wrap_torch_function(lambda a: (a,))
        def doubled(a):
            """Twice."""
            return a * 2

        Diagonal.handled[doubled] = lambda a: Diagonal(a.n, a.value * 2)
        show(doubled(d), doubled(torch.ones(1)), doubled.__name__, doubled.__doc__)
        show(overrides.resolve_name(torch.sum), overrides.resolve_name(torch.Tensor.shape.__get__),
             overrides.resolve_name(F.relu), overrides.resolve_name(len), overrides.resolve_name(torch.Tensor.size))
        show(overrides.is_tensor_method_or_property(torch.Tensor.add),
             overrides.is_tensor_method_or_property(torch.Tensor.shape.__get__),
             overrides.is_tensor_method_or_property(F.relu), overrides.is_tensor_method_or_property(torch.cat))
        ignored = overrides.get_ignored_functions()
        show(torch.load in ignored, torch.manual_seed in ignored, torch.add in ignored)
        testing = overrides.get_testing_overrides()
        show(testing[torch.add](1, 2), testing[F.relu](1), testing[torch.Tensor.add_](1, 2))
        named = overrides.get_overridable_functions()
        show(F.relu in named[F], torch.add in named[torch], torch.Tensor.exp_ in named[torch.Tensor])

    def passing_on():
        class Deep(torch.Tensor):
            depth = 0
            log = []

            @classmethod
            def __torch_function__(cls, func, types, args, kwargs=None):
                cls.log.append("  " * cls.depth + func.__name__)
                cls.depth += 1
                result = overrides.redispatch_function(func, types, args, kwargs)
                cls.depth -= 1
                return result

        def product(a, b):
            if overrides.has_torch_function((a, b)):
                return overrides.handle_torch_function(product, (a, b), a, b)
            return a * b + 1

        x, y = (torch.Tensor([v]).as_subclass(Deep) for v in (3.0, 4.0))
        show(product(x, y), Deep.log)

    return {f.__name__: f for f in (duck_type, logging, metadata, units, subclasses, refusals, modes, functions,
                                    passing_on)}

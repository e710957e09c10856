"""The ``__torch_function__`` protocol: calls go to the class of an argument, or to a mode, that wants to see them.

Ops and the functions wrapped in ``Overridable`` ask ``plain`` first, which costs a nanosecond an argument; only types
made by a class statement, other than Tensor, are looked at further.
"""
from cpython.object cimport PyObject

from .policy cimport policy

from _thread import _local

cdef extern from "Python.h":
    PyObject* PyObject_Vectorcall(PyObject* f, PyObject** args, size_t nargsf, PyObject* kwnames)
    object call_object "PyObject_Vectorcall"(PyObject* f, PyObject** args, size_t nargsf, PyObject* kwnames)

cdef extern from *:
    """
    #if PY_VERSION_HEX >= 0x030D0000
    PyAPI_FUNC(PyObject *) _PyType_Lookup(PyTypeObject *, PyObject *);
    #endif
    static PyObject *shimtorch_no_override, *shimtorch_default_override;
    static _Thread_local int shimtorch_disabled;        /* 1: classes are not asked; 2: nor are modes */
    static int *shimtorch_get_disabled(void) { return &shimtorch_disabled; }

    /* 0: the type has no __torch_function__, or one that says so; 1: its own; 2: Tensor's. Remembered by the type's
       version tag, which changes whenever the type or one of its bases does. */
    static int shimtorch_override_kind(PyTypeObject *t) {
        static struct { unsigned int tag; int kind; } known[256];
        static PyObject *name;
        PyObject *f;
        int kind;
        unsigned int tag = t->tp_version_tag;
        if (tag && known[tag & 255].tag == tag) return known[tag & 255].kind;
        if (name == NULL && (name = PyUnicode_InternFromString("__torch_function__")) == NULL) {
            PyErr_Clear();
            return 0;
        }
        f = _PyType_Lookup(t, name);
        kind = f == NULL || f == shimtorch_no_override ? 0 : f == shimtorch_default_override ? 2 : 1;
        tag = t->tp_version_tag;
        if (tag) {
            known[tag & 255].tag = tag;
            known[tag & 255].kind = kind;
        }
        return kind;
    }
    static void shimtorch_callable(PyTypeObject *t, Py_ssize_t offset) {
        t->tp_vectorcall_offset = offset;
        t->tp_call = PyVectorcall_Call;
        t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
        PyType_Modified(t);
    }
    #define SHIMTORCH_COUNT(n) PyVectorcall_NARGS(n)
    """
    PyObject* shimtorch_no_override
    PyObject* shimtorch_default_override
    int* disabled_state "shimtorch_get_disabled"() noexcept
    int override_kind "shimtorch_override_kind"(PyObject* t) noexcept
    PyObject* Py_TYPE(PyObject* x) noexcept
    void shimtorch_callable(PyObject* t, Py_ssize_t offset)
    Py_ssize_t SHIMTORCH_COUNT(size_t n) noexcept

ctypedef PyObject* (*vectorcallfunc)(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames)

cdef object thread = _local()          # .modes: the modes entered in this thread, the innermost last
cdef tuple unwrapped = ()              # functions whose results stay what they are
cdef bint passing = False              # the next question of a function written in Python is answered with no


# ---------------------------------------------------------------- who wants to see a call

cdef inline bint type_overrides(PyObject* t) noexcept:
    cdef int kind = override_kind(t) if t != tensor_type else 0
    return kind == 1 or (kind == 2 and policy.subclasses_kept)


cdef bint overridden(PyObject** args, Py_ssize_t n, bint lists) noexcept:
    """Whether a mode is entered, or an argument (or an item of one that is a list) has an override in force."""
    cdef int disabled = disabled_state()[0]
    cdef Py_ssize_t i
    if disabled == 2:
        return False
    if active_modes and own_modes():
        return True
    if disabled:
        return False
    for i in range(n):
        if type_overrides(Py_TYPE(args[i])):
            return True
        if lists and isinstance(<object>args[i], (list, tuple)) and items_override(<object>args[i]):
            return True
    return False


cdef bint items_override(object items) noexcept:
    for item in items:
        if type_overrides(Py_TYPE(<PyObject*>item)):
            return True
    return False


cdef list own_modes():
    return getattr(thread, "modes", None)


cdef list overloaded(items, bint tensors):
    """One of the items of every type with an override, a subclass before what it derives from.

    tensors: Tensor itself counts too, as it does where torch implements a function in Python.
    """
    cdef list found = [], types = []
    for item in items:
        t = type(item)
        if t in types:
            continue
        if not type_overrides(<PyObject*>t) and not (tensors and <PyObject*>t == tensor_type):
            continue
        for i, other in enumerate(types):
            if issubclass(t, other):
                break
        else:
            i = len(types)
        types.insert(i, t)
        found.insert(i, item)
    return found


# ---------------------------------------------------------------- the call

cdef list items_of(PyObject** args, Py_ssize_t n, bint lists):
    cdef list items = []
    cdef Py_ssize_t i
    for i in range(n):
        a = <object>args[i]
        if lists and isinstance(a, (list, tuple)):
            items.extend(a)
        else:
            items.append(a)
    return items


cdef object dispatch(object func, PyObject** args, Py_ssize_t n, PyObject* kwnames, bint lists):
    """Let whoever overrides it answer a call of func; TypeError if nobody does."""
    cdef Py_ssize_t i, k = 0 if kwnames == NULL else len(<object>kwnames)
    kwargs = {name: <object>args[n + i] for i, name in enumerate(<tuple>kwnames)} if k else None
    asked = [] if disabled_state()[0] else overloaded(items_of(args, n + k, lists), False)
    result = ask(func, asked, tuple([<object>args[i] for i in range(n)]), kwargs)
    if result is NotImplemented:
        raise unanswered(func, asked)
    return result


cdef object dispatch_operator(object func, PyObject** args, Py_ssize_t n):
    """The same for an operator: NotImplemented if nobody answers, so that Python asks the other operand.

    As in torch, a TypeError of one with two operands means that too.
    """
    cdef Py_ssize_t i
    asked = [] if disabled_state()[0] else overloaded(items_of(args, n, False), False)
    try:
        return ask(func, asked, tuple([<object>args[i] for i in range(n)]), None)
    except TypeError:
        if n == 1:
            raise
        return NotImplemented


cdef object ask(object func, list asked, tuple args, object kwargs):
    """The answer of the innermost mode, else of the first argument that gives one; NotImplemented without any."""
    cdef list modes = own_modes() if active_modes and disabled_state()[0] < 2 else None
    types = tuple([type(a) for a in asked])
    if modes:
        mode = modes.pop()
        try:
            result = mode.__torch_function__(func, types, args, kwargs)
        finally:
            modes.append(mode)
        if result is not NotImplemented:
            return result
    for a in asked:
        handler = a.__torch_function__
        if getattr(handler, "__self__", None) is a:
            import warnings
            warnings.warn("Defining your `__torch_function__` as a plain method is deprecated, please define it as a "
                          "classmethod.", DeprecationWarning, stacklevel=2)
        result = handler(func, types, args) if kwargs is None else handler(func, types, args, kwargs)
        if result is not NotImplemented:
            return result
    return NotImplemented


cdef object unanswered(object func, list asked):
    lines = "\n".join([f"  - tensor subclass {type(a)}" for a in asked])
    return TypeError(f"Multiple dispatch failed for '{described(func)}'; all __torch_function__ handlers returned "
                     f"NotImplemented:\n\n{lines}\n\nFor more information, try re-running with "
                     "TORCH_LOGS=not_implemented")


cdef str described(object func):
    """A function's name as it stands in error messages: ``torch.add``, ``torch.Tensor.shape.__get__``."""
    owner = getattr(func, "__self__", None)
    name = getattr(func, "__name__", str(func))
    if name in ("__get__", "__set__", "__delete__") and owner is not None:
        attribute = getattr(owner, "__name__", None) or getattr(getattr(owner, "fget", None), "__name__", "")
        return f"torch.Tensor.{attribute}.{name}"
    module = getattr(func, "__module__", None)
    if module is None or (hasattr(func, "is_function") and not func.is_function):
        return f"torch.Tensor.{name}"
    home, _, rest = module.partition(".")
    return f"{'torch' if home == __name__.partition('.')[0] else home}{'.' + rest if rest else ''}.{name}"


def handle(public_api, relevant_args, args, kwargs):
    """``torch.overrides.handle_torch_function``: the answer of whoever overrides a function written in Python."""
    asked = overloaded(relevant_args, True)
    if disabled_state()[0]:
        asked = []
    result = ask(public_api, asked, args, kwargs)
    if result is NotImplemented:
        raise TypeError(f"no implementation found for '{described(public_api)}' on types that implement "
                        f"__torch_function__: {[type(a) for a in asked]}")
    return result


def has_override(items):
    """Whether a mode is entered, or one of the items has an override in force."""
    global passing
    if passing:
        passing = False
        return False
    if not isinstance(items, tuple):
        items = tuple(items)
    if disabled_state()[0] == 2:
        return False
    if active_modes and own_modes():
        return True
    return not disabled_state()[0] and items_override(items)


def call_through(func, args, kwargs):
    """Call a function without asking about this call itself; calls that it makes in turn do ask."""
    global passing
    if isinstance(func, Overridable):
        return func.__wrapped__(*args, **kwargs)
    if not hasattr(func, "__code__"):
        return no_override(func, (), args, kwargs)
    passing = True
    try:
        return func(*args, **kwargs)
    finally:
        passing = False


# ---------------------------------------------------------------- Tensor's own, and none at all

def no_override(func, types, args=(), kwargs=None):
    """``torch._C._disabled_torch_function_impl``: a class that has this takes no part in the protocol."""
    cdef int before = enter_disabled(False)
    try:
        return func(*args, **(kwargs or {}))
    finally:
        leave_disabled(before)


def default_override(cls, func, types, args=(), kwargs=None):
    """Tensor's own ``__torch_function__``: the call as it is, its results as tensors of the class."""
    for t in types:
        if not issubclass(cls, t):
            return NotImplemented
    cdef int before = enter_disabled(False)
    try:
        result = func(*args, **(kwargs or {}))
        return result if <PyObject*>cls == tensor_type or func in unwrapped else of_class(result, cls)
    finally:
        leave_disabled(before)


cdef object of_class(object x, object cls):
    if isinstance(x, <object>tensor_type):
        return x if isinstance(x, cls) else x.as_subclass(cls)
    if isinstance(x, (tuple, list)):
        items = [of_class(item, cls) for item in x]
        for old, new in zip(x, items):
            if old is not new:
                break
        else:
            return x
        return items if type(x) is list else tuple.__new__(type(x), items) if isinstance(x, tuple) else type(x)(items)
    return x


def set_classes(tensor, default, exempt):
    """Name Tensor, its ``__torch_function__``, and the functions whose results it leaves as they are."""
    global tensor_type, unwrapped, shimtorch_default_override, shimtorch_no_override
    tensor_type = <PyObject*>tensor
    shimtorch_default_override = <PyObject*>default
    shimtorch_no_override = <PyObject*>no_override
    unwrapped = tuple(exempt)
    _kept.extend((tensor, default, no_override))


_kept = []


# ---------------------------------------------------------------- switching it off

cdef int enter_disabled(bint modes) noexcept:
    """Ask classes no more, nor modes if told so, until ``leave_disabled`` of what this returns."""
    cdef int before = disabled_state()[0]
    disabled_state()[0] = max(before, 2 if modes else 1)
    return before


cdef void leave_disabled(int before) noexcept:
    disabled_state()[0] = before


cdef class Disabled:
    """A context in which classes are not asked; with modes=True, no mode either."""
    cdef int before, level

    def __init__(self, *, bint modes=False):
        self.level = 2 if modes else 1

    def __enter__(self):
        self.before = disabled_state()[0]
        disabled_state()[0] = max(self.before, self.level)

    def __exit__(self, *exc):
        disabled_state()[0] = self.before


def is_enabled():
    """Whether classes are asked."""
    return disabled_state()[0] == 0


def push_mode(mode):
    """Make a mode the innermost of this thread; whether it is the only one of any thread."""
    global active_modes
    modes = own_modes()
    if modes is None:
        modes = thread.modes = []
    modes.append(mode)
    active_modes += 1
    return active_modes == 1


def pop_mode():
    """Take the innermost mode of this thread away; whether none is left in any thread."""
    global active_modes
    active_modes -= 1
    own_modes().pop()
    return active_modes == 0


def left_unwrapped():
    """The functions whose results Tensor's own override leaves as they are."""
    return unwrapped


def current_modes():
    """The modes of this thread, the innermost last."""
    return list(own_modes() or ())


# ---------------------------------------------------------------- functions and members that are no ops

cdef object overridable_call(object self, PyObject** args, size_t nargsf, PyObject* kwnames):
    cdef Overridable f = <Overridable>self
    cdef Py_ssize_t n = SHIMTORCH_COUNT(nargsf), k
    if active_modes or f.lists or not plain(args, n + (0 if kwnames == NULL else len(<object>kwnames)), tensor_type):
        k = 0 if kwnames == NULL else len(<object>kwnames)
        if overridden(args, 0 if f.modes_only else n + k, f.lists):
            return f.ask(args, n, kwnames)
    return call_object(<PyObject*>f.__wrapped__, args, n, kwnames)


cdef class Overridable:
    """A function that asks its arguments' classes first.

    name and module: where it is found, if not where the function is. public_api: what the classes are told it is, if
    not this. lists: items of lists are asked too. builtin: torch has it in C, which is why it is not bound as a method,
    and why Tensor itself is not among the classes. modes_only: only modes see it.
    """
    cdef vectorcallfunc vectorcall
    cdef readonly object __wrapped__
    cdef object public_api
    cdef bint lists, builtin, modes_only
    cdef dict __dict__

    def __init__(self, function, *, name=None, module=None, public_api=None, bint lists=False, bint builtin=False,
                 bint modes_only=False):
        self.vectorcall = <vectorcallfunc>overridable_call
        self.__wrapped__ = function
        self.public_api = public_api
        self.lists, self.builtin, self.modes_only = lists, builtin, modes_only
        for attribute, value in (("__name__", name), ("__qualname__", name), ("__doc__", None), ("__module__", module)):
            setattr(self, attribute, getattr(function, attribute, None) if value is None else value)

    def __call__(self, *args, **kwargs):
        raise SystemError("Overridable is called through vectorcall")

    cdef object ask(self, PyObject** args, Py_ssize_t n, PyObject* kwnames):
        func = self if self.public_api is None else self.public_api
        if self.builtin or self.public_api is not None:
            return dispatch(func, args, n, kwnames, self.lists)
        names = <tuple>kwnames if kwnames != NULL else ()
        kwargs = {name: <object>args[n + i] for i, name in enumerate(names)}
        relevant = items_of(args, n + len(names), self.lists)
        return handle(func, relevant, tuple([<object>args[i] for i in range(n)]), kwargs)

    def __get__(self, instance, owner):
        if instance is None or self.builtin:
            return self if self.public_api is None else self.public_api
        from types import MethodType
        return MethodType(self, instance)

    def __getattr__(self, name):
        return getattr(self.__wrapped__, name)

    def __repr__(self):
        return repr(self.__wrapped__)

    def __reduce__(self):
        return self.__qualname__

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


cdef class OverridableAttribute:
    """An attribute of Tensor as a subclass with overrides has it: reading and writing it is a call of ``__get__`` or
    ``__set__``."""
    cdef object original

    def __init__(self, original):
        self.original = original

    cdef object call(self, str method, tuple args):
        func = getattr(self.original, method)
        if has_override((args[0],)):
            asked = [] if disabled_state()[0] else overloaded(args, False)
            result = ask(func, asked, args, None)
            if result is NotImplemented:
                raise unanswered(func, asked)
            return result
        return func(*args)

    def __get__(self, instance, owner):
        return self.original if instance is None else self.call("__get__", (instance,))

    def __set__(self, instance, value):
        self.call("__set__", (instance, value))

    def __delete__(self, instance):
        self.call("__delete__", (instance,))


cdef void make_callable(type t):
    cdef Overridable probe = Overridable.__new__(Overridable)
    shimtorch_callable(<PyObject*>t, <char*>&probe.vectorcall - <char*><void*>probe)


make_callable(Overridable)

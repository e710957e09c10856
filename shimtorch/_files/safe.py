"""Reading pickles of which nobody knows who wrote them: tensors, containers and numbers, and nothing else is made.

A machine of its own, not a ``pickle.Unpickler`` with a filter: names are looked up in a table and never imported, only
functions of the table are called, and only known kinds of objects are filled.
"""
import struct
from collections import Counter, OrderedDict
from pickle import UnpicklingError

from . import names

_BLOCKED = ("sys", "os", "posix", "nt")
_DEEPEST = 500
_MARK = object()
_PLAIN = (OrderedDict, Counter, set)
_PYTHON_2 = {"__builtin__": "builtins", "copy_reg": "copyreg", "UserDict": "collections"}
_user_globals = {}                         # full name -> object, as add_safe_globals entered them
_table = {}
_callables = {}                            # id -> those of the table that may be called, and not only be named


def full_name(obj):
    """The dotted name under which a pickle finds an object."""
    return f"{obj.__module__}.{obj.__qualname__}"


def add(objects):
    """Allow objects, given by themselves or as (object, name)."""
    for entry in objects:
        obj, name = entry if isinstance(entry, tuple) else (entry, full_name(entry))
        _user_globals[name] = obj


def user_globals():
    """The dict of what was allowed, by name."""
    return _user_globals


def table():
    """What is allowed by default: dotted name -> object."""
    if not _table:
        _fill_table()
    return _table


def _fill_table():
    from .. import _utils
    from .._core.dtype import all_dtypes
    from .._storages import NAMES
    from .._typed import TYPES

    for name in ("torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer", "torch.serialization._get_layout",
                 "torch.Size", "torch.Tensor", "torch.device", "torch._tensor._rebuild_from_type_v2",
                 "torch.tensor._rebuild_from_type_v2", "torch.storage.UntypedStorage", "torch.storage.TypedStorage",
                 "torch._utils._rebuild_sparse_csr_tensor"):
        _table[name] = names.find(*name.rsplit(".", 1))
    for name in dir(_utils):
        if name.startswith("_rebuild_"):
            _table["torch._utils." + name] = getattr(_utils, name)
    _table.update({"collections.OrderedDict": OrderedDict, "collections.Counter": Counter,
                   "_codecs.encode": _encode, "builtins.bytearray": bytearray, "builtins.set": set,
                   "builtins.complex": complex})
    _callables.update((id(obj), obj) for name, obj in _table.items()
                      if name not in ("torch.Tensor", "torch.storage.UntypedStorage", "torch.storage.TypedStorage"))
    # From here on: what may be named, but not called, as a file of few bytes could ask for any amount of memory.
    _table["torch.storage._UntypedStorage"] = _table["torch.UntypedStorage"] = _table["torch.storage.UntypedStorage"]
    for name in NAMES:
        _table["torch." + name] = _table["torch.cuda." + name] = names.find("torch", name)
    for dtype in all_dtypes():
        _table["torch." + dtype.name] = dtype
    _table.update(TYPES)


def _encode(text, encoding="latin1"):
    """Bytes, which protocol 2 has as text."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1", "ascii", "utf-8"):
        raise UnpicklingError(f"Trying to encode {type(text)} by {encoding!r}")
    return text.encode(encoding)


def _refusal(name):
    shown = name[len("builtins."):] if name.startswith("builtins.") else name
    return UnpicklingError(
        f"Unsupported global: GLOBAL {shown} was not an allowed global by default. Please use "
        f"`torch.serialization.add_safe_globals([{shown.rpartition('.')[2]}])` or the "
        f"`torch.serialization.safe_globals([{shown.rpartition('.')[2]}])` context manager to allowlist this global if "
        "you trust this class/function.")


class SafeUnpickler:
    """Reads one pickle from a file; UnpicklingError for all that is not allowed, or no pickle."""

    def __init__(self, file, persistent_load, encoding="utf-8", errors="strict"):
        self._read = file.read
        self._readline = file.readline
        self._left = _bytes_left(file)
        self._persistent_load = persistent_load
        self._encoding, self._errors = encoding, errors
        self.refused = None                # a list: names are collected in it, and stand for nothing

    def load(self):
        """The object that the pickle describes."""
        self._stack, self._memo, self._depths = [], {}, {}
        try:
            while True:
                code = self._read(1)
                if not code:
                    raise EOFError
                if code == b".":
                    return self._stack.pop()
                action = _ACTIONS.get(code[0])
                if action is None:
                    raise UnpicklingError(f"Unsupported operand {code[0]}")
                action(self)
        except (EOFError, KeyError, IndexError, struct.error, RecursionError, OverflowError) as error:
            raise UnpicklingError(f"the pickle is malformed: {type(error).__name__} {error}") from error

    # ------------------------------------------------------------ bytes

    def _take(self, n):
        """The next n bytes."""
        if n > self._left:
            raise UnpicklingError("pickle data was truncated")
        data = self._read(n)
        if len(data) != n:
            raise UnpicklingError("pickle data was truncated")
        return data

    def _number(self, form):
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _line(self):
        line = self._readline()
        if not line.endswith(b"\n"):
            raise UnpicklingError("pickle data was truncated")
        return line[:-1]

    def _text(self, data):
        """A byte string of Python 2."""
        return data if self._encoding == "bytes" else data.decode(self._encoding, self._errors)

    # ------------------------------------------------------------ the stack

    def _push(self, value):
        self._stack.append(value)

    def _pop_mark(self):
        """What lies above the topmost mark, which goes too."""
        stack = self._stack
        for i in range(len(stack) - 1, -1, -1):
            if stack[i] is _MARK:
                items = stack[i + 1:]
                del stack[i:]
                return items
        raise UnpicklingError("pop from empty list: there is no mark")

    def _tuple(self, n):
        if len(self._stack) < n:
            raise IndexError("pop from empty list")
        items = self._stack[len(self._stack) - n:]
        del self._stack[len(self._stack) - n:]
        self._push_tuple(items)

    def _push_tuple(self, items):
        """A tuple, not nested so deeply that to hash it would exhaust the stack of the interpreter."""
        depth = 1 + max([self._depths.get(id(item), 1) for item in items if type(item) is tuple], default=0)
        if depth > _DEEPEST:
            raise UnpicklingError(f"tuples are nested more than {_DEEPEST} deep")
        result = tuple(items)
        if depth > 1:
            self._depths[id(result)] = depth
        self._push(result)

    def _long(self, n):
        if n < 0:
            raise UnpicklingError("a number of negative length")
        self._push(int.from_bytes(self._take(n), "little", signed=True))

    def _int_line(self):
        line = self._line()
        self._push({b"00": False, b"01": True}.get(line) if line in (b"00", b"01") else int(line))

    # ------------------------------------------------------------ names, calls and contents

    def _global(self, module, name):
        module = _PYTHON_2.get(module, module)
        full = f"{module}.{name}"
        if module.partition(".")[0] in _BLOCKED:
            raise UnpicklingError(f"Trying to load unsupported GLOBAL {full} whose module {module} is blocked.")
        if full in _user_globals:
            self._push(_user_globals[full])
        elif full in table():
            self._push(table()[full])
        elif self.refused is not None:
            self.refused.append(full)
            self._push(Unknown)
        else:
            raise _refusal(full)

    def _global_lines(self):
        self._global(self._line().decode("utf-8"), self._line().decode("utf-8"))

    def _stack_global(self):
        name, module = self._stack.pop(), self._stack.pop()
        if type(name) is not str or type(module) is not str:
            raise UnpicklingError("STACK_GLOBAL requires str")
        self._global(module, name)

    def _reduce(self):
        args, func = self._stack.pop(), self._stack.pop()
        if not _is_callable(func):
            raise UnpicklingError(f"Trying to call reduce for unrecognized function {func}")
        if type(args) is not tuple:
            raise UnpicklingError(f"a function is called with a tuple, not with {type(args)}")
        if func is table()["torch._tensor._rebuild_from_type_v2"] and not (args and _is_callable(args[0])):
            raise UnpicklingError(f"Trying to call reduce for unrecognized function {args[:1]}")
        if func is bytearray and not all(type(arg) in (bytes, str) for arg in args):
            raise UnpicklingError("a bytearray is made of bytes")
        self._push(Unknown() if self.refused is not None and func not in _PLAIN else func(*args))

    def _newobj(self):
        args, cls = self._stack.pop(), self._stack.pop()
        if not isinstance(cls, type) or not _is_callable(cls) or cls is bytearray:
            raise UnpicklingError(f"Trying to create new object for unrecognized class {cls}")
        if type(args) is not tuple:
            raise UnpicklingError(f"an object is made with a tuple, not with {type(args)}")
        self._push(cls.__new__(cls, *args))

    def _build(self):
        state, obj = self._stack.pop(), self._stack[-1]
        kind = type(obj)
        if kind is Unknown:
            return
        if kind is OrderedDict:
            if type(state) is not dict:
                raise UnpicklingError("the attributes of an OrderedDict must be a dict")
            obj.__dict__.update(state)
        elif kind is table()["torch.Tensor"]:
            obj.set_(*state)
        elif kind is table()["torch.nn.parameter.Parameter"]:
            obj.__setstate__(state)
        elif _is_users(kind):
            _set_state(obj, state)
        else:
            raise UnpicklingError("Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                                  f"`add_safe_globals`, but got {kind}")

    def _append(self, items):
        target = self._stack[-1]
        if type(target) is not list:
            raise UnpicklingError(f"Can only append to lists, but got {type(target)}")
        target.extend(items)

    def _set_items(self, items):
        target = self._stack[-1]
        if type(target) not in (dict, OrderedDict, Counter):
            raise UnpicklingError("Can only SETITEMS for dict, collections.OrderedDict, collections.Counter, but got "
                                  f"{type(target)}")
        if len(items) % 2:
            raise UnpicklingError("a key without a value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            _check_hashable(key)
            if type(target) is Counter:    # its own __setitem__ is dict's; its update would add up
                dict.__setitem__(target, key, value)
            else:
                target[key] = value

    def _add_items(self):
        items = self._pop_mark()
        if type(self._stack[-1]) is not set:
            raise UnpicklingError(f"Can only add to sets, but got {type(self._stack[-1])}")
        self._stack[-1].update(items)

    def _pid(self):
        saved_id = self._stack.pop()
        if type(saved_id) not in (tuple, int):
            raise UnpicklingError(f"persistent_load id must be tuple or int, but got {type(saved_id)}")
        if type(saved_id) is tuple and (not saved_id or saved_id[0] not in ("storage", b"storage")):
            raise UnpicklingError("Only persistent_load of storage is allowed, but got "
                                  f"{saved_id[0] if saved_id else saved_id}")
        self._push(self._persistent_load(saved_id))

    def _memoize(self, key):
        self._memo[key] = self._stack[-1]


def _is_users(obj):
    return any(obj is known for known in _user_globals.values())


def _is_callable(obj):
    """Whether an object is one of the functions and classes that may be called."""
    table()
    return id(obj) in _callables or obj is Unknown or _is_users(obj) and callable(obj)


class Unknown:
    """Stands for what is not allowed while the names that a file wants are collected."""

    def __new__(cls, *args, **kwargs):
        return object.__new__(cls)


def _check_hashable(key):
    try:
        hash(key)
    except TypeError as error:
        raise UnpicklingError(str(error)) from None


def _set_state(obj, state):
    setstate = getattr(obj, "__setstate__", None)
    if setstate is not None:
        setstate(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state:
        obj.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(obj, name, value)


def _bytes_left(file):
    """How many bytes follow in a file: no pickle can hold a longer string."""
    here = file.tell()
    end = file.seek(0, 2)
    end = file.tell() if end is None else end
    file.seek(here)
    return end - here


_ACTIONS = {char[0]: action for char, action in {
    b"\x80": lambda u: u._take(1),                                   # PROTO
    b"\x95": lambda u: u._take(8),                                   # FRAME
    b"(": lambda u: u._push(_MARK),
    b"N": lambda u: u._push(None),
    b"\x88": lambda u: u._push(True),
    b"\x89": lambda u: u._push(False),
    b"J": lambda u: u._push(u._number("<i")),
    b"K": lambda u: u._push(u._number("<B")),
    b"M": lambda u: u._push(u._number("<H")),
    b"I": lambda u: u._int_line(),
    b"L": lambda u: u._push(int(u._line().rstrip(b"L"))),
    b"\x8a": lambda u: u._long(u._number("<B")),
    b"\x8b": lambda u: u._long(u._number("<i")),
    b"G": lambda u: u._push(u._number(">d")),
    b"X": lambda u: u._push(u._take(u._number("<I")).decode("utf-8", "surrogatepass")),
    b"\x8c": lambda u: u._push(u._take(u._number("<B")).decode("utf-8", "surrogatepass")),
    b"U": lambda u: u._push(u._text(u._take(u._number("<B")))),
    b"T": lambda u: u._push(u._text(u._take(u._number("<I")))),
    b"B": lambda u: u._push(u._take(u._number("<I"))),
    b"C": lambda u: u._push(u._take(u._number("<B"))),
    b")": lambda u: u._push(()),
    b"]": lambda u: u._push([]),
    b"}": lambda u: u._push({}),
    b"\x8f": lambda u: u._push(set()),
    b"t": lambda u: u._push_tuple(u._pop_mark()),
    b"\x85": lambda u: u._tuple(1),
    b"\x86": lambda u: u._tuple(2),
    b"\x87": lambda u: u._tuple(3),
    b"a": lambda u: u._append([u._stack.pop()]),
    b"e": lambda u: u._append(u._pop_mark()),
    b"s": lambda u: u._set_items([u._stack.pop(-2), u._stack.pop()]),
    b"u": lambda u: u._set_items(u._pop_mark()),
    b"\x90": lambda u: u._add_items(),
    b"h": lambda u: u._push(u._memo[u._number("<B")]),
    b"j": lambda u: u._push(u._memo[u._number("<I")]),
    b"q": lambda u: u._memoize(u._number("<B")),
    b"r": lambda u: u._memoize(u._number("<I")),
    b"\x94": lambda u: u._memoize(len(u._memo)),
    b"Q": lambda u: u._pid(),
    b"c": lambda u: u._global_lines(),
    b"\x93": lambda u: u._stack_global(),
    b"R": lambda u: u._reduce(),
    b"\x81": lambda u: u._newobj(),
    b"b": lambda u: u._build(),
}.items()}

"""``import torch`` gives shimtorch: one module under two names, found, named and pickled as torch, and given back."""


def test_importing_shimtorch_installs_nothing(check):
    check("""
        import sys
        before = list(sys.meta_path), __import__
        import shimtorch
        assert (list(sys.meta_path), __import__) == before
        assert "torch" not in sys.modules and "shimtorch._shim" not in sys.modules
        assert shimtorch.nn.Linear.__module__ == "shimtorch.nn.modules.linear"
    """)


def test_every_form_of_import_gives_the_same_modules(check):
    check("""
        from shimtorch._shim.alias import install
        install()
        import importlib, sys, shimtorch
        import torch, torch.nn.functional as F, torch.optim.lr_scheduler
        from torch.autograd import Variable
        from torch import nn, optim as o
        import torch.nn.utils
        assert torch is shimtorch and nn is shimtorch.nn is sys.modules["torch.nn"] is sys.modules["shimtorch.nn"]
        import shimtorch.nn
        assert F is shimtorch.nn.functional and o is torch.optim and Variable is shimtorch.autograd.Variable
        import shimtorch.utils.data
        assert sys.modules["torch.utils.data"] is shimtorch.utils.data is torch.utils.data
        assert __import__("torch.nn") is torch and importlib.import_module("torch.nn") is nn
        for name, module in list(sys.modules.items()):
            if name.startswith("torch."):
                assert module is importlib.import_module("shim" + name), name
                assert module.__name__ == module.__spec__.name == name
    """)


def test_modules_are_called_torch(check):
    check("""
        from shimtorch._shim.alias import install
        install()
        import torch, torch.optim.lr_scheduler, sys
        for name, module in list(sys.modules.items()):
            if name == "torch" or name.startswith("torch."):
                spec = module.__spec__
                assert module.__name__ == spec.name == name and module.__package__ == spec.parent, name
                assert getattr(spec.loader, "name", name) == getattr(module.__loader__, "name", name) == name, name
                assert spec.origin == module.__file__ and not getattr(spec, "_initializing", False), name
        assert repr(torch.nn) == f"<module 'torch.nn' from {torch.nn.__file__!r}>"
        assert sys.modules["shimtorch._shim.alias"].__name__ == "shimtorch._shim.alias"
        assert "torch._shim" not in sys.modules
    """)


def test_classes_and_functions_say_torch(check):
    check("""
        import shimtorch, inspect, sys
        from shimtorch._shim.alias import installed
        with installed():
            import torch, torch.optim.lr_scheduler
            from torch.optim.lr_scheduler import StepLR
            assert str(torch.nn.Linear) == "<class 'torch.nn.modules.linear.Linear'>"
            assert str(torch.Tensor) == "<class 'torch.Tensor'>"
            assert str(torch.dtype) == "<class 'torch.dtype'>"             # compiled
            assert str(torch.Generator) == "<class 'torch.Generator'>"
            assert str(torch.finfo) == "<class 'torch.finfo'>"
            assert str(type(torch.ones(2, 2).max(1))) == "<class 'torch.return_types.max'>"
            assert torch.nn.functional.relu.__module__.startswith("torch")
            assert torch.nn.Linear.forward.__module__ == "torch.nn.modules.linear"
            assert StepLR.__module__ == "torch.optim.lr_scheduler"
            assert inspect.getmodule(torch.nn.Linear) is torch.nn.modules.linear
            assert inspect.getmodule(torch.nn.Linear.forward) is torch.nn.modules.linear
            assert "class Linear" in inspect.getsource(torch.nn.Linear)
        assert str(shimtorch.nn.Linear) == "<class 'shimtorch.nn.modules.linear.Linear'>"
        assert str(shimtorch.dtype) == "<class 'shimtorch.dtype'>"
        assert str(type(shimtorch.ones(2, 2).max(1))) == "<class 'shimtorch.return_types.max'>"
        assert StepLR.__module__ == "shimtorch.optim.lr_scheduler" == sys.modules[StepLR.__module__].__name__
    """)


def test_pickles_name_torch_and_load_under_either_state(check):
    check("""
        import pickle, shimtorch
        from shimtorch._shim.alias import installed
        layer = shimtorch.nn.ReLU()
        own = pickle.dumps(layer)
        assert b"shimtorch.nn.modules.activation" in own
        with installed():
            as_torch = pickle.dumps(layer)
            assert b"torch.nn.modules.activation" in as_torch and b"shimtorch.nn" not in as_torch
            for data in (own, as_torch, pickle.dumps(layer, 2)):
                assert type(pickle.loads(data)) is shimtorch.nn.ReLU
        assert type(pickle.loads(own)) is shimtorch.nn.ReLU
    """)


def test_uninstall_restores_everything(check):
    check("""
        import sys, shimtorch, shimtorch.optim, builtins
        from shimtorch._shim import alias

        def state():
            modules = {n: m for n, m in sys.modules.items() if n.partition(".")[0] in ("torch", "shimtorch")}
            fields = [
                (n, m.__name__, m.__package__, m.__spec__.name, id(m.__spec__), id(m.__loader__),
                 getattr(m.__loader__, "name", None),
                 sorted((k, v.__module__) for k, v in vars(m).items() if isinstance(v, type)))
                for n, m in sorted(modules.items())
            ]
            return fields, list(sys.meta_path), builtins.__import__

        before = state()
        alias.install()
        assert state() != before
        alias.uninstall()
        assert state() == before

        sys.modules["torch"] = None  # forbids the import
        alias.install()
        import torch
        alias.uninstall()
        assert sys.modules["torch"] is None
    """)


def test_installs_are_counted(check):
    check("""
        import sys
        from shimtorch._shim.alias import install, installed, is_installed, uninstall
        install()
        with installed():
            install()
            uninstall()
            assert is_installed() and sum(type(f).__module__ == "shimtorch._shim.alias" for f in sys.meta_path) == 1
        import torch
        uninstall()
        assert not is_installed() and "torch" not in sys.modules
        try:
            uninstall()
        except RuntimeError as error:
            assert "not installed" in str(error)
        else:
            raise AssertionError
    """)


def test_another_torch_is_refused(check, project):
    folder = project({"torch/__init__.py": "x = 1"})
    check("""
        import sys
        sys.path.insert(0, "")
        import torch
        assert torch.x
        from shimtorch._shim.alias import install
        for name in ("torch", "torch.gone"):
            try:
                install()
            except RuntimeError as error:
                assert f"another '{name}' is already imported" in str(error), error
            else:
                raise AssertionError
            del sys.modules[name]
            sys.modules["torch.gone"] = torch
        sys.modules.pop("torch.gone")
        install()
        import torch, shimtorch
        assert torch is shimtorch
    """, cwd=folder)


def test_missing_modules(check):
    check("""
        import importlib.util
        from shimtorch._shim.alias import install
        install()
        import torch, torch.nn
        assert importlib.util.find_spec("torch") is torch.__spec__
        assert importlib.util.find_spec("torch.nn") is torch.nn.__spec__
        assert importlib.util.find_spec("torch.no_such") is None
        for statement, name in (
            ("import torch.no_such", "torch.no_such"), ("from torch.nn.no_such.x import y", "torch.nn.no_such"),
            ("import torch._shim.alias", "torch._shim"),
        ):
            try:
                exec(statement)
            except ModuleNotFoundError as error:
                assert error.name == name
                assert str(error) == f"No module named '{name}': shimtorch has no such module (yet)"
            else:
                raise AssertionError(statement)
        try:
            import torch.nn.functional.x
        except ModuleNotFoundError as error:
            assert "is not a package" in str(error)
    """)


def test_finding_a_module_does_not_import_it(check):
    check("""
        import importlib.util, sys
        from shimtorch._shim.alias import install
        install()
        import torch.optim
        name = "optim.lr_scheduler"
        for key in ("torch." + name, "shimtorch." + name):
            sys.modules.pop(key, None)
        spec = importlib.util.find_spec("torch." + name)
        assert spec.name == "torch." + name and "lr_scheduler" in spec.origin
        assert spec.loader.get_code(spec.name).co_filename == spec.origin
        assert "torch." + name not in sys.modules and "shimtorch." + name not in sys.modules
        import torch.optim.lr_scheduler as module, shimtorch.optim.lr_scheduler as own
        assert module is own is sys.modules["shimtorch." + name] and module.__spec__.name == "torch." + name
    """)


def test_reload(check):
    check("""
        import importlib, sys
        from shimtorch._shim.alias import install
        install()
        import torch.nn.modules.linear as module
        old = module.Linear
        assert importlib.reload(module) is module and module.Linear is not old
        assert module.__name__ == module.__spec__.name == "torch.nn.modules.linear"
        assert str(module.Linear) == "<class 'torch.nn.modules.linear.Linear'>"
        import shimtorch.nn.modules.linear as own
        assert own is module
    """)


def test_pkgutil_and_run_module(check):
    check("""
        import pkgutil, runpy, warnings
        from shimtorch._shim.alias import install
        install()
        import torch
        assert {"torch.nn", "torch.optim"} <= {m.name for m in pkgutil.iter_modules(torch.__path__, "torch.")}
        assert pkgutil.resolve_name("torch.nn:Linear") is torch.nn.Linear
        warnings.simplefilter("ignore")  # that it had been imported before
        names = runpy.run_module("torch.nn.functional")
        assert names["__name__"] == "torch.nn.functional" and "relu" in names
    """)


def test_alias_is_visible_only_with_tensor_in_it(check):
    """SciPy and array-api-compat read ``sys.modules["torch"].Tensor`` whenever the name exists."""
    check("""
        import sys
        seen = []
        def watch(frame, event, argument):
            if "torch" in sys.modules:
                seen.append(isinstance(sys.modules["torch"].__dict__.get("Tensor"), type))
        from shimtorch._shim.alias import install
        sys.setprofile(watch)
        install()
        import torch.nn.functional
        sys.setprofile(None)
        assert seen and all(seen)
    """)


def test_many_threads_import_and_install_at_once(check, project):
    """Each module is executed once, whichever name it is asked for by, and all threads get the same one."""
    leaf = "import builtins, time\nbuiltins.runs.append(__name__)\ntime.sleep(0.05)\n"
    folder = project({f"more/{name}.py": leaf for name in ("one", "two", "three")})
    check("""
        import builtins, importlib, sys, threading
        import shimtorch
        from shimtorch._shim.alias import install, is_installed, uninstall
        sys.setswitchinterval(1e-6)
        shimtorch.__path__.append("more")
        builtins.runs = []
        errors, results, barrier = [], set(), threading.Barrier(8)

        def work(number):
            try:
                barrier.wait()
                install()
                for name in ("one", "two", "three"):
                    results.add((name, id(importlib.import_module(("torch.", "shimtorch.")[number % 2] + name))))
                barrier.wait()
                uninstall()
            except BaseException as error:
                errors.append(error)
                barrier.abort()

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        [t.start() for t in threads]; [t.join() for t in threads]
        assert not errors, errors
        assert runs == ["torch.one", "torch.two", "torch.three"] and len(results) == 3
        assert not is_installed() and not [name for name in sys.modules if name.startswith("torch")]
        assert all(module.__name__ == name for name, module in sys.modules.items() if name.startswith("shimtorch"))
    """, cwd=folder)


def test_metadata(check):
    check("""
        import importlib.metadata as metadata
        import shimtorch
        from shimtorch._shim.alias import installed
        with installed():
            found = metadata.distribution("torch")
            assert found.metadata["Name"] == "torch" and metadata.version("torch") == shimtorch.__version__ == "2.13.0"
            assert metadata.requires("torch") == [] and metadata.files("torch") == [] and not found.entry_points
            assert metadata.version("Torch") and "torch" in [d.metadata["Name"] for d in metadata.distributions()]
            assert metadata.packages_distributions()["torch"] == ["torch"]
            with shimtorch.era("0.3"):
                assert metadata.version("torch") == "0.3.1.post2"
            assert metadata.version("numpy")
        try:
            metadata.version("torch")
        except metadata.PackageNotFoundError:
            pass
        else:
            raise AssertionError
    """)

"""With `scope`, only the named packages see shimtorch as torch."""

FILES = {
    "inside/__init__.py": "",
    "inside/deep.py": """
        import torch, torch.nn.functional as F
        from torch import nn
        from torch.autograd import Variable
        def late():
            import torch.optim as optim
            return optim
    """,
    "outside.py": """
        def get():
            import torch
            return torch
    """,
    "insider.py": "import torch",
}


def test_only_the_scope_sees_torch(check, project):
    check("""
        import sys, builtins, shimtorch
        sys.path.insert(0, "")
        plain = builtins.__import__
        from shimtorch._shim.alias import install, installed, is_installed, uninstall
        with installed(scope="inside"):
            import inside.deep as deep, outside
            assert deep.torch is shimtorch and deep.F is shimtorch.nn.functional and deep.nn is shimtorch.nn
            assert deep.Variable is shimtorch.autograd.Variable and deep.late() is shimtorch.optim
            assert "torch" not in sys.modules and not is_installed() and shimtorch.nn.__name__ == "shimtorch.nn"
            for importer in (outside.get, lambda: __import__("insider")):
                try:
                    importer()
                except ModuleNotFoundError as error:
                    assert error.name == "torch"
                else:
                    raise AssertionError
        assert builtins.__import__ is plain
        try:
            deep.late()
        except ModuleNotFoundError as error:
            assert error.name == "torch"
        else:
            raise AssertionError
    """, cwd=project(FILES))


def test_a_real_torch_may_live_beside(check, project):
    folder = project({**FILES, "torch/__init__.py": "real = True"})
    check("""
        import sys, shimtorch
        sys.path.insert(0, "")
        import torch
        from shimtorch._shim.alias import install, uninstall
        install(scope=["inside", "other"])
        import inside.deep, outside
        assert inside.deep.torch is shimtorch and outside.get() is torch and torch.real
        uninstall(scope=["other"])
        assert inside.deep.late() is shimtorch.optim
        uninstall(scope="inside")
    """, cwd=folder)


def test_main_may_be_the_scope(check):
    check("""
        import shimtorch
        from shimtorch._shim.alias import install
        install(scope="__main__")
        import torch
        assert torch is shimtorch
        try:
            import torch.no_such
        except ModuleNotFoundError as error:
            assert error.name == "torch.no_such" and "shimtorch has no such module" in str(error)
    """)


def test_mistakes_and_other_wrappers(check):
    check("""
        import builtins
        from shimtorch._shim.alias import install, uninstall
        for wrong in ((), [""], [3], ""):
            try:
                install(scope=wrong)
            except ValueError as error:
                assert "scope must name packages" in str(error)
            else:
                raise AssertionError(wrong)
        try:
            uninstall(scope="never")
        except RuntimeError as error:
            assert "never" in str(error)
        else:
            raise AssertionError
        install(scope="a")
        ours = builtins.__import__
        builtins.__import__ = lambda *args, **kwargs: ours(*args, **kwargs)
        uninstall(scope="a")
        import json.tool
        install(scope="__main__")
        import torch
    """)

"""torch.hub from local folders, the cache and file://."""

import pytest

import shimtorch as torch
from shimtorch.utils import model_zoo


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.hub, "_folder", str(tmp_path / "cache"))
    return tmp_path


def repository(folder, requires="json"):
    folder.mkdir(parents=True)
    (folder / "hubconf.py").write_text(
        f"dependencies = ['{requires}']\n\n\ndef twice(x):\n    'Two of them.'\n    return [x, x]\n\n\n_hidden = len\n"
    )
    return folder


def test_folder(monkeypatch):
    monkeypatch.setattr(torch.hub, "_folder", None)
    monkeypatch.setenv("TORCH_HOME", "/somewhere")
    assert torch.hub.get_dir() == "/somewhere/hub"
    monkeypatch.delenv("TORCH_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", "/else")
    assert torch.hub.get_dir() == "/else/torch/hub"
    torch.hub.set_dir("/set")
    assert torch.hub.get_dir() == "/set"


def test_local_and_cached_repositories(cache):
    folder = repository(cache / "repo")
    assert torch.hub.load(str(folder), "twice", 3, source="local") == [3, 3]
    repository(cache / "cache" / "me_models_main")
    assert torch.hub.load("me/models", "twice", x=1) == [1, 1]
    assert torch.hub.list("me/models:main") == ["twice"]
    assert torch.hub.help("me/models", "twice") == "Two of them."
    repository(cache / "cache" / "me_other_main", requires="no_such_module")
    for call, error, message in (
        (lambda: torch.hub.load("me/models", "thrice"), RuntimeError, "Cannot find callable thrice in hubconf"),
        (lambda: torch.hub.load("me/models", 3), ValueError, "model should be a string of function name"),
        (lambda: torch.hub.load("me/other", "twice"), RuntimeError, "Missing dependencies: no_such_module"),
        (lambda: torch.hub.load("me/absent", "twice"), RuntimeError, "could not be found in the cache"),
        (lambda: torch.hub.load("x", "y", source="web"), ValueError, "Unknown source"),
    ):
        with pytest.raises(error, match=message):
            call()


def test_saved_values_from_files(cache):
    path = cache / "model-0123.pth"
    torch.save({"w": torch.ones(2)}, path)
    assert model_zoo.load_url(path.as_uri(), progress=False)["w"].tolist() == [1, 1]
    assert (cache / "cache" / "checkpoints" / "model-0123.pth").exists()
    path.unlink()
    assert torch.hub.load_state_dict_from_url(path.as_uri())["w"].tolist() == [1, 1]  # from the cache
    with pytest.raises(RuntimeError, match="could not be read"):
        torch.hub.load_state_dict_from_url(path.as_uri(), file_name="again.pth")


def test_the_hash_in_the_name_is_checked(cache):
    path = cache / "model-0123.pth"
    torch.save(torch.ones(2), path)
    with pytest.raises(RuntimeError, match=r'invalid hash value \(expected "0123"'):
        torch.hub.load_state_dict_from_url(path.as_uri(), progress=False, check_hash=True)
    assert not (cache / "cache" / "checkpoints" / "model-0123.pth").exists()

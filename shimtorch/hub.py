"""Models and files from the cache folder, from local folders and from ``file://`` (torch.hub).

Files of other addresses are downloaded as well; repositories are not: they are taken from the cache folder, where a
copy of theirs may lie.
"""

import os
import sys

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

MODULE_HUBCONF = "hubconf.py"
HASH_REGEX = r"-([a-f0-9]*)\."
_folder = None


def _get_torch_home():
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir():
    """The cache folder: what set_dir set, else ``hub`` in $TORCH_HOME, $XDG_CACHE_HOME/torch or ~/.cache/torch."""
    return os.path.join(_get_torch_home(), "hub") if _folder is None else _folder


def set_dir(d):
    """Make *d* the cache folder."""
    global _folder
    _folder = os.path.expanduser(d)


class _Bar:
    """Progress in percent on standard error; what stands for tqdm where that is not installed."""

    def __init__(self, total=None, disable=False, unit=None, *args, **kwargs):
        self.total, self.disable, self.n = total, disable, 0

    def update(self, n):
        self.n += n
        if not self.disable:
            sys.stderr.write(f"\r{self.n:.1f} bytes" if self.total is None else f"\r{100 * self.n / self.total:.1f}%")
            sys.stderr.flush()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if not self.disable:
            sys.stderr.write("\n")


def __getattr__(name):
    if name == "tqdm":
        try:
            from tqdm import tqdm
        except ImportError:
            return _Bar
        return tqdm
    raise AttributeError(f"module 'torch.hub' has no attribute {name!r}")


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Write what *url* gives to the file *dst*, whose SHA-256 must begin with *hash_prefix* (RuntimeError)."""
    import hashlib
    from urllib.error import URLError
    from urllib.request import Request, urlopen

    try:
        source = urlopen(Request(url, headers={"User-Agent": "torch.hub"}))
    except URLError as error:
        raise RuntimeError(
            f"{url} could not be read: {error.reason}. Without a connection, put the file into the cache folder, "
            f"{get_dir()}"
        ) from error
    size = source.headers.get("Content-Length")
    digest = hashlib.sha256()
    partial = f"{os.path.expanduser(dst)}.{os.getpid()}.partial"
    try:
        with source, open(partial, "wb") as out:
            with __getattr__("tqdm")(total=int(size) if size else None, disable=not progress, unit="B") as bar:
                while chunk := source.read(1 << 17):
                    out.write(chunk)
                    digest.update(chunk)
                    bar.update(len(chunk))
        if hash_prefix is not None and digest.hexdigest()[: len(hash_prefix)] != hash_prefix:
            found = digest.hexdigest()
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{found}")')
        os.replace(partial, os.path.expanduser(dst))
    finally:
        if os.path.exists(partial):
            os.remove(partial)


def load_state_dict_from_url(
    url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None, weights_only=False
):
    """What is saved at *url*, which is downloaded to ``checkpoints`` in the cache folder, or *model_dir*, if it is
    not there yet. With *check_hash* the file's name holds the beginning of its SHA-256.
    """
    import re
    from urllib.parse import urlparse

    from .serialization import load as load_file

    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        sys.stderr.write(f'Downloading: "{url}" to {path}\n')
        found = re.search(HASH_REGEX, name) if check_hash else None
        download_url_to_file(url, path, found.group(1) if found else None, progress)
    return load_file(path, map_location=map_location, weights_only=weights_only)


def _repository(repo_or_dir, source, verbose=True):
    """The folder of a repository: given itself, or ``owner_name_branch`` in the cache folder."""
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "local":
        return os.path.expanduser(repo_or_dir)
    name, _, branch = repo_or_dir.partition(":")
    owner, _, repository = name.partition("/")
    for ref in (branch,) if branch else ("main", "master"):
        folder = os.path.join(get_dir(), "_".join((owner, repository, ref.replace("/", "_"))))
        if os.path.isdir(folder):
            if verbose:
                sys.stderr.write(f"Using cache found in {folder}\n")
            return folder
    raise RuntimeError(
        f"The repository {repo_or_dir} could not be found in the cache ({get_dir()}), and shimtorch downloads none: "
        'put a copy there, or use source="local"'
    )


def import_module(name, path):
    """The module of a name, run from the file at *path*."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _configuration(folder):
    """The repository's hubconf, its requirements checked."""
    import importlib.util

    sys.path.insert(0, folder)
    try:
        module = import_module("hubconf", os.path.join(folder, MODULE_HUBCONF))
    finally:
        sys.path.remove(folder)
    missing = [name for name in getattr(module, "dependencies", ()) if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(module, model):
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    function = getattr(module, model, None)
    if not callable(function):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return function


def list(github, force_reload=False, skip_validation=False, trust_repo="check", verbose=True):
    """The names of the models of a repository."""
    module = _configuration(_repository(github, "github", verbose))
    return [name for name in dir(module) if callable(getattr(module, name)) and not name.startswith("_")]


def help(github, model, force_reload=False, skip_validation=False, trust_repo="check"):
    """What a repository says of a model."""
    return _entry(_configuration(_repository(github, "github")), model).__doc__


def load(
    repo_or_dir, model, *args, source="github", trust_repo=None, force_reload=False, verbose=True,
    skip_validation=False, **kwargs,
):
    """The model of a repository, ``model(*args, **kwargs)`` of its hubconf.

    *source*: "github" for one in the cache folder, "local" for a folder.
    """
    return _entry(_configuration(_repository(repo_or_dir, source, verbose)), model)(*args, **kwargs)

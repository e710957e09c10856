"""The distribution ``torch`` that ``importlib.metadata`` finds while shimtorch stands in for torch."""

from importlib.metadata import Distribution, DistributionFinder

from .names import ALIAS


def distributions(context=None):
    """The distributions that match a search of ``importlib.metadata``: one where torch, or everything, is asked for."""
    if context is None:
        context = DistributionFinder.Context()
    if context.name is None or context.name.lower() == ALIAS:
        yield TorchDistribution()


class TorchDistribution(Distribution):
    """Name torch and the era's version; no files, for none were installed under that name."""

    @property
    def files(self):
        return []

    @property
    def requires(self):
        return []

    def read_text(self, filename):
        if filename == "METADATA":
            import shimtorch

            head = f"Metadata-Version: 2.1\nName: {ALIAS}\nVersion: {shimtorch.__version__}\n"
            return head + "Summary: shimtorch, standing in for torch\n"
        return f"{ALIAS}\n" if filename == "top_level.txt" else None

    def locate_file(self, path):
        from pathlib import Path

        import shimtorch

        return Path(shimtorch.__file__).parent.parent / path

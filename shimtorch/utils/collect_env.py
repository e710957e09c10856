"""``torch.utils.collect_env``: a description of the installation, for bug reports."""

__all__ = ["get_pretty_env_info", "main"]


def get_pretty_env_info():
    """What ``shimtorch env`` shows, as one text."""
    from .._shim.environment import lines
    return "\n".join(lines())


def main():
    """Print it."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()

"""The name under which child processes find the program of ``shimtorch run`` again: see ``runner``."""

if __name__ == "__main__":
    import sys

    from shimtorch._shim import cli, runner

    sys.exit(cli.start(runner.of_environment()[0], sys.argv[1:]))
elif __name__ != "shimtorch._shim.rerun":  # executed for multiprocessing, as __mp_main__
    __import__("shimtorch._shim.runner", fromlist=["rerun"]).rerun(globals())

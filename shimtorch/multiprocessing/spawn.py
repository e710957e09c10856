"""Several processes that run one function (torch.multiprocessing.spawn)."""

import multiprocessing
import multiprocessing.connection
import signal
import sys
import warnings

__all__ = ["ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext",
           "spawn", "start_processes"]


class ProcessException(Exception):
    """A process has failed: *error_index* says which, *error_pid* its id."""

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.pid = pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process ended by an exception; the message holds its traceback."""

    def __init__(self, msg, error_index, error_pid):
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """A process ended by a signal, or with an exit code other than 0."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(fn, index, args, errors):
    """The life of one process: what it raises is sent to the parent as text."""
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the parent gets it too
    except Exception:
        import traceback

        errors.send(traceback.format_exc())
        sys.exit(1)
    finally:
        errors.close()


class ProcessContext:
    """Processes that were started together."""

    def __init__(self, processes, errors):
        self.processes = processes
        self._errors = errors
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self):
        """The ids of the processes."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Wait for at least one process to end; whether all have. If one failed, the others are ended, and it raises.

        ``timeout``: seconds to wait; ``grace_period``: seconds that the others are given to end by themselves.
        """
        if not self.sentinels:
            return True
        failed = None
        for sentinel in multiprocessing.connection.wait(list(self.sentinels), timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        self._end_others(grace_period)
        self._raise(failed)

    def _end_others(self, grace_period):
        for process in self.processes:
            if grace_period and process.is_alive():
                process.join(grace_period)
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(30)
            if process.is_alive():
                process.kill()
                process.join()

    def _raise(self, index):
        process, errors = self.processes[index], self._errors[index]
        try:
            text = errors.recv() if errors.poll() else None
        except EOFError:
            text = None
        if text is not None:
            message = f"\n\n-- Process {index} terminated with the following error:\n{text}"
            raise ProcessRaisedException(message, index, process.pid)
        code = process.exitcode
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"<Unknown signal {-code}>"
            message = f"process {index} terminated with signal {name}"
            raise ProcessExitedException(message, index, process.pid, code, name)
        raise ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)


SpawnContext = ProcessContext


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Run ``fn(i, *args)`` in *nprocs* processes made by *start_method*; waits, or returns a ProcessContext."""
    context = multiprocessing.get_context(start_method)
    processes, errors = [], []
    for index in range(nprocs):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, index, args, theirs), daemon=daemon)
        process.start()
        theirs.close()
        processes.append(process)
        errors.append(ours)
    started = ProcessContext(processes, errors)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Run ``fn(i, *args)`` in *nprocs* new processes; if one fails, the others are ended and its error is raised."""
    if start_method != "spawn":
        warnings.warn(
            f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different start_method "
            "use:\n\t\t torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")

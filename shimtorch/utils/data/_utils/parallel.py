"""One pass over a loader with worker processes."""

import multiprocessing
import os
import pickle
import signal
import time

from ...._utils import ExceptionWrapper
from . import channel, transfer, worker

_PATIENCE = 5.0  # seconds that a worker is given to end by itself


class _Worker:
    """A worker process as the loader sees it."""

    def __init__(self, context, work):
        self.end, theirs = channel.pair()
        self.process = context.Process(target=worker.main, args=(work, theirs), daemon=True)
        try:
            self.process.start()
        except BaseException:
            self.end.close()
            raise
        finally:
            theirs.close()
        self.exhausted = False  # its part of an iterable data set is at its end
        self.outstanding = 0

    def ask(self, number, indices):
        """Send a task."""
        self.outstanding += 1
        self.end.send(pickle.dumps((number, indices)))

    def fate(self):
        """How the process ended."""
        self.process.join(_PATIENCE)
        code = self.process.exitcode
        if code is None:
            return "closed its connection"
        if code < 0:
            try:
                return f"killed by signal: {signal.strsignal(-code) or -code}"
            except ValueError:
                return f"killed by signal: {-code}"
        return f"exit code {code}"


class Workers:
    """The worker processes of a loader: tasks go out in turn, batches come back in the order of the tasks."""

    def __init__(self, loader, base_seed):
        context = loader.multiprocessing_context or multiprocessing.get_context()
        self._timeout = loader.timeout or None
        self._prefetch = loader.prefetch_factor
        self._in_order = loader.in_order
        self._process = os.getpid()
        self._workers = []
        try:
            for number in range(loader.num_workers):
                self._workers.append(_Worker(context, worker.Work(loader, number, base_seed)))
        except BaseException:
            self.shut_down()
            raise

    def start(self, tasks):
        """Begin a pass over an iterator of indices."""
        self._tasks = tasks
        self._asked = self._expected = 0  # the numbers of the next task and of the next batch
        self._owner = {}  # number of an unanswered task -> worker
        self._arrived = {}  # number -> data
        self._turn = 0
        for _ in range(self._prefetch * len(self._workers)):
            self._ask_next()

    def restart(self, tasks):
        """Begin another pass with the same processes."""
        self._drain()
        for each in self._workers:
            each.exhausted = False
            each.ask(-1, worker.Resume())
        waiting = set(self._workers)
        while waiting:
            for each, number, _ in self._receive():
                if number == -1:
                    waiting.discard(each)
        self.start(tasks)

    def _drain(self):
        while any(each.outstanding for each in self._workers):
            self._receive()

    def _ask_next(self):
        """Give the next worker in turn that has not ended the next task."""
        for _ in self._workers:
            each = self._workers[self._turn]
            self._turn = (self._turn + 1) % len(self._workers)
            if not each.exhausted:
                break
        else:
            return
        try:
            indices = next(self._tasks)
        except StopIteration:
            return
        each.ask(self._asked, indices)
        self._owner[self._asked] = each
        self._asked += 1

    def next(self):
        """The next batch; StopIteration after the last."""
        while True:
            number = self._next_number()
            if number in self._arrived:
                data = self._arrived.pop(number)
                self._expected = max(self._expected, number + 1) if self._in_order else self._expected
                if isinstance(data, ExceptionWrapper):
                    self._ask_next()
                    data.reraise()
                self._ask_next()
                return data
            for each, done, data in self._receive():
                self._owner.pop(done, None)
                if isinstance(data, worker.EndOfStream):
                    each.exhausted = True
                    self._ask_next()
                else:
                    self._arrived[done] = data

    def _next_number(self):
        """The number of the batch to return next, which may have to be waited for."""
        if not self._in_order:
            if self._arrived:
                return next(iter(self._arrived))
            if self._owner:
                return None
            raise StopIteration
        while self._expected < self._asked:
            if self._expected in self._arrived or self._expected in self._owner:
                return self._expected
            self._expected += 1  # asked of a worker that was at its end
        raise StopIteration

    def _receive(self):
        """Wait for batches: a list of (worker, number, data). RuntimeError if a worker has died, or for a timeout."""
        deadline = None if self._timeout is None else time.monotonic() + self._timeout
        busy = [each for each in self._workers if each.outstanding]
        results = []
        while not results:
            left = None if deadline is None else deadline - time.monotonic()
            ready = channel.wait([each.end for each in busy], left if left is None else max(left, 0))
            if not ready and left is not None and left <= 0:
                raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
            dead = []
            for each in busy:
                if each.end not in ready:
                    continue
                for payload, descriptor in each.end.receive():
                    number, data = transfer.unpack(payload, descriptor)
                    each.outstanding -= 1
                    results.append((each, number, data))
                if each.end.closed and each.outstanding:
                    dead.append(each)
            if dead and not results:
                pids = ", ".join(str(each.process.pid) for each in dead)
                fates = ", ".join(each.fate() for each in dead)
                self.shut_down()
                raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly: {fates}")
        return results

    def shut_down(self):
        """End the processes: those that do not end by themselves are made to."""
        for each in self._workers:
            each.end.close()
        if os.getpid() != self._process:    # a forked child that drops its copy: they are not its children
            return
        deadline = time.monotonic() + _PATIENCE
        for each in self._workers:
            each.process.join(max(deadline - time.monotonic(), 0.01))
            if each.process.is_alive():
                each.process.terminate()
                each.process.join(_PATIENCE)
                if each.process.is_alive():
                    each.process.kill()
                    each.process.join()
            each.process.close()
        self._workers = []

"""``torch.futures``: values that are there later, set by another thread or by a callback."""
import threading

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """A value that some thread sets once, with ``set_result`` or ``set_exception``; ``wait`` blocks until then."""

    def __init__(self, *, devices=None):
        self._set = threading.Condition()
        self._done = False
        self._value = self._error = None
        self._callbacks = []

    def done(self):
        """Whether it has a value or an exception."""
        return self._done

    def wait(self):
        """The value, as soon as there is one; an exception that was set is raised."""
        with self._set:
            self._set.wait_for(lambda: self._done)
        return self.value()

    def value(self):
        """The value of a future that is done (else RuntimeError); an exception that was set is raised."""
        if not self._done:
            raise RuntimeError("Future.value() can only be called after the future has completed")
        if self._error is not None:
            raise self._error
        return self._value

    def set_result(self, result):
        """Give it its value and run the callbacks; RuntimeError if it has one."""
        self._finish(result, None)

    def set_exception(self, result):
        """Give it an exception, which ``wait`` and ``value`` will raise."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def _finish(self, value, error):
        with self._set:
            if self._done:
                raise RuntimeError("Future can only be marked completed once")
            self._value, self._error, self._done = value, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._set.notify_all()
        for callback in callbacks:
            callback(self)

    def _when_done(self, callback):
        with self._set:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback):
        """A Future of ``callback(self)``, called when this one is done; what it raises is the new one's exception."""
        following = Future()

        def run(future):
            try:
                following.set_result(callback(future))
            except Exception as error:
                following.set_exception(error)
        self._when_done(run)
        return following

    def add_done_callback(self, callback):
        """Call ``callback(self)`` when done; what it raises is only printed."""
        def run(future):
            try:
                callback(future)
            except Exception:
                import traceback
                traceback.print_exc()
        self._when_done(run)


def collect_all(futures):
    """A Future of the list *futures*, done when all of them are."""
    together = Future()
    left, lock = [len(futures)], threading.Lock()

    def one_less(future):
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            together.set_result(futures)
    for future in futures:
        future._when_done(one_less)
    if not futures:
        together.set_result(futures)
    return together


def wait_all(futures):
    """The values of *futures*, when all are there; the first exception among them is raised."""
    return [future.wait() for future in collect_all(futures).wait()]

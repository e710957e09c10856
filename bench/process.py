"""Talking to a worker process, one for each module, so that thread pools and allocators of the modules do not meet."""

import json
import os
import subprocess
import sys
import threading

from . import BUILT_IN_PLACE, CLONE

ELSEWHERE = CLONE.anchor          # where a process finds the clone's shimtorch/ only through the environment
POOLS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
# a BLAS kernel forced by the environment would be measured in place of the one that users get
FORCED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


class Module:
    """A module to measure, given as `module` or `module@/path/to/python`; `label` heads its column."""

    def __init__(self, text):
        self.name, _, python = text.partition("@")
        self.label, self.python = self.name, python or sys.executable

    def environment(self, threads=None):
        env = {key: value for key, value in os.environ.items() if key not in FORCED}
        if BUILT_IN_PLACE:
            env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(CLONE), env.get("PYTHONPATH")]))
        if threads:
            env.update(dict.fromkeys(POOLS, str(threads)))
        return env

    def importable(self):
        """Whether the module can be found, without importing it."""
        code = f"import importlib.util as u, sys; sys.exit(u.find_spec({self.name!r}) is None)"
        return subprocess.run([self.python, "-c", code], cwd=ELSEWHERE, env=self.environment()).returncode == 0


class WorkerProcess:
    """Starts a worker at the first question, and again after one that it did not survive."""

    def __init__(self, module, options):
        self.module, self.options, self.process = module, options, None

    def _start(self):
        command = [self.module.python, "-m", "bench.worker", self.module.name]
        command += ["--cpu-time"] if self.options.cpu_time else []
        command += [f"--threads={self.options.threads}"] if self.options.threads else []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, cwd=CLONE, env=self.module.environment(self.options.threads))
        self.last_words = []
        threading.Thread(target=self._listen, args=(self.process.stderr,), daemon=True).start()

    def _listen(self, stderr):
        for line in stderr:
            self.last_words = [*self.last_words[-9:], line.strip()]

    def ask(self, **request):
        """The answer to a request; {"error": why} where the process ended or ran past the time limit."""
        if self.process is None:
            self._start()
        process, late = self.process, threading.Event()
        timer = threading.Timer(self.options.timeout, lambda: (late.set(), process.kill()))
        timer.start()
        try:
            print(json.dumps(request), file=process.stdin, flush=True)
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if line:
            return json.loads(line)
        process.stdin.close()
        code, self.process = process.wait(), None
        if late.is_set():
            return {"error": f"took more than {self.options.timeout:g} s"}
        return {"error": f"the process ended with {code}: {self.last_words[-1] if self.last_words else ''}"}

    def stop(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()

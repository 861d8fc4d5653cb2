"""Workers that a benchmark must survive: `python -m benchmark_workers` does to each task what its instruction says."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.runner.model import Result, Task
from benchmarks.runner.worker import serve


def do(task: Task, folder: Path, outer: Mapping[str, str]) -> Result:
    """Hangs, dies, raises, prints, starts a child and hangs, waits for another one, or passes."""
    (folder / "was-here").write_text("")
    match task.instruction:
        case "hang":
            time.sleep(600)
        case "die":
            os.kill(os.getpid(), 9)
        case "raise":
            raise KeyError("/no/such/place")
        case "child":
            subprocess.run(
                [sys.executable, "-c", "import time; time.sleep(600)"], check=False
            )
        case "print":
            print('{"result": "not from here"}', flush=True)
        case "meet":
            (folder.parent / f"here-{task.id}").write_text("")
            while len(list(folder.parent.glob("here-*"))) < 2:
                time.sleep(0.01)
    names = ",".join(
        sorted(name for name in os.environ if name.startswith(("GIT_", "SECRET")))
    )
    return Result(task.id, names, str(Path.cwd() == folder), "passed")


if __name__ == "__main__":
    serve(do)

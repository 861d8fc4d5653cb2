"""Measure the cost of running a command under a monitor, of ending a process tree, and of much output.

    python benchmarks/processes.py [--runs N] [--whole] [--reference]

Everything is measured in turn with its plain counterpart, so that a machine that slows down slows both. Medians are
printed, also of the differences and the ratios of neighbours; the ratios count. `--whole` adds 200 processes at once
and 1 GB of output, `--reference` the tools of seed 004, installed into a temporary folder.
"""

import argparse
import compileall
import os
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import psutil

from cli_guard.execution.processes.manager import ProcessManager

PYTHON = sys.executable
MB = 1_000_000


def time_call(work: Callable[[], object]) -> float:
    """Return the time of one call in milliseconds."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1_000


Pair = tuple[float, float]


def time_both(
    runs: int, plain: Callable[[], object], ours: Callable[[], object]
) -> list[Pair]:
    """Return the times of both in milliseconds, without the first round, which warms caches."""
    return [(time_call(plain), time_call(ours)) for _ in range(runs + 1)][1:]


def line(name: str, pairs: Sequence[Pair], budget: str = "") -> None:
    """Print one row of the table."""
    plain, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    more = statistics.median(b - a for a, b in pairs)
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"{name:44}{plain:9.1f}{ours:9.1f}{more:+9.1f}{ratio:8.2f}  {budget}")


def bare(words: Sequence[str]) -> None:
    """Run the same command without cli-guard."""
    subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def overhead(runs: int) -> None:
    """Measure a command in the foreground against `subprocess.run` of the same words."""
    with ProcessManager() as processes:
        first = time_call(lambda: processes.run(("true",)))
        plain = time_call(partial(bare, ("true",)))
        line("the first command of a manager: true", [(plain, first)])
        same: list[tuple[str, str | Sequence[str], Sequence[str]]] = [
            ("true", ("true",), ("true",)),
            ("bash -c true", ("bash", "-c", "true"), ("bash", "-c", "true")),
            ("true, as text", "true", ("bash", "-c", "--", "true")),
            ("git --version", ("git", "--version"), ("git", "--version")),
            ("python -c pass", (PYTHON, "-c", "pass"), (PYTHON, "-c", "pass")),
        ]
        for name, asked, words in same:
            pairs = time_both(runs, partial(bare, words), partial(processes.run, asked))
            line(name, pairs, "<= 5 ms and <= 1.5 x")


class Marked:
    """Processes that are recognised by a word of their command line."""

    def __init__(self) -> None:
        self.word = f"86400.{secrets.randbelow(10**9):09d}"

    def family(self, size: int, before: str = "") -> str:
        """Return the text of a command that starts `size` processes."""
        return f"{before}for i in $(seq {size - 1}); do sleep {self.word} & done; echo up; wait"

    def count(self) -> int:
        """Count them by a walk over all processes of the machine."""
        return sum(
            self.word in (each.info["cmdline"] or ())
            for each in psutil.process_iter(["cmdline"])
        )

    def wait(self, number: int) -> None:
        """Wait until there are `number` of them. Raises TimeoutError."""
        until = time.monotonic() + 30
        while self.count() != number:
            if time.monotonic() > until:
                raise TimeoutError(f"{self.count()} processes, not {number}")
            time.sleep(0.01)


def families(runs: int) -> None:
    """Measure the end of 50 processes against one signal to their group and a walk until they are gone."""
    kinds = [
        ("obeys", "", False, "<= 300 ms"),
        ("is deaf, force", "trap '' INT TERM; ", True, "at once"),
    ]
    for name, before, force, budget in kinds:
        plain = []
        took = []
        for _ in range(runs):
            marked = Marked()
            words = ("bash", "-c", marked.family(50, before))
            with subprocess.Popen(
                words, start_new_session=True, stdout=subprocess.DEVNULL
            ) as leader:
                marked.wait(49)
                began = time.perf_counter()
                os.killpg(leader.pid, signal.SIGKILL if force else signal.SIGTERM)
                leader.wait()
                plain.append((time.perf_counter() - began) * 1_000)
            marked.wait(0)
            with ProcessManager() as processes:
                pid = processes.start(marked.family(50, before), startup_timeout=0.01).pid
                assert pid is not None
                marked.wait(49)
                took.append(time_call(partial(processes.stop, pid, force=force)))
                assert marked.count() == 0
        line(
            f"a process tree of 50 that {name}", list(zip(plain, took, strict=True)), budget
        )


def many(number: int) -> None:
    """Measure `number` processes at once, from the start of the first until all are gone."""
    marked = Marked()
    before = len(psutil.Process().children(recursive=True))
    with ProcessManager() as processes:
        words = ("sleep", marked.word)
        plain: list[subprocess.Popen[bytes]] = []
        begun = time_call(
            lambda: plain.extend(subprocess.Popen(words) for _ in range(number))
        )
        since = time.perf_counter()
        for each in plain:
            each.terminate()
        for each in plain:
            each.wait()
        ended = (time.perf_counter() - since) * 1_000
        start = time_call(
            lambda: [processes.start(words, startup_timeout=0.001) for _ in range(number)]
        )
        there = marked.count()
        listed = len(processes.processes())
        walk = time_call(processes.processes)
        stop = time_call(
            lambda: [each for each in processes.stop_all() if not each.success]
        )
        left = marked.count()
    line(f"{number} processes: started", [(begun, start)])
    line(f"{number} processes: stopped at once", [(ended, stop)])
    after = len(psutil.Process().children(recursive=True))
    print(
        f"    {there} ran, {listed} listed in {walk:.1f} ms, {left + after - before} left"
    )


class Peaks:
    """The growth of the peak memory of this process and the monitors' while something runs."""

    def __init__(self) -> None:
        self._before: dict[int, int] = {}
        self._peak: dict[int, int] = {}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.seen = 0

    def __enter__(self) -> "Peaks":
        for each in (psutil.Process(), *psutil.Process().children(recursive=True)):
            Path(f"/proc/{each.pid}/clear_refs").write_text("5")  # reset the peak (proc(5))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        us = psutil.Process()
        while not self._done.wait(0.01):
            for each in (us, *psutil.process_iter()):
                try:
                    if (
                        "cli_guard.execution.processes.supervisor"
                        not in " ".join(each.cmdline())
                        and each != us
                    ):
                        continue
                    status = dict(
                        row.split(":\t", 1)
                        for row in Path(f"/proc/{each.pid}/status").read_text().splitlines()
                        if row.startswith("Vm")
                    )
                except (OSError, psutil.Error):
                    continue
                self._before.setdefault(each.pid, int(status["VmRSS"].split()[0]))
                self._peak[each.pid] = int(status["VmHWM"].split()[0])

    @property
    def growth_mb(self) -> list[float]:
        """Return the growth of each process in MB, this one first."""
        return [(self._peak[pid] - self._before[pid]) / 1_024 for pid in self._before]


def output(megabytes: int) -> None:
    """Measure much output: written to a log, and passed on as it arrives."""
    words = ("head", "-c", str(megabytes * MB), "/dev/zero")
    seen = [0]

    def take(stream: str, data: bytes) -> None:
        seen[0] += len(data)

    with ProcessManager() as processes, tempfile.TemporaryFile() as file:

        def plain() -> None:
            file.truncate(0)
            file.seek(0)
            subprocess.run(words, stdout=file, check=True)

        pairs = time_both(3, plain, lambda: processes.run(words))
        line(f"{megabytes} MB into a file, beside a log", pairs)
        with Peaks() as peaks:
            ran = processes.run(words)
        assert ran.return_code == 0
        print(f"    {speed(megabytes, pairs)} MB/s; grew by {format_growth(peaks)}")
        part = min(megabytes, 100)
        words = ("head", "-c", str(part * MB), "/dev/zero")
        pairs = time_both(
            3,
            partial(bare, words),
            partial(processes.run, words, on_output=take),
        )
        line(f"{part} MB into a pipe, beside on_output", pairs)
        seen[0] = 0
        with Peaks() as peaks:
            processes.run(words, on_output=take)
        assert seen[0] == part * MB
        print(f"    {speed(part, pairs)} MB/s; grew by {format_growth(peaks)}")


def speed(megabytes: int, pairs: Sequence[Pair]) -> str:
    """Format the megabytes a second of ours."""
    return f"{megabytes / statistics.median(ours for _, ours in pairs) * 1_000:,.0f}"


def format_growth(peaks: Peaks) -> str:
    """Format the growth of each process."""
    owner, *others = peaks.growth_mb
    return f"{owner:.1f} MB (owner), {', '.join(f'{each:.1f}' for each in others)} MB (monitors)"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--reference", action="store_true")
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(str(Path(__file__).parent.parent / "cli_guard"), quiet=2)
    print(f"{'':44}{'plain ms':>9}{'ours ms':>9}{'more':>9}{'ratio':>8}  budget")
    overhead(given.runs)
    families(max(3, given.runs // 10))
    many(20)
    if given.whole:
        many(200)
    output(1_000 if given.whole else 100)
    if given.reference:
        from processes_reference import compare

        with tempfile.TemporaryDirectory(prefix="cli-guard-reference-") as folder:
            compare(Path(folder))


if __name__ == "__main__":
    main()

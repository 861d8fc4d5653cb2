"""A scan by the workers of a Dask scheduler finds what a scan here finds, though a worker is killed in the middle."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from repositories import Repo, key
from review.test_scan import found, look

from cli_guard.errors import CliGuardError
from cli_guard.report.scan import cluster, plan
from cli_guard.report.scan.run import ScanOptions

distributed = pytest.importorskip(
    "distributed", reason="the extra cli-guard[dask] is not installed"
)


@pytest.fixture
def history(committed: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setattr(plan, "A_SLICE", 3)
    for number in range(20):
        committed.commit(
            f"Commit {number}",
            {f"{number % 7}.py": f"aws = '{key()[:-1]}{chr(65 + number)}'\n"},
        )
    return committed


def options(address: str) -> ScanOptions:
    return ScanOptions(history=True, fresh=True, scheduler=address)


def test_a_local_cluster(history: Repo) -> None:
    here = found(look(history))
    assert len(here) == 20
    settings = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": None,
        "host": "127.0.0.1",
    }
    with distributed.LocalCluster(**settings) as started:
        assert found(look(history, options(started.scheduler_address))) == here
    with pytest.raises(CliGuardError, match="is no address"):
        look(history, options("example.org"))


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, list["subprocess.Popen[bytes]"]]]:
    """A scheduler and two workers, started by hand."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = (sys.executable, "-m", "distributed.cli.dask_scheduler")
    log = (tmp_path / "log").open("wb")
    started = [
        subprocess.Popen(
            (*program, "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"),
            stderr=log,
        )
    ]
    address = f"tcp://127.0.0.1:{port}"
    worker = (
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        address,
        "--host",
        "127.0.0.1",
        "--nthreads",
        "1",
    )
    started += [
        subprocess.Popen((*worker, "--no-dashboard", "--no-nanny"), stderr=log)
        for _ in range(2)
    ]
    yield address, started
    for process in started:
        process.kill()
        process.wait()


def test_a_worker_is_killed(
    history: Repo,
    scheduler: tuple[str, list["subprocess.Popen[bytes]"]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, (_, first, second) = scheduler
    here = found(look(history))
    with distributed.Client(address, timeout=60) as client:
        client.wait_for_workers(2, timeout=60)
    done: list[int] = []

    def kill_one(count: int, total: int) -> None:
        done.append(count)
        if len(done) == 3:
            first.kill()

    import datetime

    from cli_guard.report.scan.run import scan
    from cli_guard.runtime import Invocation

    now = datetime.datetime(2026, 5, 4, tzinfo=datetime.UTC)
    review = scan(
        None, options(address), Invocation(history.path, history.env, now), kill_one
    )
    assert found(review) == here and not review.skipped
    assert len(done) == len(set(done)) and first.wait(120) != 0 and second.poll() is None
    # With no worker left it ends, and what was done is kept.
    monkeypatch.setattr(cluster, "WAIT_SECONDS", 0.5)
    monkeypatch.setattr(cluster, "PATIENCE", 2)
    second.kill()
    with pytest.raises(CliGuardError, match="no worker"):
        look(history, options(address))

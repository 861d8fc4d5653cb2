"""What stands in for the keeper where there is no fork, tried where there is one."""

from collections.abc import Iterator

import psutil
import pytest
from watching import eventually, marked

from cli_guard.execution.processes import launcher as door
from cli_guard.execution.processes.manager import ProcessManager
from cli_guard.execution.processes.model import Limits


@pytest.fixture(autouse=True)
def no_fork(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(door, "FORKS", False)
    yield
    assert not [each for each in psutil.Process().children() if "keeper" in " ".join(each.cmdline())]


def test_a_command_runs_and_is_answered(manager: ProcessManager) -> None:
    seen: list[tuple[str, bytes]] = []
    result = manager.run(
        "read x; echo $x; echo e >&2; exit 3", respond="yes\n", on_output=lambda s, d: seen.append((s, d))
    )
    assert (result.stdout, result.stderr, result.return_code) == ("yes\n", "e\n", 3)
    assert sorted(seen) == [("stderr", b"e\n"), ("stdout", b"yes\n")]


def test_long_output_is_cut(manager: ProcessManager) -> None:
    result = manager.run("seq 100000")
    assert result.output_truncated
    assert result.log_file
    assert result.log_file in result.stdout


def test_a_timeout_ends_the_tree(manager: ProcessManager, mark: str) -> None:
    result = manager.run(f"sleep {mark} & sleep {mark}", timeout=0.4)
    assert result.timed_out
    assert eventually(lambda: not marked(mark))


def test_what_is_not_found_is_told(manager: ProcessManager) -> None:
    assert "not found" in (manager.run(("no-such-program-here",)).error or "")


def test_a_background_process_ends_with_its_manager(mark: str) -> None:
    with ProcessManager() as manager:
        assert manager.start(f"sleep {mark}", startup_timeout=0.3).state == "ready"
        assert marked(mark)
    assert eventually(lambda: not marked(mark))


@pytest.mark.parametrize("force", [False, True])
def test_a_background_process_is_listed_and_stopped(manager: ProcessManager, mark: str, force: bool) -> None:
    begun = manager.start(f"echo begun; sleep {mark} & sleep {mark}", startup_timeout=0.3)
    assert begun.pid is not None
    assert (begun.stdout, manager.processes()[0].running) == ("begun\n", True)
    assert manager.stop(begun.pid, force=force).success
    assert not manager.processes()[0].running
    assert eventually(lambda: not marked(mark))


@pytest.mark.parametrize("settings", [{"terminal": True}, {"limits": Limits(cpu_seconds=1)}])
def test_what_cannot_be_had_is_refused(manager: ProcessManager, settings: dict[str, bool]) -> None:
    assert "on this system" in (manager.run("true", **settings).error or "")  # type: ignore[arg-type]

"""Who outlives whom: owners, supervisors, monitors and managers that end or are killed."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
from watching import STARTUP, eventually, marked

from cli_guard.execution.processes.manager import ProcessManager

PYTHON = sys.executable


def test_a_later_process_of_the_same_number_is_not_ours(tmp_path: Path, mark: str) -> None:
    with (
        ProcessManager(tmp_path / "runs") as manager,
        subprocess.Popen(("sleep", "60")) as other,
    ):
        begun = manager.start(f"sleep {mark}", startup_timeout=STARTUP)
        assert begun.pid and begun.log_file
        record = Path(begun.log_file).with_name("run.json")
        text = record.read_text()
        monitor = next(p for p in psutil.Process(begun.pid).parents())
        for pid in (begun.pid, monitor.pid):
            record.write_text(record.read_text().replace(f": {pid}", f": {other.pid}"))
        [process] = manager.processes()
        assert (process.pid, process.running) == (other.pid, False)
        assert manager.stop(other.pid).success
        assert other.poll() is None
        other.kill()
        record.write_text(text)
        assert manager.stop(begun.pid, force=True).success


def test_one_that_is_killed_from_outside_is_reaped(
    manager: ProcessManager, mark: str
) -> None:
    begun = manager.start(f"sleep {mark}", startup_timeout=STARTUP)
    assert begun.pid
    os.kill(begun.pid, signal.SIGKILL)
    assert eventually(lambda: not manager.processes()[0].running)
    assert manager.processes()[0].return_code == -signal.SIGKILL
    assert not psutil.pid_exists(begun.pid)


def test_a_monitor_that_is_killed_takes_the_process_tree_with_it(
    manager: ProcessManager, mark: str
) -> None:
    begun = manager.start(f"setsid sleep {mark} & sleep {mark}", startup_timeout=STARTUP)
    assert begun.pid
    psutil.Process(begun.pid).parent().kill()  # type: ignore[union-attr]
    assert eventually(lambda: not marked(mark))
    assert eventually(lambda: not manager.processes()[0].running)
    assert manager.stop(begun.pid).success


def test_a_foreground_command_whose_monitor_is_killed_is_told(
    manager: ProcessManager, mark: str
) -> None:
    def kill(stream: str, data: bytes) -> None:
        psutil.Process(int(data)).parent().kill()  # type: ignore[union-attr]

    result = manager.run(f"echo $$; sleep {mark}", on_output=kill)
    assert "monitored it was killed" in (result.error or "")
    assert eventually(lambda: not marked(mark))


def test_a_supervisor_that_is_killed_is_started_anew(
    manager: ProcessManager, mark: str
) -> None:
    begun = manager.start(f"sleep {mark}", startup_timeout=STARTUP)
    assert begun.pid
    supervisor = psutil.Process(begun.pid).parent().parent()  # type: ignore[union-attr]
    assert supervisor
    supervisor.kill()
    assert eventually(
        lambda: not supervisor.is_running() or supervisor.status() == psutil.STATUS_ZOMBIE
    )
    assert manager.run("echo again").stdout == "again\n"
    assert manager.stop(begun.pid).success
    assert not marked(mark)


OWNER = """
import sys, time
from pathlib import Path
from cli_guard.execution.processes.manager import ProcessManager
folder, mark, keep = sys.argv[1:4]
manager = ProcessManager(Path(folder) if folder else None, keep=keep == "keep")
begun = manager.start(f"setsid sleep {mark} & sleep {mark}", startup_timeout=0.3)
print(manager.folder, begun.pid, flush=True)
if sys.argv[4] == "foreground":
    manager.run(f"setsid sleep {mark} & sleep {mark}")
elif sys.argv[4] == "wait":
    time.sleep(600)
"""


def owner(*arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        (PYTHON, "-c", OWNER, *arguments), stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("doing, least", [("wait", 2), ("foreground", 4)])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_its_owner(mark: str, doing: str, least: int, number: int) -> None:
    with owner("", mark, "", doing) as process:
        assert process.stdout
        folder, _ = process.stdout.readline().split()
        assert eventually(
            lambda: (
                len([p for p in marked(mark) if psutil.Process(p).name() == "sleep"])
                >= least
            )
        )
        process.send_signal(number)
        process.wait(30)
        assert eventually(lambda: not marked(mark))
        assert eventually(lambda: not Path(folder).exists())


def test_what_is_kept_outlives_its_owner_and_is_found_again(
    mark: str, tmp_path: Path
) -> None:
    with owner(str(tmp_path / "runs"), mark, "keep", "end") as process:
        assert process.stdout
        pid = int(process.stdout.readline().split()[1])
        process.wait(30)
    with ProcessManager(tmp_path / "runs", keep=True) as manager:
        [found] = manager.processes()
        assert (found.pid, found.running) == (pid, True)
        assert manager.stop(pid).success
        assert not marked(mark)


def test_one_that_is_let_go_of_ends_nothing_that_is_kept(mark: str, tmp_path: Path) -> None:
    with ProcessManager(tmp_path / "runs", keep=True) as first:
        pid = first.start(f"sleep {mark}", startup_timeout=STARTUP).pid
    with ProcessManager(tmp_path / "runs") as second:
        assert pid and second.processes()[0].running
        assert second.stop(pid, force=True).success


def test_ten_managers_on_one_registry(mark: str, tmp_path: Path) -> None:
    managers = [ProcessManager(tmp_path / "runs") for _ in range(10)]
    threads = [
        threading.Thread(
            target=each.start, args=(f"sleep {mark}",), kwargs={"startup_timeout": STARTUP}
        )
        for each in managers
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([each for each in managers[0].processes() if each.running]) == 10
    assert all(each.success for each in managers[3].stop_all())
    assert not marked(mark)
    for each in managers:
        each.close()

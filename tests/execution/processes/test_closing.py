"""A manager that is closed while other threads wait for its commands."""

import threading
from pathlib import Path

from watching import eventually

from cli_guard.execution.processes.manager import ProcessManager
from cli_guard.execution.processes.model import Result

PATIENCE = 60.0


def test_what_another_thread_waits_for_ends_with_the_manager(tmp_path: Path) -> None:
    manager = ProcessManager(tmp_path / "runs")
    results: list[Result] = []
    begun = tmp_path / "begun"
    threads = [
        threading.Thread(
            target=lambda n=n: results.append(
                manager.run(f"touch {begun}{n}; sleep 600", timeout=None)
            )
        )
        for n in range(3)
    ]
    for thread in threads:
        thread.start()
    assert eventually(lambda: all(Path(f"{begun}{n}").exists() for n in range(3)), PATIENCE)
    manager.close()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(results) == 3 and not any(
        result.success or result.timed_out for result in results
    )


def test_after_its_end_a_manager_runs_nothing(tmp_path: Path) -> None:
    manager = ProcessManager(tmp_path / "runs")
    assert manager.run("true").success
    manager.close()
    result = manager.run(f"touch {tmp_path / 'ran'}")
    assert result.return_code is None and result.error and "closed" in result.error
    assert not (tmp_path / "ran").exists()

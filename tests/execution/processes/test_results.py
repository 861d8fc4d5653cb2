"""What is said of a command: errors with their lines, whatever the length of the log, and no secret among them."""

from pathlib import Path

import pytest
from examples import table

from cli_guard.execution.processes import results
from cli_guard.execution.processes.manager import ProcessManager

KEY = "AKIA" + "Q3EGRI4ZVXNP7K2W"
ERROR = "ModuleNotFoundError: No module named 'yamm'"


def test_an_error_has_its_line_and_those_around_it(manager: ProcessManager) -> None:
    result = manager.run(f'echo one; echo "{ERROR}" >&2; echo three; exit 1')
    [error] = result.errors
    assert error.type == "missing_dependency"
    assert "yamm" in error.message
    assert ERROR in error.context
    assert result.error == f"{error.message} (exit code 1)"


@table("before", [0, 10, 5_000, 50_000])
@table("after", [0, 10, 50_000])
def test_lines_of_a_long_log_count_from_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int, after: int
) -> None:
    monkeypatch.setattr(results, "SCANNED_BYTES", 20_000)
    log = tmp_path / "log"
    log.write_text(
        "".join(f"line {n}\n" for n in range(before)) + ERROR + "\n" + "ok\n" * after
    )
    found = results.errors_in(log)
    looked_at = before <= 10 or after <= 10
    assert [each.line for each in found] == ([before + 1] if looked_at else [])


def test_a_secret_in_an_error_is_masked(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"{'x' * 190} {KEY}\nError: Cannot find module '{KEY}'\n{KEY}\n")
    [error] = results.errors_in(log)
    assert KEY[:10] not in repr(error)

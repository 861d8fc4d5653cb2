"""What is told of a check that did not pass: the lines that matter, safe to show, whatever it printed."""

from examples import table
from hypothesis import given
from hypothesis import strategies as st
from repositories import key

from cli_guard.execution.checks.outcome import Outcome
from cli_guard.execution.errors import (
    ERROR_LINES,
    LAST_LINES,
    LINE_CHARS,
    explain_output,
)
from cli_guard.policy.checks import CheckConfig, PlannedCheck
from cli_guard.rules.examples import expand
from cli_guard.secrets.printable import printable

CHECK = PlannedCheck("t", CheckConfig(command="make"), "a" * 40, None, "d" * 64)


@given(
    st.text(alphabet=st.characters(), max_size=2_000)
    | st.binary(max_size=2_000).map(lambda b: b.decode("latin-1"))
)
def test_any_output_is_told_within_bounds(output: str) -> None:
    lines = explain_output(output)
    assert len(lines) <= LAST_LINES + ERROR_LINES + 1
    assert all(len(line) <= LINE_CHARS and line == printable(line) for line in lines)


def test_the_last_lines_and_blanks_between_them() -> None:
    assert explain_output("a\n\n \nb\r\n10%\r100%\n\x1b[31mc\x1b[0m\n") == [
        "a",
        "b",
        "100%",
        "c",
    ]
    lines = explain_output("\n".join(f"line {number}" for number in range(100)))
    assert lines == [f"line {number}" for number in range(100 - LAST_LINES, 100)]


def test_errors_that_stand_earlier_come_first() -> None:
    said = [f"line {number}" for number in range(50)]
    lines = explain_output(
        "\n".join(["ModuleNotFoundError: No module named 'nosuch'", *said])
    )
    assert lines == ["Python module not found: nosuch", "...", *said[-LAST_LINES:]]
    assert "..." not in explain_output(
        "\n".join([*said, "ModuleNotFoundError: No module named 'nosuch'"])
    )


def test_a_private_key_is_masked_as_a_whole() -> None:
    key_block = expand("<<pem:RSA PRIVATE KEY>>", 1)
    shown = "\n".join(explain_output(f"loaded\n{key_block}\nfailed"))
    assert "failed" in shown
    assert not any(line in shown for line in key_block.split("\n")[1:-1])


def test_a_reason_is_safe_to_show() -> None:
    finding = Outcome(CHECK, "failed", f"\x1b[2J {key('github')}").finding
    assert (
        finding and "\x1b" not in finding.message and key("github") not in finding.message
    )


@table("state", ["failed", "not run"])
def test_a_finding_is_of_one_check_and_one_tree(state: str) -> None:
    other = PlannedCheck("t", CHECK.config, "b" * 40, None, CHECK.digest)
    one, two, again = (
        Outcome(check, state, "x").finding for check in (CHECK, other, CHECK)
    )  # type: ignore[arg-type]
    assert one and two and again
    assert one.fingerprint == again.fingerprint != two.fingerprint
    assert Outcome(CHECK, "passed").finding is None

"""The budget of a day: it stops before the call that would pass it, whatever happens to the record."""

import datetime
import errno
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_world import NOON, PROMPT, gateway_at, section
from openai_server import fault, say, serve

from cli_guard.llm import ledger as ledger_module
from cli_guard.llm.ledger import Ledger, Usage, price_of, read_entry
from cli_guard.llm.providers import ModelError

pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter")
# A dollar for a token of the answer, 16 of which are asked for at most.
PRICED = {"prices": {"openai:a": {"input": 0, "output": 10_000}}, "answer_tokens": 100}
ENTRY = {"at": "2026-11-23T11:00:00+00:00", "in": 1, "out": 1, "usd": 1.0}


def ask(gateway: Any) -> Any:
    return gateway.ask(PROMPT, "light", purpose="test")


def record_of(folder: Path) -> Path:
    path = folder / "cli-guard/model.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def spent(folder: Path, now: datetime.datetime = NOON) -> float:
    return Ledger(section(), {"XDG_STATE_HOME": str(folder)}, now).total_of_day().usd


def test_the_call_that_could_pass_the_budget_is_not_made(tmp_path: Path) -> None:
    # 100 tokens at USD 0.01 may cost 1; 40 are used each time.
    with serve([say("blue", usage=(7, 40))] * 4) as server:
        gateway = gateway_at(tmp_path, server.base_url, budget_usd_per_day=2.3, **PRICED)
        for number in range(1, 5):
            assert ask(gateway).usd == pytest.approx(0.4)
            assert spent(tmp_path) == pytest.approx(0.4 * number)
        with pytest.raises(
            ModelError, match=r"USD 1.6000 of 2.3 are spent, and this call may cost 1.0000"
        ):
            ask(gateway)
        assert len(server.requests) == 4
    total = gateway.ledger.total
    assert str(total) == "4 calls, 28 + 160 tokens, USD 1.6000"
    assert Ledger(gateway.config, gateway.env, NOON).total_of_day() == total


def test_failing_does_not_get_past_the_budget(tmp_path: Path) -> None:
    cheap = {
        "prices": {"openai:a": {"input": 1_000, "output": 1_000}},
        "answer_tokens": 100,
    }
    with serve(lambda request: fault("cut_in_line")) as server:
        gateway = gateway_at(tmp_path, server.base_url, budget_usd_per_day=0.5, **cheap)
        for _ in range(20):
            with pytest.raises(ModelError) as caught:
                ask(gateway)
        assert "the budget of the day does not allow it" in str(caught.value)
        assert 2 <= len(server.requests) <= 12
        # One that was refused has cost nothing, and its reservation is taken back.
        before = spent(tmp_path)
    assert before > 0.2
    dead = gateway_at(tmp_path, server.base_url, budget_usd_per_day=5, **cheap)
    with pytest.raises(ModelError, match="cannot be reached"):
        ask(dead)
    assert spent(tmp_path) == before


def test_a_process_that_is_killed_has_spent_the_most_it_could(tmp_path: Path) -> None:
    ledger = gateway_at(
        tmp_path, "http://127.0.0.1:9/v1", budget_usd_per_day=1.5, **PRICED
    ).ledger
    mark = ledger.reserve("openai:a", 10)
    assert spent(tmp_path) == 1.0
    with pytest.raises(ModelError, match=r"USD 1.0000 of 1.5 are spent"):
        ledger.reserve("openai:a", 10)
    ledger.record("openai:a", Usage(5, 20), mark)
    assert spent(tmp_path) == pytest.approx(0.2)


RESERVE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from model_world import gateway_at
from cli_guard.llm.providers import ModelError
prices = {"openai:a": {"input": 0, "output": 10_000}}
ledger = gateway_at(
    Path(sys.argv[2]), "http://127.0.0.1:9/v1", budget_usd_per_day=5, prices=prices, answer_tokens=100
).ledger
input()
for _ in range(20):
    try:
        ledger.reserve("openai:a", 10)
    except ModelError:
        pass
    else:
        print("reserved", flush=True)
"""


def test_two_processes_at_once_share_the_budget(tmp_path: Path) -> None:
    command = (
        sys.executable,
        "-c",
        RESERVE,
        str(Path(__file__).parent.parent),
        str(tmp_path),
    )
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    with ThreadPoolExecutor(2) as pool:
        outputs = list(
            pool.map(lambda child: child.communicate("\n", timeout=120)[0], children)
        )
    assert sum(output.count("reserved") for output in outputs) == 5
    assert spent(tmp_path) == 5.0


def test_a_price_that_is_not_known(tmp_path: Path) -> None:
    with serve([say("blue")] * 2) as server:
        free = gateway_at(tmp_path, server.base_url)
        assert ask(free).usd is None
        assert str(free.ledger.total) == "1 call, 10 + 5 tokens, price unknown"
        known = gateway_at(tmp_path, server.base_url, **PRICED)
        known.ledger.total = free.ledger.total
        assert ask(known).usd == pytest.approx(0.05)
        assert (
            str(known.ledger.total)
            == "2 calls, 20 + 10 tokens, USD 0.0500 and 1 of unknown price"
        )
        budget = gateway_at(tmp_path, server.base_url, budget_usd_per_day=5)
        with pytest.raises(
            ModelError, match=r'no budget can hold: add "openai:a" to \[model.prices\]'
        ):
            ask(budget)


def test_list_prices_and_own_ones() -> None:
    usage = Usage(1_000_000, 1_000_000)
    listed = price_of("openai:gpt-4o-mini", usage, section())
    assert listed is not None and 0.1 < listed < 10
    # A server of one's own may give its models names of others.
    assert (
        price_of("openai:gpt-4o-mini", usage, section(base_url="http://127.0.0.1:9/v1"))
        is None
    )
    assert price_of("openai:no-such-model-7", usage, section()) is None
    assert price_of("nobody:x", usage, section()) is None
    own = section(prices={"openai:gpt-4o-mini": {"input": 1.5, "output": 2}})
    assert price_of("openai:gpt-4o-mini", usage, own) == 3.5


def test_the_day_is_the_one_of_utc_and_may_end_within_a_session(tmp_path: Path) -> None:
    east = datetime.timezone(datetime.timedelta(hours=9))
    # 2026-11-24 in the east, still the 23rd in UTC.
    now = datetime.datetime(2026, 11, 24, 8, 59, tzinfo=east)
    record_of(tmp_path).write_text(json.dumps(ENTRY) + "\n")
    ledger = gateway_at(
        tmp_path, "http://127.0.0.1:9/v1", now=now, budget_usd_per_day=1.5, **PRICED
    ).ledger
    with pytest.raises(ModelError, match=r"USD 1.0000 of 1.5"):
        ledger.reserve("openai:a", 10)
    ledger._began -= 120
    assert ledger.clock().date().isoformat() == "2026-11-24"
    ledger.record("openai:a", Usage(1, 50), ledger.reserve("openai:a", 10))
    assert (spent(tmp_path), spent(tmp_path, now), ledger.total_of_day().usd) == (
        1.0,
        1.0,
        0.5,
    )


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_link(path: Path) -> None:
    path.symlink_to("/dev/null")


def make_file_of_the_folder(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("")


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (make_fifo, "should be a file, but it is a FIFO: remove it"),
        (make_link, "should be a file, but it is a link: remove it"),
        (Path.mkdir, "should be a file, but it is a folder: remove it"),
        (make_file_of_the_folder, "should be a folder: remove it"),
    ],
)
def test_a_record_that_cannot_be_used(tmp_path: Path, make: Any, line: str) -> None:
    make(record_of(tmp_path))
    with serve([say("blue")]) as server:
        # Without a budget it is no loss; with one, nothing is sent.
        assert ask(gateway_at(tmp_path, server.base_url, **PRICED)).text == "blue"
        with pytest.raises(ModelError) as caught:
            ask(gateway_at(tmp_path, server.base_url, budget_usd_per_day=5, **PRICED))
    assert "the budget cannot be checked: " in str(caught.value) and line in str(
        caught.value
    )


@pytest.mark.parametrize("name", ["read_state", "open_state", "lock"])
def test_a_record_of_somebody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def refuse(path: Path, *_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(ledger_module, name, refuse)
    ledger = gateway_at(
        tmp_path, "http://127.0.0.1:9/v1", budget_usd_per_day=5, **PRICED
    ).ledger
    with pytest.raises(
        ModelError, match=r"cannot be checked: .*model.*jsonl: Permission denied$"
    ):
        ledger.reserve("openai:a", 10)
    assert ledger.record("openai:a", Usage(1, 100)) == 1.0


def test_without_a_home_folder_no_budget_can_hold() -> None:
    config = section(budget_usd_per_day=5, **PRICED)
    with pytest.raises(ModelError, match=r"no home folder .* set HOME"):
        Ledger(config, {}, NOON).reserve("openai:a", 10)


DAMAGED = (
    "garbage",
    "[]",
    "[" * 5000,
    "\x00\x01",
    *(
        json.dumps(ENTRY | change)
        for change in (
            {"usd": "1"},
            {"usd": -5},
            {"usd": float("nan")},
            {"usd": float("-inf")},
            {"usd": 1e300},
            {"usd": True},
            {"in": "7"},
            {"in": -1},
            {"out": 1.5},
            {"out": 10**30},
            {"out": None},
            {"at": 7},
            {"at": "yesterday"},
        )
    ),
)


@pytest.mark.parametrize("line", DAMAGED)
def test_a_damaged_line_is_said_and_never_counted(tmp_path: Path, line: str) -> None:
    record_of(tmp_path).write_text(f"{json.dumps(ENTRY)}\n{line}\n{json.dumps(ENTRY)}\n")
    assert spent(tmp_path) == 2.0
    ledger = gateway_at(
        tmp_path, "http://127.0.0.1:9/v1", budget_usd_per_day=50, **PRICED
    ).ledger
    with pytest.raises(
        ModelError, match=r"model.jsonl: line 2 is damaged: remove the line$"
    ):
        ledger.reserve("openai:a", 10)


@given(st.text(max_size=60) | st.from_type(object).map(repr))
def test_any_line_is_an_entry_or_none(line: str) -> None:
    try:
        assert read_entry(line)["in"] >= 0
    except ValueError:
        return


def test_a_record_that_has_grown_is_parted_but_not_within_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "KEPT_BYTES", 300)
    path = record_of(tmp_path)
    old = record_of(tmp_path).with_suffix(".old.jsonl")
    now = datetime.datetime.now(datetime.UTC)
    ledger = gateway_at(tmp_path, "http://127.0.0.1:9/v1", now=now, **PRICED).ledger
    for number in range(1, 9):
        ledger.record("openai:a", Usage(1, 100))
        assert ledger.total_of_day().usd == number
    assert old.stat().st_size < path.stat().st_size
    os.utime(old, (0, 0))
    ledger.record("openai:a", Usage(1, 100))
    assert len(path.read_text().splitlines()) == 1

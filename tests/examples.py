"""Tables of examples: one test a table, which checks every row and names all that fail in one message.

    @examples("command", ("rm -rf /", "mkfs /dev/sda"))
    def test_what_destroys_a_disk_is_denied(command: str) -> None: ...

is `pytest.mark.parametrize` with one item for the whole table: no row is hidden behind the first that fails, and
nothing is set up or reported for each row. `examples` holds what fires, `near_misses` what only looks like it,
`table` anything else. The totals are in the last lines of a run: see `report_totals`.
"""

import functools
import inspect
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

FIRES = "examples that fire"
SILENT = "near misses that do not"
ROWS = "rows of tables"
LONGEST_LABEL = 400
# What a row would find of the rows before. Other fixtures are shared: rows may read a repository, not change it.
SHARED_STATE = {"capsys", "capfd", "caplog"}
Rows = Iterable[Any] | Callable[..., Iterable[Any]]
Test = Callable[..., Any]


def examples(
    names: str | tuple[str, ...], rows: Rows, *, ids: Any = None, fires: str = ""
) -> Callable[[Test], Test]:
    """Check rows in which something fires; with `fires`, the column that is false in a near miss.

    `rows` may be a function: it gets the other arguments of the test that it names, a rule for example.
    A test that checks several examples in a row returns how many: (examples, near misses).
    """
    return functools.partial(_wrap, names, rows, ids, FIRES, fires)


def near_misses(
    names: str | tuple[str, ...], rows: Rows, *, ids: Any = None
) -> Callable[[Test], Test]:
    """Check rows in which nothing may fire."""
    return functools.partial(_wrap, names, rows, ids, SILENT, "")


def table(
    names: str | tuple[str, ...], rows: Rows, *, ids: Any = None
) -> Callable[[Test], Test]:
    """Check rows that are neither: what goes in and what has to come out."""
    return functools.partial(_wrap, names, rows, ids, ROWS, "")


def examples_of(rule: Any) -> Iterator[tuple[str, bool]]:
    """The examples of a rule and its near misses, for the columns `example` and `fires`."""
    yield from ((text, True) for text in rule.fires)
    yield from ((text, False) for text in rule.silent)


class _Table:
    """The columns and rows of one decorator."""

    def __init__(self, names: str | tuple[str, ...], rows: Rows, ids: Any) -> None:
        self.names = (
            tuple(name.strip() for name in names.split(","))
            if isinstance(names, str)
            else tuple(names)
        )
        # The class of an enumeration can be called as well, and is a collection of rows.
        self.is_made = inspect.isfunction(rows)
        self.wanted = tuple(inspect.signature(rows).parameters) if self.is_made else ()
        self.rows = rows if self.is_made else list(rows)
        self.ids = ids

    def labelled(self, arguments: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Each row with what names it in a message."""
        rows = (
            list(self.rows(*(arguments[name] for name in self.wanted)))
            if self.is_made
            else self.rows
        )
        ids = [*self.ids] if isinstance(self.ids, Iterable) else [None] * len(rows)
        return [self._labelled(row, id_) for row, id_ in zip(rows, ids, strict=True)]

    def _labelled(self, row: Any, id_: object) -> tuple[str, dict[str, Any]]:
        if isinstance(row, type(pytest.param())):
            assert not row.marks, "a row with a mark needs a test of its own"
            row, id_ = (row.values if len(self.names) > 1 else row.values[0]), row.id or id_
        values = tuple(row) if len(self.names) > 1 else (row,)
        pairs = dict(zip(self.names, values, strict=True))
        named = self.ids if callable(self.ids) else _name
        shown = ", ".join(repr(named(value) or value) for value in values)
        return f"{id_}: {shown}" if id_ is not None else shown, pairs


def _name(value: Any) -> Any:
    """The id of a rule, and everything else as it is."""
    return getattr(value, "id", value)


def _wrap(names: Any, rows: Rows, ids: Any, kind: str, fires: str, test: Test) -> Test:
    """The test of a whole table. Tables above one another are multiplied, as with `parametrize`."""
    tables = [_Table(names, rows, ids), *getattr(test, "tables", ())]
    inner = getattr(test, "row_test", test)
    kind, fires = (kind, fires) if test is inner else test.counted_as
    parameters = inspect.signature(inner).parameters
    columns = {name for each in tables for name in each.names}
    left = [name for name in parameters if name not in columns]
    assert not SHARED_STATE & set(left), (
        f"{inner.__name__}: a row may change {SHARED_STATE & set(left)}"
    )
    wanted = columns | {name for each in tables for name in each.wanted}
    assert wanted <= set(parameters), (
        f"{inner.__name__}: {wanted - set(parameters)} are no arguments of it"
    )

    @functools.wraps(inner)
    def whole(request: pytest.FixtureRequest, **arguments: Any) -> None:
        if "request" in parameters:
            arguments["request"] = request
        totals = Counter[str]()
        failures = []
        skips = []
        for number, parts in enumerate(
            product(*(each.labelled(arguments) for each in tables))
        ):
            row = {name: value for _, pairs in parts for name, value in pairs.items()}
            label = " x ".join(label for label, _ in parts)
            try:
                with of_its_own(arguments, number) as fixtures:
                    counted = inner(**{**fixtures, **row})
            except pytest.skip.Exception as skip:
                skips.append(str(skip))
            except (Exception, pytest.fail.Exception) as error:
                failures.append(f"{shortened(label)}\n{indented(error, inner)}")
            else:
                totals[SILENT if fires and not row[fires] else kind] += (
                    1 if counted is None else 0
                )
                totals.update(dict(zip((FIRES, SILENT), counted or (), strict=False)))
        request.node.user_properties.extend(totals.items())
        if failures:
            seen = len(failures) + sum(totals.values())
            pytest.fail(
                "\n".join((f"{len(failures)} of {seen} rows fail", *failures)),
                pytrace=False,
            )
        if skips and not totals:
            pytest.skip(skips[0])

    kept = [parameters[name] for name in left if name != "request"]
    request = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    whole.__signature__ = inspect.Signature([request, *kept])
    whole.tables = tables
    whole.row_test = inner
    whole.counted_as = (kind, fires)
    return whole


@contextmanager
def of_its_own(arguments: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """The arguments of one row: a folder and changes of the environment that no other row sees."""
    with pytest.MonkeyPatch.context() as patch:
        own = dict(arguments)
        if "monkeypatch" in own:
            own["monkeypatch"] = patch
        if "tmp_path" in own:
            own["tmp_path"] = Path(own["tmp_path"], f"row-{number}")
            own["tmp_path"].mkdir()
        yield own


def shortened(label: str) -> str:
    """The text of a row, or its beginning."""
    return (
        label
        if len(label) <= LONGEST_LABEL
        else f"{label[:LONGEST_LABEL]}... ({len(label)} characters)"
    )


def indented(error: BaseException, test: Test) -> str:
    """What came out, and the line of the test that found it wrong."""
    file = inspect.getfile(test)
    frames = traceback.extract_tb(error.__traceback__)
    line = next((each.lineno for each in reversed(frames) if each.filename == file), 0)
    name = (
        ""
        if isinstance(error, (AssertionError, pytest.fail.Exception))
        else f"{type(error).__name__}: "
    )
    # An assertion of a helper says nothing by itself: pytest rewrites those of tests alone.
    last = frames[-1]
    said = str(error) or f"{Path(last.filename).name}:{last.lineno}: {last.line}"
    text = f"{Path(file).name}:{line}: {name}{said}"
    return "\n".join(f"    {each}" for each in text.splitlines())


def report_totals(reports: Iterable[Any]) -> str:
    """One line with the examples that these reports have checked, or nothing."""
    totals = Counter[str]()
    for report in reports:
        for name, number in report.user_properties:
            if name in (FIRES, SILENT, ROWS):
                totals[name] += number
    if not totals:
        return ""
    fire, silent, rows = (f"{totals[name]:,}" for name in (FIRES, SILENT, ROWS))
    return f"examples: {fire} fire, {silent} near misses do not; {rows} rows of other tables hold"

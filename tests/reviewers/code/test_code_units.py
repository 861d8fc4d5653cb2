"""How Dockerfiles and SQL texts are cut."""

import pytest
from examples import table
from hypothesis import given
from hypothesis import strategies as st
from reviewers.code.code_changes import edited, reviewed

from cli_guard.reviewers.code.units import Unit, instructions, statements


@table(
    ("text", "expected"),
    [
        pytest.param(
            "FROM a\n\n# c\nRUN b\n",
            [Unit(1, 1, "FROM a"), Unit(4, 4, "RUN b")],
            id="plain",
        ),
        pytest.param(
            "RUN a \\\n  # c\n\n  && b\n", [Unit(1, 4, "RUN a && b")], id="continued"
        ),
        pytest.param(
            "RUN <<EOF\na\nb\nEOF\nUSER x\n",
            [Unit(1, 4, "RUN <<EOF a b"), Unit(5, 5, "USER x")],
            id="heredoc",
        ),
        pytest.param(
            "COPY <<-\\EOF <<'B' /etc/\n\tUSER root\n\tEOF\nFROM x\nB\nUSER x\n",
            [Unit(1, 5, "COPY <<-\\EOF <<'B' /etc/"), Unit(6, 6, "USER x")],
            id="files-in-heredocs",
        ),
        pytest.param("FROM a:1 AS b\nFROM b\n", [Unit(1, 1, "FROM a:1 AS b")], id="stage"),
        pytest.param("USER root\nUSER app\n", [Unit(2, 2, "USER app")], id="last-user"),
        pytest.param("RUN a \\\n", [Unit(1, 1, "RUN a")], id="cut-off"),
    ],
)
def test_instructions(text: str, expected: list[Unit]) -> None:
    assert list(instructions(text)) == expected


@table(
    ("text", "expected"),
    [
        pytest.param(
            "SELECT 1;\nSELECT\n  2;\n",
            [Unit(1, 1, "SELECT 1"), Unit(2, 3, "SELECT 2")],
            id="two",
        ),
        pytest.param(
            "-- a;\nSELECT 1 -- b;\n;", [Unit(2, 3, "SELECT 1")], id="line-comment"
        ),
        pytest.param(
            "/* a;\n b */ SELECT /* c */ 1", [Unit(2, 2, "SELECT 1")], id="block-comment"
        ),
        pytest.param(
            "SELECT 'a;''b', \"c;d\";", [Unit(1, 1, "SELECT '''', \"c;d\"")], id="quotes"
        ),
        pytest.param(
            "DO $x$ a; $$ b; $x$;\nSELECT 1",
            [Unit(1, 1, "DO ''"), Unit(2, 2, "SELECT 1")],
            id="dollar",
        ),
        pytest.param("SELECT $1;", [Unit(1, 1, "SELECT $1")], id="parameter"),
        pytest.param("SELECT 'a", [Unit(1, 1, "SELECT ''")], id="open-quote"),
    ],
)
def test_statements(text: str, expected: list[Unit]) -> None:
    assert list(statements(text)) == expected


@given(
    st.text(alphabet="aD \n\\;'\"$/*-`#RUN<EOF", max_size=60),
    st.sampled_from([instructions, statements]),
)
def test_units_are_in_order_and_inside_the_text(text: str, split: object) -> None:
    last = 0
    for unit in sorted(split(text), key=lambda unit: unit.line):  # type: ignore[operator]
        assert last <= unit.line <= unit.end_line <= text.count("\n") + 1
        assert unit.text == " ".join(unit.text.split()) or split is instructions
        last = unit.line


OPEN = """\
auth
    .requestMatchers("/api/**").permitAll()
    .requestMatchers("/api/admin/**").hasRole("ADMIN")
    .anyRequest().authenticated();
"""


@table(
    ("added", "expected"),
    [
        pytest.param(2, [(2, 3)], id="what-opens"),
        pytest.param(3, [(2, 3)], id="what-never-holds"),
        pytest.param(4, [], id="behind-it"),
    ],
)
def test_span_is_over_the_lines_that_the_pattern_takes(
    added: int, expected: list[tuple[int, int]]
) -> None:
    report = reviewed(edited("Security.java", OPEN, added), texts={"Security.java": OPEN})
    places = [
        (each.line, each.end_line)
        for each in report.findings
        if each.rule == "code-spring-public-before"
    ]
    assert places == expected

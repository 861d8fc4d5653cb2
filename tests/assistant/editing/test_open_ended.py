"""Plans of what no rule computes: they hold what the request concerns, and nothing else."""

from examples import table

from cli_guard.assistant.editing import plan_refactor
from cli_guard.assistant.editing.plan import Plan

MANY = {f"app/user{n}.py": "from app_core.events import message\n" for n in range(200)}
APP = {
    "app_core/events/message.py": "def parse_message(text: str) -> str:\n    return text\n",
    "app_core/writer.py": "class Writer:\n    def write_usage(self) -> None: ...\n\n    def get(self) -> None: ...\n",
    "app_core/cli.py": "from app_core.writer import Writer\n\nWriter().write_usage()\n",
    "docs/guide.md": "# Guide\n\nIt shows `write_usage`.\n",
    "tests/test_message.py": "from app_core.events.message import parse_message\n",
    "tests/test_writer.py": "from app_core.writer import Writer\n\nWriter().write_usage()\n",
}


def planned(request: str, texts: dict[str, str] | None = None) -> Plan:
    return plan_refactor(request, APP if texts is None else texts)


def test_a_path_with_underscores_is_no_name_of_code() -> None:
    plan = planned("Fix the commit message parser in app_core/events/message.py", APP | MANY)
    assert plan.usages == ()
    assert plan.steps[0].paths == ("app_core/events/message.py",)
    assert plan.steps[1].paths == ("tests/test_message.py",)


def test_a_method_is_found_where_it_is_defined() -> None:
    plan = planned("fix the off-by-one in Writer.write_usage")
    assert [(group.kind, group.places[0][:2]) for group in plan.usages] == [
        ("definition", ("app_core/writer.py", 2)),
        ("call", ("app_core/cli.py", 3)),
    ]
    assert plan.steps[0].paths == ("app_core/writer.py",)


@table(
    ("request_", "purposes"),
    [
        (
            "write a test for `parse_message`",
            ["Read what is there", "Write a test that fails now", "Run the tests"],
        ),
        (
            "fix the crash in parse_message()",
            ["Read what is there", "Write a test that fails now and says what must hold"],
        ),
        ("improve docs/guide.md", ["Bring the documents up to date"]),
        ("delete app_core/writer.py", ["Read what is there", "Make the change"]),
        ("split module app_core.writer", ["Read what is there", "Make the change"]),
        ("remove the zebra folder", ["Name a file"]),
        ("remove the tests folder", ["Make the change"]),
        ("convert app_core/writer.py to TypeScript", ["Read what is there"]),
        ("remove the cache from app_core/writer.py", ["Read what is there"]),
    ],
)
def test_the_steps_are_those_of_the_request(request_: str, purposes: list[str]) -> None:
    steps = [step.purpose for step in planned(request_).steps]
    assert [said for said in purposes if any(step.startswith(said) for step in steps)] == purposes


def test_a_name_that_is_everywhere_and_defined_nowhere_tells_nothing() -> None:
    texts = {f"a{n}.py": "import os\n\nos.environ.get('A')\n" for n in range(60)}
    assert planned("fix bug #123: get() hangs", texts).usages == ()

"""The modules that a file is split into: what belongs together stays together, and no import goes in a circle."""

import graphlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.assistant.editing import plan_refactor
from cli_guard.assistant.editing.sources import Sources
from cli_guard.assistant.editing.split import Split, propose_split


def body(*lines: str, filler: int = 30) -> str:
    return (
        "".join(
            f"    {line}\n" for line in (*lines, *(f"x{n} = {n}" for n in range(filler)))
        )
        + "\n\n"
    )


TOOLS = (
    "import os\n\nDEFAULT_PROXY_PORT = 3128\n\n\n"
    + ("def read_proxy():\n" + body("return _split_proxy(DEFAULT_PROXY_PORT)"))
    + ("def _split_proxy(port):\n" + body("return port"))
    + ("def check_proxy():\n" + body("return read_proxy()"))
    + ("def read_cookie():\n" + body("return parse_cookie('')"))
    + (
        "def parse_cookie(text):\n"
        + body("return format_cookie(text) if text else read_cookie()")
    )
    + ("def format_cookie(text):\n" + body("return text"))
    + "def version():\n    return 1\n"
)
WORK = "  work();\n" * 30
SCRIPT = "var res = {};\nmodule.exports = res;\n" + "".join(
    f"res.{name} = function {name}() {{\n{WORK}  this.{used}();\n}};\n"
    for name, used in (
        ("sendFile", "sendBody"),
        ("sendBody", "end"),
        ("setCookie", "getCookie"),
        ("getCookie", "end"),
    )
)


def split(text: str, path: str = "src/tools.py") -> Split:
    return propose_split(Sources({path: text}), path)


def test_definitions_of_one_subject_are_one_module() -> None:
    found = split(TOOLS)
    assert {path: set(names) for path, names in found.modules.items()} == {
        "src/tools_proxy.py": {
            "read_proxy",
            "_split_proxy",
            "check_proxy",
            "DEFAULT_PROXY_PORT",
        },
        "src/tools_cookie.py": {"read_cookie", "parse_cookie", "format_cookie"},
    }
    assert found.stays == ["version"]
    assert found.edges == {}
    assert found.cycles == [["read_cookie", "parse_cookie"]]


def test_a_module_imports_what_it_uses_of_another() -> None:
    text = TOOLS.replace("return read_proxy()", "return read_proxy() or format_cookie('')")
    assert split(text).edges == {
        ("src/tools_proxy.py", "src/tools_cookie.py"): ["format_cookie"]
    }


def test_a_parameter_is_no_use_of_a_function_of_that_name() -> None:
    text = TOOLS.replace("def format_cookie(text):", "def format_cookie(text, version=0):")
    text = text.replace("    return text\n", "    return version\n")
    assert split(text).stays == ["version"]


def test_a_decorator_is_a_use() -> None:
    text = TOOLS.replace("def check_proxy():", "@version\ndef check_proxy():")
    assert "version" not in split(text).stays


def test_what_is_bound_by_global_stays_with_its_function() -> None:
    text = TOOLS.replace("import os\n", "import os\n\nSTATE = 0\n").replace(
        "def version():\n", "def version():\n    global STATE\n    STATE = 1\n"
    )
    home = {name: module for module, names in split(text).modules.items() for name in names}
    assert home.get("STATE") == home.get("version")


def test_members_of_an_object_are_units() -> None:
    found = split(SCRIPT, "lib/response.js")
    assert {frozenset(names) - {"res"} for names in found.modules.values()} == {
        frozenset({"sendFile", "sendBody"}),
        frozenset({"setCookie", "getCookie"}),
    }


def test_the_plan_says_what_the_old_file_keeps_and_who_takes_names_from_it() -> None:
    texts = {
        "src/tools.py": TOOLS,
        "src/app.py": "from src.tools import read_proxy, version\n",
        "tests/test_tools.py": "from src import tools\n\n\ndef test_it(monkeypatch):\n"
        "    monkeypatch.setattr('src.tools.read_cookie', None)\n    tools.check_proxy()\n",
    }
    plan = plan_refactor("split src/tools.py", texts)
    lines = [line for step in plan.steps for line in (step.purpose, *step.places)]
    assert "version stays; it imports the rest back (re-exports)" in lines
    assert "src/app.py: read_proxy" in lines
    assert "Move into 2 modules" in lines
    assert any(
        "misses the moved code: tests/test_tools.py:5" in risk for risk in plan.risks
    )
    assert "kept together, for they use each other: read_cookie, parse_cookie" in plan.risks


@pytest.mark.parametrize(
    "text", ["class Big:\n" + body(filler=200), "", "x = 1\n", "def broken(:\n"]
)
def test_a_file_that_holds_together_is_not_split(text: str) -> None:
    plan = plan_refactor("split src/big.py", {"src/big.py": text or "\n"})
    assert plan.summary.startswith("No split of src/big.py was found")
    assert plan.steps == ()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.integers(0, 24), max_size=3), min_size=1, max_size=25))
def test_every_name_has_one_place_and_no_imports_go_in_a_circle(
    uses: list[list[int]],
) -> None:
    words = ("mail", "user", "page", "file", "queue")
    names = [f"{words[n % 5]}_{n}" for n in range(len(uses))]
    text = "".join(
        f"def {name}():\n"
        + body(*(f"{names[n]}()" for n in some if n < len(names)), filler=20)
        for name, some in zip(names, uses, strict=True)
    )
    found = split(text)
    assert sorted(
        [*found.stays, *(n for some in found.modules.values() for n in some)]
    ) == sorted(names)
    graph: dict[str, set[str]] = {}
    for (importer, imported), taken in found.edges.items():
        graph.setdefault(importer, set()).add(imported)
        assert set(taken) <= set(found.modules[imported])
    # The old file imports all modules back: none may import it.
    assert all(imported != "src/tools.py" for _, imported in found.edges)
    graphlib.TopologicalSorter(graph).prepare()
    assert found == split(text)

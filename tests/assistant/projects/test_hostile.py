"""Any content is read within bounds: no error, no hang, the same answer twice, whatever a repository holds."""

import time
from collections.abc import Callable

from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st
from watching import cpu_seconds

from cli_guard.assistant import projects

NAMES = (
    "Makefile justfile Taskfile.yml mise.toml Rakefile Procfile package.json deno.json composer.json pyproject.toml "
    "hatch.toml tox.ini tox.toml setup.cfg noxfile.py tasks.py manage.py Cargo.toml go.mod build.gradle pom.xml "
    "CMakeLists.txt CONTRIBUTING.md README.rst .github/workflows/ci.yml .pre-commit-config.yaml tests/test_a.py a.py "
    "a.test.ts index.ts tsconfig.json a_test.go a.go ATest.java A.java tests/a.rs a_spec.rb ATest.php ATests.cs "
    "a_test.exs"
).split()
REQUESTS = ["run the tests", "explain `make x`", "undo the last commit", "run one test"]
HUGE = [
    "a" * 1_000_000,
    "undo " * 200_000,
    "`" * 100_000,
    "run the tests of " + "a/" * 50_000,
]
LONG = 20_000
HOSTILE: dict[str, Callable[[], str]] = {
    "one line of spaces": lambda: " " * LONG + "x",
    "tabs": lambda: "test:\n" + "\t" * LONG,
    "imports on one line": lambda: "import a " * (LONG // 9),
    "imports with spaces": lambda: "import" + " " * LONG + "\nfrom a import" + " " * LONG,
    "brackets": lambda: "[" * LONG,
    "braces": lambda: '{"scripts": ' * (LONG // 12),
    "open quotes": lambda: "it('" * (LONG // 4),
    "open backticks": lambda: "`make " * (LONG // 6),
    "each": lambda: "it.each`" * (LONG // 8),
    "facts": lambda: "[Fact" * (LONG // 5),
    "marks": lambda: "@Test " * (LONG // 6),
    "rust marks": lambda: "#[test] #[" * (LONG // 10),
    "decorators": lambda: "@nox.session(" * (LONG // 13),
    "tasks": lambda: "@task\n" * (LONG // 6),
    "colons": lambda: ":" * LONG,
    "backslashes": lambda: "a = \\\n" * (LONG // 6),
    "references": lambda: "a = $(a)$(a)$(a)\ntest:\n\t$(a)$(a)\n" * 2_000,
    "fences": lambda: "```\n" * (LONG // 4),
    "requires": lambda: "require('./a')" * (LONG // 14),
    "sections": lambda: "[testenv]\n" * (LONG // 10),
    "blank lines": lambda: "[testenv]\ncommands =\n" + " \n" * (LONG // 2),
    "deep YAML": lambda: "a:\n" + "".join(" " * n + "- a:\n" for n in range(1, 500)),
    "nulls and surrogates": lambda: "\x00\ud800\udcff\x1b[31m" * 1_000,
    "keys": lambda: "".join(f"[tool.x{n}]\ny = 1\n" for n in range(3_000)),
}


@table("name", HOSTILE)
def test_hostile_content_is_read_in_time(name: str) -> None:
    content = HOSTILE[name]()
    texts = dict.fromkeys(NAMES, content)
    with cpu_seconds(8):
        projects.advise("run the tests of a.py and a.ts", texts)
        projects.tests_for(
            ["a.py", "A.java", "a.go", "tests/a.rs", "index.ts"], ["a"], texts
        )
        projects.simulate("pytest && make test", texts)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.sampled_from(NAMES), st.text(max_size=300), max_size=6),
    st.text(max_size=80) | st.sampled_from(REQUESTS),
)
def test_any_content_is_read_and_gives_the_same_twice(
    texts: dict[str, str], request_text: str
) -> None:
    first = projects.advise(request_text, texts), projects.tests_for(["a.py"], [], texts)
    again = (
        projects.advise(request_text, dict(reversed(texts.items()))),
        projects.tests_for(["a.py"], [], texts),
    )
    assert first == again
    assert set(first[0].looked_at) <= {*texts, *(test.path for test in first[1].tests)}


@table("request_text", HUGE, ids=["word", "undo", "ticks", "path"])
def test_a_huge_request_is_read_in_time(request_text: str) -> None:
    with cpu_seconds(3):
        projects.advise(request_text, {"Makefile": "test:\n\tpytest\n"})


def test_five_thousand_files_are_searched_in_time() -> None:
    body = "".join(f"def function_{n}(x):\n    return x + {n}\n\n\n" for n in range(60))
    texts = {
        f"pkg/p{n % 50}/m{n}.py": f"from pkg.p{(n + 1) % 50} import m{(n + 1) % 4500}\n{body}"
        for n in range(4_500)
    }
    test = "\n\n\ndef test_x():\n    function_1(1)\n"
    texts |= {
        f"tests/test_m{n}.py": f"from pkg.p{n % 50}.m{n} import function_1{test}"
        for n in range(500)
    }
    start = time.process_time()
    found = projects.tests_for(["pkg/p7/m7.py"], (), texts)
    assert [each.path for each in found.tests] == ["tests/test_m7.py"]
    assert (
        time.process_time() - start < 8
    )  # about one second on a free core; a slip into the square would take minutes


def test_huge_names_and_many_targets_are_bounded() -> None:
    makefile = (
        "".join(f"target{n}:\n\techo {n}\n" for n in range(5_000))
        + "x" * 10_000
        + ":\n\techo\n"
    )
    commands = projects.commands_of({"Makefile": makefile})
    assert len(commands) == 500
    assert all(len(each.command) <= 300 and len(each.detail) <= 200 for each in commands)

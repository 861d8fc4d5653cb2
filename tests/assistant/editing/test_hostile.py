"""Whatever a request or a repository holds, a plan comes back, in time, and changes only what was allowed."""

from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st
from watching import cpu_seconds

from cli_guard.assistant.editing import plan_refactor

REQUESTS = (
    "rename f to g",
    "rename parameter x of f to y",
    "replace f(a) with g(a)",
    "from log4j to slf4j",
    "requests to httpx",
    "move f to b.py",
    "split a.py",
    "delete the function f",
    "bump version to 2.0.0",
    "implement OAuth login",
)
HOSTILE = {
    "a.py": "(" * 20_000 + "f" + ")" * 20_000,
    "b.py": "f(" * 5_000 + ")" * 5_000,
    "c.py": "def f(x):\n" + " " * 500_000 + "return f\n",
    "d.py": "f" * 1_000_000,
    "e.js": "f;" * 100_000,
    "g.py": "def f(\udcff\x00: '''f",
    "h.json": "[" * 100_000,
    "pom.xml": "<dependency>" * 20_000,
    "i.java": "import org.apache.log4j." + "a." * 10_000 + "B;\nclass X { void f() {",
}


@table("request_", REQUESTS)
def test_hostile_texts_end_in_a_plan(request_: str) -> None:
    with cpu_seconds(15):
        plan = plan_refactor(request_, HOSTILE)
    assert plan.summary


@settings(max_examples=40, deadline=None)
@given(
    st.text(max_size=200),
    st.dictionaries(st.sampled_from(["a.py", "b.js", "c.md"]), st.text(max_size=80)),
)
def test_any_request_has_a_plan(request_: str, texts: dict[str, str]) -> None:
    plan = plan_refactor(request_, texts)
    assert plan.steps or plan.summary
    assert "\n" not in plan.summary


FOO = "Foo f() { return null; }\n"
LARGE: dict[str, tuple[str, dict[str, str]]] = {
    "blank lines before an import": (
        "from moment to dayjs",
        {"a.js": "import moment from 'moment';\n" + "\n" * 200_000 + "moment();\n"},
    ),
    "blanks in a pom": (
        "from log4j to slf4j",
        {"pom.xml": "<artifactId>log4j</artifactId>" + " " * 200_000 + "x\n"},
    ),
    "many calls of one file": (
        "from log4j to slf4j",
        {
            "A.java": "import org.apache.log4j.Logger;\nclass A { void a() {\n"
            + "Logger.getLogger(A.class);\n" * 9_000
        },
    ),
    "blank lines in Java": (
        "rename Foo to Bar",
        {"A.java": "class Foo {}\n", "B.java": "\n" * 100_000 + FOO},
    ),
    "many uses in Java": (
        "rename Foo to Bar",
        {"A.java": "class Foo {}\n", "B.java": "class B {\n" + FOO * 9_000},
    ),
    "uses without an end": (
        "rename foo to bar",
        {"a.rs": "pub fn foo() {}\n", "b.rs": "use a::x\n" * 9_000 + "fn x() { foo() }\n"},
    ),
    "blank lines before a version": (
        "bump version to 2.0.0",
        {"setup.py": "\n" * 200_000 + "version='1.0.0'\n"},
    ),
    "one version everywhere": (
        "bump version to 2.0.0",
        {"setup.py": "version='1.0.0'\n", "data.json": '"1.0.0",\n' * 60_000},
    ),
    "a long line of imports": (
        "split a.js",
        {
            "a.js": "function mail() {}\nfunction page() {}\n" * 40,
            "b.js": "require(a " * 100_000,
        },
    ),
    "a definition for each line": (
        "split a.py",
        {"a.py": "".join(f"def f{n}():\n    f{n + 1}()\n" for n in range(8_000))},
    ),
    "a name on each line of a document": (
        "add retries to send_mail",
        {
            "a.py": "def send_mail(): ...\n",
            "b.md": "send_mail(x) " * 80_000,
            "c.toml": "a = 'send_mail'\n" * 40_000,
        },
    ),
    "many calls of one function": (
        "add retries to send_mail",
        {
            "a.py": "def send_mail(*a): ...\n",
            "b.py": "from a import send_mail\n" + "send_mail(((((1, x=2\n" * 9_000,
        },
    ),
    "many calls of one library": (
        "swap axios for got",
        {"a.js": "import axios from 'axios';\n" + "axios.get(url, {a: 1});\n" * 15_000},
    ),
}


@table(("request_", "texts"), LARGE.values(), ids=LARGE)
def test_no_size_makes_it_quadratic(request_: str, texts: dict[str, str]) -> None:
    with cpu_seconds(12):
        assert plan_refactor(request_, texts).summary


def test_too_much_text_is_said_and_gives_no_patch() -> None:
    filler = "#" * 900_000
    texts = {f"m{n}.py": f"from a import f\n# {n}{filler}\n" for n in range(11)}
    plan = plan_refactor("rename f to g", {"a.py": "def f(): ...\n", **texts})
    assert not plan.patch
    assert "not every file could be looked at" in "\n".join(plan.risks)
    reasons = {each.path: each.reason for each in plan.skipped}
    assert reasons == dict.fromkeys(texts, "not looked at: there is too much text")


def test_more_files_than_the_bound_give_no_patch() -> None:
    texts = {f"m{n}.py": "from a import f\n" for n in range(501)} | {
        "a.py": "def f(): ...\n"
    }
    plan = plan_refactor("rename f to g", texts)
    assert not plan.patch
    assert "502 files would change" in "\n".join(plan.risks)

"""Changes of JavaScript, Go, Java and Rust, and moves between libraries: a plan with places and steps, and no patch."""

from collections.abc import Mapping

from examples import table

from cli_guard.assistant.editing import plan_refactor

# request, texts, the definitions, the uses, what the risks say
RENAMES: tuple[tuple[str, Mapping[str, str], list[str], list[str], list[str]], ...] = (
    (
        "rename lookup to search",
        {
            "lib/view.js": "View.prototype.lookup = function find(name) {};\nfunction lookup() {}\nthis.lookup(1);\n",
            "app.js": "const { lookup } = require('./lib/view');\nlookup('a');\n",
        },
        ["lib/view.js:1-1: View.prototype.lookup", "lib/view.js:2-2: function lookup()"],
        ["app.js:1 import, 2 call"],
        [],
    ),
    (
        "rename FetchAll to LoadAll",
        {
            "p/a.go": "package p\n\n// FetchAll does.\nfunc FetchAll() {}\n",
            "m.go": 'package m\n\nimport "x/p"\n\nfunc f() { p.FetchAll() }\nvar c = C{Run: p.FetchAll}\n',
        },
        ["p/a.go:4-4: func FetchAll()"],
        ["m.go:5 in f, 6 use"],
        ["FetchAll is exported"],
    ),
    (
        "rename class Foo to Bar",
        {
            "x/Foo.java": "package x;\npublic class Foo { Foo() {} }\n",
            "x/B.java": "package x;\nclass B { Foo f; }\nclass Bar {}\n",
        },
        ["x/Foo.java:2-2: public class Foo"],
        ["x/B.java:2 in B"],
        ["Foo is exported"],
    ),
    (
        "rename load_all to read_all",
        {
            "src/lib.rs": "use crate::u::load_all;\nfn f() { load_all(); }\n",
            "src/u.rs": "pub fn load_all() {}\n",
        },
        ["src/u.rs:1-1: pub fn load_all()"],
        ["src/lib.rs:1 import, 2 in f"],
        ["load_all is exported"],
    ),
)


@table(
    ("request_", "texts", "defined", "uses", "risks"),
    RENAMES,
    ids=[next(iter(row[1])) for row in RENAMES],
)
def test_a_rename_of_another_language_is_planned(
    request_: str,
    texts: Mapping[str, str],
    defined: list[str],
    uses: list[str],
    risks: list[str],
) -> None:
    plan = plan_refactor(request_, texts)
    assert plan.patch == ""
    assert not plan.changes
    places = "\n".join(place for step in plan.steps for place in step.places)
    assert [each for each in (*defined, *uses) if each not in places] == [], places
    said = "\n".join(plan.risks)
    assert said.startswith("no patch: only a rename in Python is computed here")
    assert [each for each in risks if each not in said] == [], said
    assert plan == plan_refactor(request_, dict(reversed(texts.items())))


@table("request_", ["move area to shapes", "delete the function area"])
def test_every_change_of_another_language_is_planned(request_: str) -> None:
    texts = {
        "a.js": "export function area(a) {}\n",
        "b.test.js": "import { area } from './a';\narea(1);\n",
    }
    plan = plan_refactor(request_, texts)
    assert not plan.patch
    assert plan.steps[0].paths == ("b.test.js",)
    assert plan.steps[1].places[0].startswith("a.js:1-1: export function area(a)")


def test_a_file_of_another_language_is_moved_by_hand() -> None:
    texts = {
        "src/a.js": "export default 1;\n",
        "b.js": "import a from './src/a';\n",
        "c.js": "let a = 1;\n",
    }
    plan = plan_refactor("rename src/a.js to src/z.js", texts)
    assert not plan.patch
    steps = [(step.purpose, step.paths) for step in plan.steps[:2]]
    assert steps == [
        ("Move src/a.js to src/z.js", ("src/a.js",)),
        ("Change what imports it", ("b.js",)),
    ]


LOG4J = {
    "src/A.java": "package a;\n\nimport org.apache.log4j.Logger;\nimport org.apache.log4j.Level;\n\nclass A {\n"
    "    static final Logger LOG = Logger.getLogger(A.class);\n    void f() { LOG.fatal(1); LOG.info(2); }\n}\n",
    "src/B.java": "package a;\n\nimport org.apache.logging.log4j.LogManager;\n"
    "import org.apache.logging.log4j.Logger;\n\n"
    "class B {\n    static final Logger LOG = LogManager.getLogger(B.class);\n}\n",
    "src/C.java": "package a;\n\nclass C { void f(Gun gun) { gun.fatal(1); Logger.getLogger(2); } }\n",
    "pom.xml": "<project>\n<dependencies>\n<dependency>\n<groupId>log4j</groupId>\n<artifactId>log4j</artifactId>\n"
    "<version>1.2.17</version>\n</dependency>\n</dependencies>\n</project>\n",
    "build.gradle": "dependencies {\n    implementation 'log4j:log4j:1.2.17'\n}\n",
    "src/main/resources/log4j.properties": "log4j.rootLogger=INFO\n",
}


def test_log4j_to_slf4j_is_a_plan_with_places_and_no_patch() -> None:
    plan = plan_refactor("Plan a refactor from log4j to slf4j without editing files", LOG4J)
    assert plan.kind == "migrate"
    assert plan.patch == ""
    assert not plan.changes
    assert [(step.purpose, step.paths) for step in plan.steps] == [
        ("Add slf4j next to log4j in the manifests", ("build.gradle", "pom.xml")),
        (
            "Change the imports of log4j, then its 2 uses",
            ("src/A.java", "src/B.java"),
        ),
        ("Bring up to date what names it", ("src/main/resources/log4j.properties",)),
        ("Take log4j out of the manifests", ("build.gradle", "pom.xml")),
    ]
    assert plan.steps[1].places[:5] == (
        "src/A.java:3: import org.apache.log4j.Logger;",
        "src/A.java:4: import org.apache.log4j.Level;",
        "src/B.java:3: import org.apache.logging.log4j.LogManager;",
        "src/B.java:4: import org.apache.logging.log4j.Logger;",
        "src/A.java:7: static final Logger LOG = Logger.getLogger(A.class);",
    )
    assert not any("src/C.java" in place for place in plan.steps[1].places)
    assert (
        plan.risks[-1]
        == "no patch: a move from log4j to slf4j is planned here and not computed"
    )


USES = (
    ("import requests\n\nr = requests.get(u)\n", [3]),
    ("from requests import get, post\nget(u)\nx.get(1)\n", [2]),
    ("import requests as r\nr.get(u, proxies=p)\n", [2]),
    ("import requests\nother = 1\n", []),
)


@table(("text", "lines"), USES)
def test_the_uses_of_a_library_are_those_of_what_an_import_binds(
    text: str, lines: list[int]
) -> None:
    texts = {"a.py": text, "b.py": "import other\nother.get(1)\n"}
    plan = plan_refactor("migrate from requests to httpx", texts)
    places = [place.split(":")[:2] for place in plan.steps[0].places]
    places = places or [place.split(":")[:2] for place in plan.steps[1].places]
    assert places == [["a.py", "1"], *(["a.py", str(line)] for line in lines)]


def test_the_manifests_and_lock_files_of_a_library() -> None:
    texts = {
        "a.py": "import requests\n",
        "requirements.txt": "requests>=2\nrequests-mock\n",
        "pyproject.toml": 'dependencies = ["requests>=2", "other"]\n',
        "poetry.lock": 'name = "requests"\n',
        "docs/requests.md": "requests\n",
    }
    plan = plan_refactor("migrate from requests to httpx", texts)
    assert plan.steps[0].places == (
        'pyproject.toml:1: dependencies = ["requests>=2", "other"]',
        "requirements.txt:1: requests>=2",
    )
    steps = {step.purpose: step.paths for step in plan.steps}
    assert steps["Take requests out of the manifests"] == (
        "pyproject.toml",
        "requirements.txt",
    )
    assert steps["Write the lock files again with the tool of the project"] == (
        "poetry.lock",
    )

"""Changes of JavaScript, Go, Java and Rust, and moves between libraries: a plan with places and steps, and no patch."""

from collections.abc import Mapping

from examples import table

from cli_guard.assistant.editing import plan_refactor
from cli_guard.assistant.editing.other_languages import find_migration, migrations

# request, texts, the places of the definition, what the risks say
RENAMES: tuple[tuple[str, Mapping[str, str], list[tuple[str, int]], list[str]], ...] = (
    (
        "rename lookup to search",
        {
            "lib/view.js": "View.prototype.lookup = function find(name) {};\nfunction lookup() {}\nthis.lookup(1);\n",
            "app.js": "const { lookup } = require('./lib/view');\nlookup('a');\n",
        },
        [("lib/view.js", 1), ("lib/view.js", 2)],
        [
            "lookup is defined in 2 places",
            "a property of that name (`.lookup`) may be another object's",
        ],
    ),
    (
        "rename FetchAll to LoadAll",
        {
            "p/a.go": "package p\n\n// FetchAll does.\nfunc FetchAll() {}\n",
            "m.go": 'package m\n\nimport "x/p"\n\nfunc f() { p.FetchAll() }\nvar c = C{Run: p.FetchAll}\n',
        },
        [("p/a.go", 4)],
        ["an exported name is used from outside"],
    ),
    (
        "rename class Foo to Bar",
        {
            "x/Foo.java": "package x;\npublic class Foo { Foo() {} }\n",
            "x/B.java": "package x;\nclass B { Foo f; }\nclass Bar {}\n",
        },
        [("x/Foo.java", 2)],
        ["a public class has the name of its file", "Bar is in use already: x/B.java"],
    ),
    (
        "rename load_all to read_all",
        {
            "src/lib.rs": "use crate::u::load_all;\nfn f() { load_all(); }\n",
            "src/u.rs": "pub fn load_all() {}\n",
        },
        [("src/u.rs", 1)],
        ["macros and traits may name it"],
    ),
    (
        "rename getUser to loadUser",
        {
            "a.ts": "export function getUser(): void {}\nconst o = { getUser };\no.getUser();\n",
            "b.ts": "import { getUser } from './a';\ngetUser();\nfunction getUser() {}\n",
        },
        [("a.ts", 1), ("b.ts", 3)],
        ["getUser is defined in 2 places, decide which is meant: a.ts:1, b.ts:3"],
    ),
)


@table(
    ("request_", "texts", "defined", "risks"),
    RENAMES,
    ids=[next(iter(row[1])) for row in RENAMES],
)
def test_a_rename_of_another_language_is_planned(
    request_: str,
    texts: Mapping[str, str],
    defined: list[tuple[str, int]],
    risks: list[str],
) -> None:
    plan = plan_refactor(request_, texts)
    assert plan.patch == ""
    assert not plan.changes
    assert not plan.complete
    groups = {group.kind: [place[:2] for place in group.places] for group in plan.usages}
    assert groups["definition"] == defined
    purposes = [step.purpose for step in plan.steps]
    assert purposes[0] == "Change the definition"
    assert purposes[-1].startswith("Compile, and run the tests")
    said = "\n".join(plan.risks)
    assert said.startswith("no patch: a change of ")
    assert [each for each in risks if each not in said] == []
    assert plan == plan_refactor(request_, dict(reversed(texts.items())))


@table(
    ("request_", "first"),
    [
        ("move area to shapes", "Change the definition"),
        ("replace area(a) with surface(a)", "Change the definition"),
        ("delete the function area", "Change the definition"),
    ],
)
def test_every_change_of_another_language_is_planned(request_: str, first: str) -> None:
    texts = {
        "a.js": "export function area(a) {}\n",
        "b.test.js": "import { area } from './a';\narea(1);\n",
    }
    plan = plan_refactor(request_, texts)
    assert not plan.patch
    assert plan.steps[0].purpose == first
    assert plan.steps[-1].paths == ("b.test.js",)


def test_a_file_of_another_language_is_moved_by_hand() -> None:
    texts = {
        "src/a.js": "export default 1;\n",
        "b.js": "import a from './src/a';\n",
        "c.js": "let a = 1;\n",
    }
    plan = plan_refactor("rename src/a.js to src/z.js", texts)
    assert not plan.patch
    assert not plan.removed
    steps = [(step.purpose, step.paths) for step in plan.steps[:2]]
    assert steps == [
        ("Move src/a.js to src/z.js", ("src/a.js",)),
        ("Change what imports or names it", ("b.js",)),
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
    assert not plan.complete
    said = {(path, line): why for path, line, why in plan.by_hand}
    assert said["src/A.java", 3] == "org.apache.log4j.Logger becomes org.slf4j.Logger"
    assert said["src/A.java", 4] == "an import of log4j"
    assert said["src/A.java", 7] == "Logger.getLogger becomes LoggerFactory.getLogger"
    assert said["src/A.java", 8].startswith("SLF4J has no fatal level")
    assert said["src/B.java", 7] == "LogManager.getLogger becomes LoggerFactory.getLogger"
    assert said["pom.xml", 5] == "log4j:log4j becomes org.slf4j:slf4j-api 2.0.17"
    assert said["build.gradle", 2] == "log4j:log4j becomes org.slf4j:slf4j-api 2.0.17"
    assert not any(path == "src/C.java" for path, _ in said)
    assert [(step.purpose.split(":")[0], step.paths) for step in plan.steps] == [
        ("Add slf4j next to log4j in the manifests", ("build.gradle", "pom.xml")),
        (
            "Change the imports of log4j, then its 4 uses by 4 names",
            ("src/A.java", "src/B.java"),
        ),
        ("SLF4J has no configuration of its own", ("src/main/resources/log4j.properties",)),
        ("Take log4j out of the manifests", ("build.gradle", "pom.xml")),
    ]
    assert (
        plan.risks[0]
        == "no patch: a move from log4j to slf4j is planned here and not computed"
    )
    assert any("SLF4J is an API alone" in risk for risk in plan.risks)


CODE = (
    (
        "requests to httpx",
        "import requests\n\nr = requests.get(u)\n",
        {3: "requests.get becomes httpx.get"},
    ),
    (
        "requests to httpx",
        "from requests import get, post\nget(u)\nx.get(1)\n",
        {2: "requests.get becomes httpx.get"},
    ),
    (
        "requests to httpx",
        "import requests as r\nr.get(u, proxies=p)\n",
        {2: "httpx has no proxies="},
    ),
    (
        "migrate print to logging",
        "def f():\n    print('x')\n",
        {2: "print(a) becomes logging.info(a)"},
    ),
    (
        "convert os.path to pathlib",
        "import os\nos.path.exists(a)\n",
        {2: "os.path.exists(a) becomes Path(a).exists()"},
    ),
    (
        "convert os.path to pathlib",
        "from os import path\npath.exists(a)\n",
        {2: "os.path.exists(a) becomes"},
    ),
    (
        "convert os.path to pathlib",
        "import os.path\nos.path.join(a)\n",
        {2: "Path(a) / b is a Path, not text"},
    ),
    (
        "unittest to pytest",
        "import unittest\nself.assertEqual(a, b)\n",
        {2: "self.assertEqual(a, b) becomes"},
    ),
)


@table(
    ("request_", "text", "wanted"),
    CODE,
    ids=[f"{n} {row[0]}" for n, row in enumerate(CODE)],
)
def test_the_calls_of_a_library_are_listed_with_their_counterparts(
    request_: str, text: str, wanted: Mapping[int, str]
) -> None:
    plan = plan_refactor(request_, {"a.py": text, "b.py": "import other\nother.get(1)\n"})
    said = {line: why for path, line, why in plan.by_hand if path == "a.py"}
    assert not plan.patch
    assert not any(path == "b.py" for path, _, _ in plan.by_hand)
    assert {line: said.get(line, "")[: len(why)] for line, why in wanted.items()} == wanted


def test_the_manifests_and_lock_files_of_a_library() -> None:
    texts = {
        "a.py": "import requests\n",
        "requirements.txt": "requests>=2\nrequests-mock\n",
        "pyproject.toml": 'dependencies = ["requests>=2", "other"]\n',
        "poetry.lock": 'name = "requests"\n',
        "docs/requests.md": "requests\n",
    }
    plan = plan_refactor("migrate from requests to httpx", texts)
    places = {(path, line) for path, line, _ in plan.by_hand}
    assert {("requirements.txt", 1), ("pyproject.toml", 1)} <= places
    assert not any(path == "docs/requests.md" for path, _ in places)
    steps = {step.purpose: step.paths for step in plan.steps}
    assert steps["Take requests out of the manifests"] == (
        "pyproject.toml",
        "requirements.txt",
    )
    assert steps["Write the lock files again with the tool of the project"] == (
        "poetry.lock",
    )


def test_a_pair_that_is_not_known_has_a_plan_from_its_uses() -> None:
    texts = {
        "a.py": "import peewee\npeewee.connect()\npeewee.connect()\n",
        "requirements.txt": "peewee\n",
    }
    plan = plan_refactor("migrate from peewee to sqlalchemy", texts)
    assert not plan.patch
    assert [step.purpose for step in plan.steps] == [
        "Add sqlalchemy next to peewee in the manifests",
        "Change the imports of peewee, then its 2 uses by 1 name",
        "Take peewee out of the manifests",
    ]
    assert plan.steps[1].places == (
        "imported at a.py:1",
        "peewee.connect() at a.py:2, a.py:3",
    )
    assert (
        "the tables do not know peewee -> sqlalchemy: look up each counterpart"
        in plan.risks
    )


@table("name", [m.name for m in migrations()])
def test_every_migration_is_found_by_its_names(name: str) -> None:
    migration = next(m for m in migrations() if m.name == name)
    for old in migration.old:
        assert find_migration(old.upper(), f"`{migration.new[-1]}`") is migration
    plan = plan_refactor(
        f"migrate from {migration.old[0]} to {migration.new[0]}", {"a.txt": "nothing"}
    )
    assert plan.kind == "migrate"
    assert plan.missing
    assert not plan.patch


def test_there_are_nineteen_migrations() -> None:
    assert len(migrations()) == 19

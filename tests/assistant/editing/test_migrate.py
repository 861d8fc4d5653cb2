"""Moves between libraries, replaced calls, moved definitions: what is computed, and what is left and named."""

from collections.abc import Mapping

import pytest

from cli_guard.assistant.editing import plan_refactor
from cli_guard.assistant.editing.migrations import migrations

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


def test_log4j_to_slf4j() -> None:
    plan = plan_refactor("Plan a refactor from log4j to slf4j without editing files", LOG4J)
    assert plan.kind == "migrate"
    assert set(plan.changes) == {"src/A.java", "src/B.java", "pom.xml", "build.gradle"}
    assert "import org.slf4j.Logger;\n" in plan.changes["src/A.java"]
    assert "import org.slf4j.LoggerFactory;\n" in plan.changes["src/A.java"]
    assert "LOG = LoggerFactory.getLogger(A.class)" in plan.changes["src/A.java"]
    assert "log4j" not in plan.changes["src/B.java"]
    assert "LoggerFactory.getLogger(B.class)" in plan.changes["src/B.java"]
    assert "<artifactId>slf4j-api</artifactId>" in plan.changes["pom.xml"]
    assert "'org.slf4j:slf4j-api:2.0.17'" in plan.changes["build.gradle"]
    by_hand = {(path, line) for path, line, _ in plan.by_hand}
    assert by_hand == {("src/A.java", 4), ("src/A.java", 8)}
    assert any("src/main/resources/log4j.properties" in step.paths for step in plan.steps)
    assert not plan.complete
    assert {group.kind for group in plan.usages} >= {"import", "call", "configuration"}


CODE = (
    ("requests to httpx", "import requests\nr = requests.get(u)\n", "import httpx\nr = httpx.get(u)\n"),
    ("migrate print to logging", "print(f'{x}')\n", "import logging\nlogging.info(f'{x}')\n"),
    (
        "convert os.path to pathlib",
        "import os\nif os.path.exists(a + b): ...\n",
        "from pathlib import Path\nif Path(a + b).exists(): ...\n",
    ),
    (
        "replace datetime.utcnow() with datetime.now(timezone.utc)",
        "import datetime as dt\nfrom datetime import timezone\nx = dt.datetime.utcnow()\n",
        "import datetime as dt\nfrom datetime import timezone\nx = dt.datetime.now(timezone.utc)\n",
    ),
    ("replace foo(a, b) with bar(b, a)", "foo(1, x + 2)\nobj.foo(1, 2)\n", "bar(x + 2, 1)\nobj.foo(1, 2)\n"),
    (
        "replace twice(a) with a * 2",
        "def twice(a): ...\ny = twice(x + 1)\n",
        "def twice(a): ...\ny = (x + 1) * 2\n",
    ),
    (
        "use new_name instead of old_name",
        "old_name(1)\nobj.old_name\n",
        "new_name(1)\nobj.old_name\n",
    ),
)


@pytest.mark.parametrize(("request_", "before", "after"), CODE, ids=[c[0] for c in CODE])
def test_calls_with_an_exact_counterpart(request_: str, before: str, after: str) -> None:
    texts = {"pkg/a.py": before, "pkg/names.py": "def bar(a, b): ...\n\n\ndef new_name(x): ...\n"}
    plan = plan_refactor(request_, texts)
    lines = plan.changes["pkg/a.py"].splitlines()
    assert [each for each in after.splitlines() if each not in lines] == [], plan.changes["pkg/a.py"]


def test_a_call_that_does_not_fit_is_named() -> None:
    plan = plan_refactor(
        "replace foo(a, b) with bar(b, a)", {"a.py": "foo(1)\nfoo(1, b=2)\nfoo(1, 2)\ndef bar(a, b): ...\n"}
    )
    assert [line for _, line, _ in plan.by_hand] == [1, 2]
    assert "bar(2, 1)" in plan.changes["a.py"]
    assert not plan.complete


def test_an_unknown_pair_gets_a_plan_from_its_uses() -> None:
    plan = plan_refactor(
        "migrate from peewee to sqlmodel",
        {"a.py": "import peewee\npeewee.connect()\n", "requirements.txt": "peewee\n"},
    )
    assert not plan.patch
    assert plan.steps
    assert any("peewee.connect" in step.purpose for step in plan.steps)


@pytest.mark.parametrize("name", [m.name for m in migrations()])
def test_every_migration_is_found_by_its_names(name: str) -> None:
    migration = next(m for m in migrations() if m.name == name)
    plan = plan_refactor(f"migrate from {migration.old[0]} to {migration.new[0]}", {"a.txt": "nothing"})
    assert plan.kind == "migrate"
    assert plan.missing


MOVES: tuple[tuple[Mapping[str, str], Mapping[str, str]], ...] = (
    (
        {
            "p/__init__.py": "from .a import f\n",
            "p/a.py": "import os\nimport sys\n\n\ndef f():\n    return os.sep\n\n\ndef g():\n    return f(), sys\n",
            "c.py": "from p.a import f, g\n",
        },
        {
            "p/__init__.py": "from .b import f\n",
            "p/a.py": "import sys\nfrom p.b import f\n\n\ndef g():\n    return f(), sys\n",
            "p/b.py": "import os\n\n\ndef f():\n    return os.sep\n",
            "c.py": "from p.a import g\nfrom p.b import f\n",
        },
    ),
)


@pytest.mark.parametrize(("texts", "wanted"), MOVES)
def test_a_moved_function_takes_its_imports_along(
    texts: Mapping[str, str], wanted: Mapping[str, str]
) -> None:
    plan = plan_refactor("move f from p/a.py to p/b.py", texts)
    assert dict(plan.changes) == wanted


def test_a_move_that_closes_a_circle_of_imports_is_refused() -> None:
    texts = {
        "p/__init__.py": "",
        "p/a.py": "X = 1\n\n\ndef f():\n    return X\n\n\ndef g():\n    return f()\n",
    }
    plan = plan_refactor("move f from p/a.py to p/b.py", texts)
    assert not plan.patch
    assert "import cycle" in "\n".join(plan.risks)


def test_a_module_is_split_by_what_uses_each_other() -> None:
    text = (
        "def a():\n    return 1\n\n\ndef b():\n    return a()\n\n\ndef c():\n    return 3\n\n\n"
        "def d():\n    x = c()\n    return x\n"
    )
    plan = plan_refactor(
        "split module p.m", {"p/__init__.py": "", "p/m.py": text, "u.py": "from p.m import b, d\n"}
    )
    assert "def a" not in plan.changes["p/m.py"] or "def c" not in plan.changes["p/m.py"]
    assert len(plan.changes) == 3
    assert plan.complete

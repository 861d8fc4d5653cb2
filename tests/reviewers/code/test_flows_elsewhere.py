"""A helper of another file is read from the change and the index, before and after the change, and never remembered."""

import pytest
from in_process import guard
from repositories import Repo

VIEW = """\
from flask import request

from app.shell import list_files


def view():
    list_files(request.args["n"])
"""
SAFE = """\
import subprocess


def list_files(folder):
    subprocess.run(["ls", "--", folder], check=True)
"""
RISKY = """\
import os


def list_files(folder):
    os.system("ls " + folder)
"""
QUIET = VIEW.replace('request.args["n"]', '"fixed"')
FLOW = "code-flow-command"


def flows_found(repo: Repo, *arguments: str) -> list[tuple[str, int, str]]:
    done = guard(repo, "review", *(arguments or ("--staged",)), "--format", "json")
    return [
        (each["path"], each["line"], each["message"])
        for each in done.json["findings"]
        if each["rule"] == FLOW
    ]


@pytest.mark.parametrize(
    ("before", "after", "is_found"),
    [
        ({"app/shell.py": RISKY}, {"app/views.py": VIEW}, True),
        ({"app/shell.py": SAFE}, {"app/views.py": VIEW}, False),
        ({}, {"app/shell.py": RISKY, "app/views.py": VIEW}, True),
        ({}, {"app/views.py": VIEW}, False),
        ({"app/shell.py": RISKY, "app/views.py": QUIET}, {"app/views.py": VIEW}, True),
        # It was there before.
        (
            {"app/shell.py": RISKY, "app/views.py": VIEW},
            {"app/views.py": VIEW + "\n\nmore = 1\n"},
            False,
        ),
        # The index counts, not what HEAD has.
        (
            {"app/shell.py": RISKY},
            {"app/shell.py": SAFE, "app/views.py": VIEW},
            False,
        ),
        # The helper is risky only now, and this file changes with it.
        (
            {"app/shell.py": SAFE, "app/views.py": VIEW},
            {"app/shell.py": RISKY, "app/views.py": VIEW + "\n\nmore = 1\n"},
            True,
        ),
    ],
)
def test_a_helper_is_read_as_it_will_be_recorded(
    repo: Repo, before: dict[str, str], after: dict[str, str], is_found: bool
) -> None:
    repo.commit("before", {"README.md": "x\n", **before})
    for path, text in after.items():
        repo.write(path, text)
    repo.git("add", "-A")
    found = flows_found(repo)
    assert bool(found) is is_found
    for path, line, message in found:
        assert (path, line) == ("app/views.py", 7)
        assert "os.system in app/shell.py" in message


def test_what_depends_on_another_file_is_looked_at_again(repo: Repo) -> None:
    padding = "".join(f"\n\ndef f{n}():\n    return {n}\n" for n in range(1000))
    repo.commit("before", {"app/shell.py": SAFE, "app/big.py": "x = 1\n"})
    repo.write("app/views.py", VIEW + padding)
    repo.git("add", "-A")
    assert flows_found(repo) == []
    assert flows_found(repo) == []
    repo.commit("helper", {"app/shell.py": RISKY})
    repo.git("reset", "-q", "--soft", "HEAD~1")
    assert [path for path, *_ in flows_found(repo)] == ["app/views.py"]


def test_a_range_reads_the_files_of_its_end(repo: Repo) -> None:
    first = repo.commit("before", {"app/shell.py": RISKY})
    second = repo.commit("view", {"app/views.py": VIEW})
    repo.commit("mended", {"app/shell.py": SAFE})
    assert flows_found(repo, "--range", f"{first}..{second}")


PAGE = """\
package web

import "net/http"

func page(w http.ResponseWriter, r *http.Request) {
	list(r.FormValue("n"))
}
"""
LIST = """\
package web

import "os/exec"

func list(n string) { exec.Command("sh", "-c", "ls "+n).Run() }
"""
COUNT = LIST.replace("list(n", "count(n")


@pytest.mark.parametrize(
    ("before", "is_found"),
    [
        ({"web/list.go": LIST}, True),
        ({f"web/{n:02}.go": f"package web\nvar v{n} = {n}\n" for n in range(30)}, False),
        (
            {f"web/{n:02}.go": f"package web\nvar v{n} = {n}\n" for n in range(30)}
            | {"web/list.go": LIST},
            True,
        ),
        ({"web/list.go": LIST.replace("list(n string)", "list[T any](n string)")}, True),
        ({"web/list.go": COUNT}, False),
        ({"web/list.go": LIST.replace('"ls "+n', '"ls"')}, False),
        # Of another package, and of its tests.
        ({"list.go": LIST}, False),
        ({"web/deep/list.go": LIST}, False),
        ({"web/list_test.go": LIST}, False),
    ],
)
def test_a_function_of_the_same_go_package_is_read(
    repo: Repo, before: dict[str, str], is_found: bool
) -> None:
    repo.commit("before", {"go.mod": "module shop\n", **before})
    repo.write("web/page.go", PAGE)
    repo.git("add", "-A")
    assert [path for path, *_ in flows_found(repo)] == ["web/page.go"] * is_found


def test_a_function_of_a_go_package_that_goes_is_read_no_more(repo: Repo) -> None:
    repo.commit("before", {"web/list.go": LIST})
    (repo.path / "web/list.go").unlink()
    repo.write("web/page.go", PAGE)
    repo.git("add", "-A")
    assert flows_found(repo) == []

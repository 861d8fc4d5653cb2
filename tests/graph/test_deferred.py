"""What a review never uses is not loaded, and whoever uses it gets the real thing."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from in_process import stage
from repositories import Repo

from cli_guard.rules import data

RUN = """
import sys
from cli_guard.__main__ import run_in_process
code = run_in_process(sys.argv[1:])
from cli_guard.graph.deferred import DeferredModule
real = {name.split(".")[0] for name, module in sys.modules.items() if type(module) is not DeferredModule}
print(code, *sorted(each for each in real if "/site-packages/" in str(vars(sys.modules[each]).get("__path__", ""))))
"""
# All that a hook loads of other projects, and nothing else.
LOADED = (
    "annotated_types ast_grep_py click langchain_core langchain_protocol langgraph ormsgpack packaging pydantic"
    " pydantic_core typing_inspection uuid_utils xxhash"
).split()

# Each runs in a fork of its own; what it prints must be the same whether the libraries are deferred or not.
USES = {
    "a class is called": "from langsmith import RunTree; print(type(RunTree(name='a', run_type='chain')).__module__)",
    "a class is subclassed": "from langsmith.schemas import Run\nclass A(Run): pass\nprint(A.__mro__[1].__module__)",
    "an instance is looked for": "from requests import Response; "
    "print(isinstance(Response(), Response), isinstance(1, Response))",
    "a constant is read": "import langsmith; print(langsmith.__version__)",
    "a submodule is read": "from langsmith import utils; print(utils.tracing_is_enabled())",
    "a name does not exist": "try:\n    from requests import Nothing\n    Nothing()\n"
    "except ImportError:\n    print('none')",
    "a module does not exist": "import langsmith.nothing_of_the_kind",
    "a class is part of an annotation": "from langgraph_sdk.auth.types import BaseUser\n"
    "def f(x: BaseUser | None) -> 'None | BaseUser': ...\nprint('fine')",
    "a graph is traced": "from cli_guard.api import build_graph\n"
    "from langchain_core.tracers import RunCollectorCallbackHandler\nkept = RunCollectorCallbackHandler()"
    "\nbuild_graph().invoke({'input': 'x', 'repo_snapshot': {}}, {'callbacks': [kept]}); print(len(kept.traced_runs))",
}

# Runs each use in a fork of a process that has prepared what all of them need, and prints what came of it.
FORKS = """
import json, os, sys, traceback
prepare, uses = json.load(sys.stdin)
exec(prepare, {"__name__": "__main__"})
ends = {}
for name, use in uses.items():
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        code = 1
        try:
            exec(use, {"__name__": "__main__"})
            code = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(code)
    os.close(writing)
    with open(reading) as output:
        last = output.read().splitlines()[-1:]
    ends[name] = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), *last]
print(json.dumps(ends))
"""


def run(
    script: str, *argv: str, env: dict[str, str] | None = None, repo: Repo | None = None
) -> list[str]:
    """The code and what was printed last: of an error the last line."""
    done = subprocess.run(
        (sys.executable, "-c", script, *argv),
        cwd=repo.path if repo else None,
        env=env,
        capture_output=True,
        text=True,
    )
    return [str(done.returncode), *(done.stdout or done.stderr).splitlines()[-1:]]


def test_a_hook_loads_these_and_no_more(committed: Repo) -> None:
    for folder in ("code", "code/utils"):
        data.names(folder)  # in a fresh checkout rules are compiled first
    stage(
        committed,
        {
            "a.py": "def f(x):\n    return eval(x)\n",
            "b.js": "eval(x)\n",
            "Makefile": "a:\n\trm -rf /\n",
        },
    )
    _, last = run(RUN, "hook", "pre-commit", env=committed.env, repo=committed)
    code, *names = last.split()
    assert code == "1"
    assert [name for name in names if not name.startswith("_")] == LOADED


def ends_after(prepare: str) -> dict[str, list[Any]]:
    """Prepare once, and return of each use the exit code and its last line."""
    done = subprocess.run(
        (sys.executable, "-c", FORKS),
        input=json.dumps([prepare, USES]),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    ends: dict[str, list[Any]] = json.loads(done.stdout.splitlines()[-1])
    return ends


def test_a_use_gets_the_real_thing() -> None:
    deferred = ends_after(
        "from cli_guard.graph.deferred import defer; defer(); import langgraph.graph"
    )
    eager = ends_after("import langsmith, langgraph_sdk, requests")
    assert deferred.keys() == eager.keys() == USES.keys()
    for use, (code, last) in deferred.items():
        assert code == eager[use][0], use
        assert last.split("'")[-1] == eager[use][1].split("'")[-1], use


@pytest.fixture
def collector() -> Iterator[tuple[str, list[str]]]:
    """A server that would get what is traced, and the requests that it has got."""
    got: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            got.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        do_POST = do_PATCH = do_GET  # noqa: N815 - as http.server calls them

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", got
        server.shutdown()


def test_no_variable_has_a_review_traced(
    committed: Repo, collector: tuple[str, list[str]]
) -> None:
    url, got = collector
    traced = {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_ENDPOINT": url,
        "LANGSMITH_API_KEY": "x",
    }
    stage(committed, {"a.py": "def f(x):\n    return eval(x)\n"})
    assert run(RUN, "review", env=committed.env | traced, repo=committed)[1].startswith(
        "3 "
    )
    loaded = "import langgraph.graph, langchain_core.tracers.langchain as t\n"
    asked = "import git; from cli_guard import api; print(len(api.review(git.Repo('.'), staged=True).findings))\n"
    assert (
        run(
            f"{loaded}{asked}t.wait_for_all_tracers()",
            env=committed.env | traced,
            repo=committed,
        )[0]
        == "0"
    )
    assert not got, "nor one by a program that had the library already"
    # The near miss: the same graph, called by somebody who does want it.
    own = "from cli_guard.api import build_graph; build_graph().invoke({'input': 'x', 'repo_snapshot': {}})\n"
    flush = (
        "from langchain_core.tracers.langchain import wait_for_all_tracers as wait; wait()"
    )
    assert run(own + flush, env=committed.env | traced, repo=committed)[0] == "0"
    assert got

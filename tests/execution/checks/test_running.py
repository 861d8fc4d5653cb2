"""One check: what it sees, how it may end, its server and its port; many of them; and nothing left after."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from checks_world import PATIENCE, World, rules, until

from cli_guard.execution.shell import cores
from cli_guard.model import Decision
from cli_guard.review.render.review import Review

SERVER = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"here")
    def log_message(self, *args): pass
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""
CLIENT = """
import os, sys, urllib.request
sys.exit(urllib.request.urlopen(f"http://127.0.0.1:{os.environ['PORT']}/").read() != b"here")
"""
START = f"{sys.executable} server.py"
ASK = f"{sys.executable} client.py"


def message(review: Review) -> str:
    [finding] = [
        each.finding
        for each in review.findings
        if each.finding.rule.startswith("push-check-")
    ]
    return finding.message


def evidence(review: Review) -> list[str]:
    [finding] = [
        each.finding
        for each in review.findings
        if each.finding.rule.startswith("push-check-")
    ]
    return finding.evidence.split("\n")


def with_server(world: World, table: str) -> None:
    """A check beside a server that the remote has already, so that nothing but the check is reviewed."""
    world.repo.commit("Server", {"server.py": SERVER, "client.py": CLIENT})
    world.repo.git("push", "-q", "--no-verify", "origin", "main")
    world.check(table)


@pytest.mark.parametrize(
    ("table", "rule", "says"),
    [
        ("command = 'exit 3'", "failed", "t failed: ended with exit code 3"),
        ("command = 'kill -9 $$'", "failed", "t failed: was ended by SIGKILL"),
        (
            "command = 'sleep 100'\ntimeout_seconds = 0.3",
            "failed",
            "timed out after 0.3 s (timeout_seconds)",
        ),
        ("command = 'no-such-program'", "not-run", "names a command that was not found"),
        ("command = './app.py'", "not-run", "cannot be executed"),
        (
            "command = 'true'\nworking_dir = 'nowhere'",
            "not-run",
            "working_dir 'nowhere' is not a folder",
        ),
        (
            "command = 'true'\nworking_dir = 'app.py'",
            "not-run",
            "working_dir 'app.py' is not a folder",
        ),
        (
            "command = 'true'\nworking_dir = 'out'",
            "not-run",
            "working_dir 'out' is not a folder",
        ),
    ],
)
def test_how_a_check_ends(world: World, table: str, rule: str, says: str) -> None:
    (world.repo.path / "out").symlink_to(world.repo.path.parent)
    world.check(f"[checks.t]\n{table}\n")
    review = world.review()
    assert rules(review) == [f"push-check-{rule}"]
    assert says in message(review)
    assert review.decision is (Decision.DENY if rule == "failed" else Decision.REVIEW)


def test_what_a_check_sees(world: World) -> None:
    world.repo.write("web/x", "")
    names = "PORT GIT_DIR GIT_INDEX_FILE SECRET_TOKEN SHOWN MODE TMPDIR HOME".split()
    seen = world.trace.with_name("seen")
    show = f"import json, os; open('{seen}', 'w').write(json.dumps([os.getcwd(), *map(os.environ.get, {names})]))"
    world.check(
        f"[checks.t]\ncommand = '''{sys.executable} -c \"{show}\"; cat'''\nworking_dir = 'web'\n"
        'environment = {MODE = "fast"}\npass_environment = ["SHOWN", "ABSENT"]\nneeds_port = "auto"\n'
    )
    env = {"GIT_DIR": str(world.repo.path / ".git"), "SECRET_TOKEN": "s", "SHOWN": "yes"}
    assert (
        world.review(env={**env, "GIT_WORK_TREE": str(world.repo.path)}).decision
        is Decision.ALLOW
    )
    folder, port, git_dir, index, secret, shown, mode, temporary, home = json.loads(
        seen.read_text()
    )
    assert folder.endswith("/repo/web") and not folder.startswith(str(world.repo.path))
    assert 1 <= int(port) <= 65_535
    assert git_dir is index is secret is None
    assert (shown, mode, home) == ("yes", "fast", world.repo.env["HOME"])
    assert folder.startswith(str(Path(temporary).parent))


def test_a_secret_is_not_passed_on_and_that_is_told(world: World) -> None:
    world.check(
        "[checks.t]\ncommand = 'echo \"<$DEPLOY_TOKEN>\"; false'\npass_environment = ['DEPLOY_TOKEN', 'LANG']\n"
    )
    review = world.review(env={"DEPLOY_TOKEN": "s3cr3t-0f-mine"})
    assert evidence(review) == ["<>"]
    assert "it ran without $DEPLOY_TOKEN (it holds a secret" in message(review)


def test_its_git_is_that_of_the_checkout(world: World) -> None:
    world.repo.git("tag", "-a", "-m", "One", "v1", "HEAD")
    world.check(
        command="'git describe; git status --short; touch new; git add new; git commit -qm x; git tag v2; false'"
    )
    review = world.review(
        env={
            "GIT_DIR": str(world.repo.path / ".git"),
            "GIT_WORK_TREE": str(world.repo.path),
        }
    )
    assert evidence(review)[0].startswith("v1-1-g")
    assert world.repo.git("tag") == "v1"


def test_the_end_of_a_flood_is_told(world: World) -> None:
    text = "print('x' * 1_000_000); print('line\\n' * 300_000); print('\\x1b[31mlast\\x1b[0m \\x07'); exit(1)"
    world.repo.write("flood.py", text)
    world.check(command=f"'{sys.executable} flood.py'")
    lines = evidence(world.review())
    assert lines[-1] == "last \\x07" and lines[-2] == "line"
    assert len(lines) <= 30 and all(len(line) <= 300 for line in lines)


def test_no_secret_is_told(world: World) -> None:
    world.check(command="'echo AKIA\"Q3XV7ZB2NLKTW4FY\"; false'")
    review = world.review()
    assert "AKIAQ3XV7ZB2NLKTW4FY" not in repr(review)
    assert rules(review) == ["push-check-failed"]


def test_a_server_is_waited_for_and_stopped(world: World) -> None:
    with_server(
        world,
        f"[checks.web]\ncommand = '{ASK} && echo $PORT >> {world.trace}'\nserver = '{START}'\nneeds_port = 'auto'\n"
        "cache = false\n",
    )
    review = world.review()
    assert review.decision is Decision.ALLOW, review.findings
    [port] = world.runs
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(port))) != 0
    # A named port is the same each time.
    named = world.repo.path.joinpath("cli-guard.toml").read_text().replace("'auto'", port)
    with_server(world, named)
    assert world.review().decision is Decision.ALLOW


DYING_SERVER = """
[checks.web]
needs_port = "auto"
server = '''
echo $$ > {trace}.pid; {start} & while ! test -e {trace}.go; do sleep 0.05; done
echo "Cannot find module 'left-pad'" >&2; kill $!; exit 9'''
command = '''
{ask} && touch {trace}.go; while kill -0 $(cat {trace}.pid); do sleep 0.05; done 2>/dev/null; exit 7'''
"""


def test_what_its_server_said_is_told_with_a_failure(world: World) -> None:
    with_server(world, DYING_SERVER.format(trace=world.trace, start=START, ask=ASK))
    review = world.review()
    assert "web failed: ended with exit code 7; its server ended" in message(review)
    assert any("left-pad" in line for line in evidence(review))


@pytest.mark.parametrize(
    ("server", "rule", "says"),
    [
        ("sleep 100", "failed", "did not answer on port"),
        ("echo why; exit 5", "failed", "ended with exit code 5 before it answered"),
        ("no-such-server", "failed", "ended with exit code 127"),
    ],
)
def test_a_server_that_is_not_ready(
    world: World, server: str, rule: str, says: str
) -> None:
    with_server(
        world,
        f"[checks.web]\ncommand = '{world.leaves('ran')}'\nserver = '{server}'\nneeds_port = 'auto'\n"
        "ready_seconds = 0.5\n",
    )
    review = world.review()
    assert rules(review) == [f"push-check-{rule}"] and says in message(review)
    assert world.runs == []


def test_a_port_that_somebody_has(world: World) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        world.check(command=f"'{world.leaves('ran')}'", needs_port=str(port))
        review = world.review()
    assert rules(review) == ["push-check-not-run"] and f"port {port} is in use" in message(
        review
    )
    assert world.runs == []
    assert world.review().decision is Decision.ALLOW


def test_two_that_want_one_port_take_turns(world: World) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    alone = f"mkdir {world.trace}.d && rmdir {world.trace}.d"
    tables = [
        f"[checks.{name}]\ncommand = '{alone}'\nneeds_port = {port}\n" for name in "abcd"
    ]
    world.check("".join(tables))
    assert world.review().decision is Decision.ALLOW


@pytest.mark.skipif(cores() < 2, reason="one core runs one check at a time")
def test_checks_run_beside_each_other(world: World) -> None:
    meet = "touch {0}.{1}; for i in $(seq 1200); do test -e {0}.{2} && exit 0; sleep 0.05; done; exit 1"
    world.check(
        "".join(
            f"[checks.{one}]\ncommand = '{meet.format(world.trace, one, other)}'\n"
            for one, other in (("a", "b"), ("b", "a"))
        )
    )
    assert world.review().decision is Decision.ALLOW


def test_each_has_a_checkout_of_its_own(world: World) -> None:
    world.check(
        "".join(
            f"[checks.{name}]\ncommand = 'test ! -e made && touch made'\n"
            for name in "abcd"
        )
    )
    assert world.review().decision is Decision.ALLOW


@pytest.mark.parametrize(
    "sign",
    [signal.SIGINT, signal.SIGTERM, signal.SIGKILL],
    ids=["ctrl-c", "asked", "killed"],
)
def test_an_interrupt_leaves_nothing(world: World, sign: signal.Signals) -> None:
    with_server(
        world,
        f"[checks.web]\ncommand = 'echo $$ $PPID > {world.trace}; sleep 300 & sleep 300'\nserver = '{START}'\n"
        "needs_port = 'auto'\n[checks.other]\ncommand = 'sleep 300'\n",
    )
    head = world.repo.git("rev-parse", "HEAD")
    line = f"refs/heads/main {head} refs/heads/main {world.repo.git('rev-parse', 'origin/main')}\n"
    with world.repo.unchanged():
        process = subprocess.Popen(
            (
                str(Path(sys.executable).parent / "cli-guard"),
                "hook",
                "pre-push",
                "origin",
                "url",
            ),
            cwd=world.repo.path,
            env=world.repo.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with process:
            assert process.stdin
            process.stdin.write(line.encode())
            process.stdin.close()
            until(lambda: len(world.runs) == 2, what="the check began")
            assert len(world.left) == 2
            process.send_signal(sign)
            assert process.wait(PATIENCE) == (-sign if sign == signal.SIGKILL else 130)
    pids = [int(word) for word in world.runs]
    until(lambda: not any(map(runs, pids)), what="the process tree ended")
    if sign == signal.SIGKILL:
        # Nobody could remove its folders; whoever comes next does.
        world.check(command="'true'")
        world.review()
        until(
            lambda: not any(world.room.iterdir()), what="the folders of the supervisor went"
        )


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        try:
            os.kill(pid, 0)
        except OSError:
            return False
        return not Path("/proc/self").exists()


def test_submodules_are_told_as_missing(world: World) -> None:
    oid = world.repo.git("rev-parse", "HEAD")
    world.repo.git("update-index", "--add", "--cacheinfo", f"160000,{oid},vendor/lib")
    world.repo.git("commit", "-q", "-m", "Submodule")
    world.repo.write(
        "cli-guard.toml", "[checks.t]\ncommand = 'test -e vendor/lib/setup.py'\n"
    )
    world.repo.git("add", "cli-guard.toml")
    world.repo.git("commit", "-q", "-m", "Check")
    world.trust()
    review = world.review()
    assert "it ran without vendor/lib (a submodule: not checked out)" in message(review)
    assert any(
        each.path == "vendor/lib" and "ran without it" in each.reason
        for each in review.skipped
    )

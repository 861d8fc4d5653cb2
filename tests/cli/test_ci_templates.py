"""`action.yml` and `ci/gitlab.yml`: their form, and their scripts run as a forge runs them, in real clones."""

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
import yaml
from examples import table
from in_process import RISKY, approve, guard, stage, waiting
from repositories import GUARD, Repo, isolated_environment, key

ROOT = Path(__file__).parents[2]
ACTION_TEXT = (ROOT / "action.yml").read_text("utf-8")
ACTION: Any = yaml.safe_load(ACTION_TEXT)
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
GITLAB: dict[str, Any] = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text("utf-8"))
DOCUMENTED = re.findall(
    r"^```yml\n(.*?)^```$",
    (ROOT / "docs" / "ci.md").read_text("utf-8"),
    re.MULTILINE | re.DOTALL,
)
NOTES = "refs/notes/cli-guard"
ZEROS = "0" * 40
TOKEN = "a token of one job"
ZIZMOR = shutil.which(
    "zizmor", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
)

# What the jobs call: see `program`.
PROGRAM = Path(GUARD)

needs_ssh_keygen = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="ssh-keygen is missing"
)


# ---- the form of both files


def test_the_action_is_a_composite_one() -> None:
    assert set(ACTION) == {"name", "description", "inputs", "outputs", "runs"}
    assert set(ACTION["runs"]) == {"using", "steps"}
    assert ACTION["runs"]["using"] == "composite"
    assert all(
        each["description"]
        for each in (*ACTION["inputs"].values(), *ACTION["outputs"].values())
    )
    assert set(ACTION["inputs"]) == {
        "base",
        "head",
        "version",
        "sarif",
        "upload-sarif",
        "token",
    }
    assert set(ACTION["outputs"]) == {"exit-code", "sarif"}
    assert ACTION["inputs"]["upload-sarif"]["default"] == "false"


@table("step", STEPS)
def test_each_step_is_a_strict_script(step: dict[str, Any]) -> None:
    assert set(step) <= {"name", "id", "if", "shell", "env", "run"}
    assert step["shell"] == "bash"
    assert step["run"].startswith("set -euo pipefail\n")
    assert "${{" not in step["run"]


def test_what_the_action_names_exists() -> None:
    assert set(re.findall(r"inputs\.([\w-]+)", ACTION_TEXT)) == set(ACTION["inputs"])
    scripts = {step["id"]: step["run"] for step in STEPS if "id" in step}
    for step, output in re.findall(r"steps\.([\w-]+)\.outputs\.([\w-]+)", ACTION_TEXT):
        assert f'"{output}=' in scripts[step]


def test_the_install_steps_import_nothing_from_the_work_tree() -> None:
    (job,) = GITLAB.values()
    for script in (STEPS[0]["run"], "\n".join(job["before_script"])):
        assert "pip install" in script
        assert set(re.findall(r'(?:^|[ /])python3?"? +(\S+)', script, re.MULTILINE)) == {
            "-I"
        }


def test_the_template_is_one_job_of_merge_requests() -> None:
    ((name, job),) = GITLAB.items()
    assert name == "cli-guard"
    assert job["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}]
    assert job["variables"]["GIT_DEPTH"] == "0"
    assert job["artifacts"] == {"when": "always", "paths": ["cli-guard.sarif"]}
    assert "${{" not in str(job)


EVENTS: tuple[tuple[dict[str, Any], str, str], ...] = (
    (
        {
            "event": {"pull_request": {"base": {"sha": "b"}, "head": {"sha": "h"}}},
            "sha": "merge",
        },
        "b",
        "h",
    ),
    ({"event": {"merge_group": {"base_sha": "b", "head_sha": "h"}}, "sha": "h"}, "b", "h"),
    ({"event": {"before": "b", "after": "h"}, "sha": "h"}, "b", "h"),
    ({"event": {}, "sha": "h"}, "", "h"),
)


@table(("event", "base", "head"), EVENTS)
def test_each_event_has_its_range(event: dict[str, Any], base: str, head: str) -> None:
    env = STEPS[1]["env"]
    assert (
        evaluate(env["BASE"], {"github": event}),
        evaluate(env["HEAD"], {"github": event}),
    ) == (
        base,
        head,
    )
    given = {"github": event, "inputs": {"base": "B", "head": "H"}}
    assert (evaluate(env["BASE"], given), evaluate(env["HEAD"], given)) == ("B", "H")


@pytest.mark.skipif(ZIZMOR is None, reason="zizmor is not installed")
def test_zizmor_finds_nothing() -> None:
    files = (str(ROOT / "action.yml"), str(ROOT / ".github" / "workflows"))
    command = (str(ZIZMOR), "--offline", "--persona", "auditor", *files)
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# ---- what tests this repository


def test_the_workflow_runs_what_a_change_must_pass() -> None:
    workflow = yaml.safe_load(
        (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    )
    (job,) = workflow["jobs"].values()
    assert (workflow["permissions"], job["permissions"]) == ({}, {"contents": "read"})
    assert all(
        re.search(r"@[0-9a-f]{40}$", step["uses"])
        for step in job["steps"]
        if "uses" in step
    )
    assert {"ubuntu-latest", "macos-latest", "windows-latest"} == set(
        job["strategy"]["matrix"]["os"]
    )
    scripts = " ".join(step["run"] for step in job["steps"] if "run" in step)
    named = re.findall(r"(?:ci/|\.ci/)\w[\w.]*", scripts)
    assert named == ["ci/try.sh", ".ci/run"]
    assert all((ROOT / name).stat().st_mode & 0o100 for name in named)


def test_what_the_workflow_tries_is_so(isolated: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        ("sh", ROOT / "ci" / "try.sh"),
        cwd=tmp_path,
        env=isolated,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout.endswith("cli-guard works\n") and "secret-aws-access-key" in done.stderr
    )
    # A guard that lets a key pass fails it.
    off = subprocess.run(
        ("sh", ROOT / "ci" / "try.sh"),
        cwd=tmp_path,
        env={**isolated, "CLI_GUARD": "0"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert off.returncode == 1 and "a key was committed" in off.stderr


# ---- what docs/ci.md shows of them


def test_the_documented_inputs_and_files_exist() -> None:
    assert len(DOCUMENTED) == 3
    for block in DOCUMENTED:
        found = yaml.safe_load(block)
        for step in steps_of(found):
            name, _, revision = str(step["uses"]).partition("@")
            assert revision == "<40 digits>"
            if name == "OWNER/cli-guard":
                assert set(step.get("with", {})) <= set(ACTION["inputs"])
        assert set(re.findall(r"steps\.verify\.outputs\.([\w-]+)", block)) <= set(
            ACTION["outputs"]
        )
        for included in found.get("include", ()) if isinstance(found, dict) else ():
            assert (ROOT / included["file"]).is_file()
            assert set(found["cli-guard"]["variables"]) <= set(
                GITLAB["cli-guard"]["variables"]
            )


def steps_of(node: Any) -> list[dict[str, Any]]:
    """Return every step of a workflow, or of a part of one."""
    if isinstance(node, dict):
        return ([node] if "uses" in node else []) + [
            each for value in node.values() for each in steps_of(value)
        ]
    return (
        [each for value in node for each in steps_of(value)]
        if isinstance(node, list)
        else []
    )


# ---- the scripts, run as the forges run them


def evaluate(text: str, context: Mapping[str, Any]) -> str:
    """Evaluate the one kind of expression that our steps have: names, joined by ||."""
    found = re.fullmatch(r"\$\{\{ (.*) \}\}", text)
    if found is None:
        return text
    for name in found[1].split(" || "):
        value: Any = context
        for part in name.split("."):
            value = value.get(part, "") if isinstance(value, Mapping) else ""
        if value:
            return str(value)
    return ""


@dataclass(frozen=True)
class Change:
    """A branch `topic` on a remote, its base `main`, and the merge commit that a forge tests."""

    remote: str
    base: str
    head: str
    merge: str

    @property
    def pull_request(self) -> dict[str, Any]:
        """The context `github` of a pull request."""
        shas = {"base": {"sha": self.base}, "head": {"sha": self.head}}
        return {
            "event": {
                "pull_request": {"number": 1, **shas},
                "repository": {"default_branch": "main"},
            },
            "sha": self.merge,
        }

    @property
    def merge_request(self) -> dict[str, str]:
        """The variables of a plain merge request pipeline, of the head of the branch."""
        return {"CI_COMMIT_SHA": self.head, "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.base}

    @property
    def merge_train(self) -> dict[str, str]:
        """The variables of a pipeline for merged results or of a merge train, of the merge commit."""
        target = {
            "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": self.base,
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": "unused",
        }
        return {"CI_COMMIT_SHA": self.merge, **target}


@dataclass(frozen=True)
class Job:
    """What a job did: the exit code, the log, what its reader sees first, the outputs of its steps, its clone."""

    code: int
    log: str
    summary: str
    clone: Repo
    outputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def publish(author: Repo) -> Change:
    """Push `main`, `topic`, the refs of a pull request, and the approvals if there are any."""
    bare = author.path.parent / "forge.git"
    author.git("init", "-q", "--bare", "-b", "main", str(bare))
    author.git("remote", "add", "origin", f"file://{bare}")
    base, head, tree = author.git("rev-parse", "main", "topic", "topic^{tree}").split()
    merge = author.git(
        "commit-tree", tree, "-p", base, "-p", head, "-m", "Merge the branch topic"
    )
    notes = [NOTES] if author.git("for-each-ref", NOTES) else []
    pulls = (f"{head}:refs/pull/1/head", f"{merge}:refs/pull/1/merge")
    author.git("push", "-q", "origin", "main", "topic", *pulls, *notes)
    return Change(f"file://{bare}", base, head, merge)


def check_out(change: Change, commit: str, folder: Path, depth: int = 0) -> Repo:
    """Clone as a runner does, for a user without a key: the commit of the job, detached.

    One that is not shallow has notes of an earlier job, as on a runner that keeps its work tree.
    """
    own = Path(tempfile.mkdtemp(dir=folder))
    env = isolated_environment(own)
    path = f"{PROGRAM.parent}{os.pathsep}{env['PATH']}"
    clone = Repo.create(own / "work", env | {"CI": "true", "PATH": path})
    clone.git("remote", "add", "origin", change.remote)
    refs = [f"+{commit}:refs/remotes/pull/1/merge"]
    refs += [f"--depth={depth}"] if depth else ["+refs/heads/*:refs/remotes/origin/*"]
    clone.git("fetch", "-q", "--no-tags", "origin", *refs)
    clone.git("checkout", "-q", "--detach", commit)
    if not depth:
        clone.git("update-ref", NOTES, commit)
    return clone


def run_action(
    clone: Repo, github: Mapping[str, Any], *, path: str = "", **inputs: str
) -> Job:
    """Run the steps of the action but the first, which installs the program; `path` comes first on PATH."""
    temporary = clone.path.parent / "temporary"
    temporary.mkdir()
    variables = {
        "GITHUB_OUTPUT": str(temporary / "output"),
        "GITHUB_REF": "refs/pull/1/merge",
        "GITHUB_REPOSITORY": "owner/name",
        "GITHUB_SERVER_URL": urljoin(clone.git("remote", "get-url", "origin"), "/").rstrip(
            "/"
        ),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary"),
        "PATH": os.pathsep.join(filter(None, (path, clone.env["PATH"]))),
        "RUNNER_TEMP": str(temporary),
    }
    outputs: dict[str, dict[str, str]] = {"install": {"program": str(PROGRAM)}}
    code = 0
    log = ""
    for step in STEPS[1:]:
        context = {
            "github": github,
            "inputs": inputs,
            "steps": {name: {"outputs": each} for name, each in outputs.items()},
        }
        if "if" in step:
            due = inputs.get("upload-sarif") == "true" and "sarif" in outputs.get(
                "verify", {}
            )
        else:
            due = code == 0
        if not due:
            continue
        (temporary / "script.sh").write_text(step["run"], "utf-8")
        (temporary / "output").write_text("")
        env = variables | {
            name: evaluate(value, context) for name, value in step["env"].items()
        }
        shell = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
        done = clone.run(*shell, str(temporary / "script.sh"), env=env)
        code = code or done.code
        log = log + done.all
        lines = (temporary / "output").read_text("utf-8").splitlines()
        outputs[step.get("id", "upload")] = dict(line.split("=", 1) for line in lines)
    summary = temporary / "summary"
    return Job(
        code, log, summary.read_text("utf-8") if summary.exists() else "", clone, outputs
    )


def run_template(clone: Repo, variables: Mapping[str, str]) -> Job:
    """Run the script of the template in one shell, as a runner does, without what installs the program."""
    (job,) = GITLAB.values()
    done = clone.run(
        "bash",
        "-eo",
        "pipefail",
        "-c",
        "\n".join(job["script"]),
        env=job["variables"] | variables,
    )
    return Job(done.code, done.all, done.out, clone)


def on_github(change: Change, folder: Path, depth: int = 0) -> Job:
    return run_action(check_out(change, change.merge, folder, depth), change.pull_request)


def on_gitlab(change: Change, folder: Path, depth: int = 0) -> Job:
    return run_template(check_out(change, change.head, folder, depth), change.merge_request)


def on_a_train(change: Change, folder: Path, depth: int = 0) -> Job:
    return run_template(check_out(change, change.merge, folder, depth), change.merge_train)


Forge = Callable[..., Job]
FORGES: tuple[Forge, ...] = (on_github, on_gitlab, on_a_train)


@pytest.fixture(autouse=True)
def program(
    preloaded: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Have the jobs call a program that is loaded, but for one test."""
    if request.function is not test_a_clean_range_passes_without_notes_on_the_remote:
        monkeypatch.setitem(globals(), "PROGRAM", preloaded / "cli-guard")


@pytest.fixture
def author(committed: Repo) -> Repo:
    """A repository with two commits on `main`, on the branch `topic`."""
    committed.commit("Add sums", {"sums.py": "y = 2\n"})
    committed.git("switch", "-q", "-c", "topic")
    return committed


@pytest.fixture
def clean(author: Repo) -> Change:
    author.commit("Add more sums", {"more.py": "z = 3\n"})
    return publish(author)


@pytest.fixture
def unapproved(author: Repo) -> Change:
    """A branch with a risky file, and a link where the template writes its report."""
    (author.path / "cli-guard.sarif").symlink_to("app.py")
    author.commit("Add reports", {"reports.py": RISKY})
    author.commit("Add more sums", {"more.py": "z = 3\n"})
    return publish(author)


@pytest.fixture
def leaked(author: Repo) -> Change:
    """A branch with a key that a later commit removes."""
    author.commit("Add settings", {"settings.py": f'aws_access_key_id = "{key()}"\n'})
    (author.path / "settings.py").unlink()
    author.commit("Remove settings")
    author.commit("Add more sums", {"more.py": "z = 3\n"})
    return publish(author)


@pytest.fixture
def approved(committed: Repo) -> Change:
    """A branch with a risky file that Ada, who is enrolled on `main`, has approved with her key."""
    folder = Path(committed.env["HOME"], ".ssh")
    folder.mkdir(mode=0o700)
    command = (
        "ssh-keygen",
        "-q",
        "-t",
        "ed25519",
        "-N",
        "",
        "-f",
        str(folder / "id_ed25519"),
    )
    subprocess.run(command, check=True, timeout=60)
    done = guard(committed, "signers", "init", "--principal", "ada@example.org")
    assert done.code == 0, done.all
    committed.commit("Enrol Ada")
    committed.git("switch", "-q", "-c", "topic")
    stage(committed, {"reports.py": RISKY})
    assert guard(committed, "review").code == 3
    done = approve(committed, *waiting(committed))
    assert done.code == 0, done.all
    committed.git("commit", "-q", "--no-verify", "-m", "Add reports")
    return publish(committed)


@table("forge", FORGES)
def test_a_clean_range_passes_without_notes_on_the_remote(
    forge: Forge, clean: Change, tmp_path: Path
) -> None:
    job = forge(clean, tmp_path)
    assert job.code == 0, job.log
    assert f"origin has no approvals ({NOTES})" in job.log
    assert job.clone.git("for-each-ref", NOTES) == ""
    assert "1 file reviewed, nothing to report" in job.summary
    assert job.outputs.get("verify", {"exit-code": "0"}) == {"exit-code": "0"}


@table("forge", FORGES)
def test_an_unapproved_file_needs_review(
    forge: Forge, unapproved: Change, tmp_path: Path
) -> None:
    job = forge(unapproved, tmp_path)
    assert job.code == 3, job.log
    assert "reports.py:8" in job.summary
    if job.outputs:
        assert job.outputs["verify"] == {"exit-code": "3"}
        assert "::warning file=reports.py,line=8," in job.log
    else:
        sarif = json.loads((job.clone.path / "cli-guard.sarif").read_text("utf-8"))
        assert "code-python-shell" in {
            each["ruleId"] for each in sarif["runs"][0]["results"]
        }
    assert (job.clone.path / "app.py").read_text() == "x = 1\n"


@needs_ssh_keygen
@table("forge", FORGES)
@table("depth", (0, 1))
def test_a_signed_approval_counts(
    forge: Forge, depth: int, approved: Change, tmp_path: Path
) -> None:
    job = forge(approved, tmp_path, depth)
    assert job.code == 0, job.log
    assert "1 not shown (approved)" in job.summary
    assert job.clone.git("rev-parse", "--is-shallow-repository") == "false"


@table("forge", FORGES)
def test_a_shallow_clone_hides_no_commit(
    forge: Forge, leaked: Change, tmp_path: Path
) -> None:
    job = forge(leaked, tmp_path, 1)
    assert job.code == 1, job.log
    assert "settings.py:1" in job.summary


def test_a_remote_that_does_not_answer_is_not_one_without_notes(
    clean: Change, tmp_path: Path
) -> None:
    on_action, on_template = (check_out(clean, clean.head, tmp_path) for _ in range(2))
    for clone in (on_action, on_template):
        clone.git("remote", "set-url", "origin", f"file://{tmp_path}/nowhere.git")
    for job in (
        run_action(on_action, clean.pull_request),
        run_template(on_template, clean.merge_request),
    ):
        assert job.code == 2, job.log
        assert "origin did not answer, so the approvals are not known" in job.log


def test_a_new_branch_begins_where_it_left_the_default_branch(
    unapproved: Change, tmp_path: Path
) -> None:
    event = {"before": ZEROS, "repository": {"default_branch": "main"}}
    clone = check_out(unapproved, unapproved.head, tmp_path, 1)
    job = run_action(clone, {"event": event, "sha": unapproved.head})
    assert job.outputs["fetch"] == {"base": unapproved.base, "head": unapproved.head}
    assert job.code == 3, job.log


def test_what_names_no_range_is_not_verified(clean: Change, tmp_path: Path) -> None:
    job = run_action(
        check_out(clean, clean.head, tmp_path), {"event": {}, "sha": clean.head}
    )
    assert job.code == 2
    assert "set the inputs base and head to full commit ids" in job.log
    job = run_template(
        check_out(clean, clean.head, tmp_path), {"CI_COMMIT_SHA": clean.head}
    )
    assert job.code == 2
    assert "does not name the base of a merge request" in job.log


def test_a_range_that_cannot_be_verified_says_so(author: Repo, tmp_path: Path) -> None:
    author.commit("Break the policy", {"cli-guard.toml": "[rules\n"})
    job = on_github(publish(author), tmp_path)
    assert job.code == 2
    assert job.outputs["verify"] == {"exit-code": "2"}
    assert "cannot be verified" in job.summary
    assert "cli-guard.toml at " in job.log


GH = """#!/bin/sh
printf '%s\\n' "$GH_TOKEN" "$@" > "${0%/*}/words"
for word; do
    case $word in sarif=@*) cp "${word#sarif=@}" "${0%/*}/packed" ;; esac
done
exit 1
"""


def test_the_upload_sends_the_report_of_the_head(
    unapproved: Change, tmp_path: Path
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "gh").write_text(GH)
    (programs / "gh").chmod(0o755)
    clone = check_out(unapproved, unapproved.merge, tmp_path)
    wanted = {"upload-sarif": "true", "token": TOKEN}
    job = run_action(clone, unapproved.pull_request, path=str(programs), **wanted)
    assert job.code == 3, job.log
    assert "::warning title=cli-guard::the SARIF file was not uploaded" in job.log
    words = (programs / "words").read_text("utf-8").splitlines()
    assert words[:2] == [TOKEN, "api"]
    assert "repos/owner/name/code-scanning/sarifs" in words
    assert {f"commit_sha={unapproved.head}", "ref=refs/pull/1/head"} <= set(words)
    sent = gzip.decompress(
        base64.b64decode((programs / "packed").read_bytes(), validate=True)
    )
    assert sent == Path(job.outputs["verify"]["sarif"]).read_bytes()
    assert "reports.py" in sent.decode()


def test_the_token_reaches_origin_once_and_nobody_else(
    clean: Change, tmp_path: Path
) -> None:
    seen: list[list[str] | None] = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get_all("Authorization"))
            self.send_error(403)

        def log_message(self, format: str, *args: object) -> None:
            pass

    clone = check_out(clean, clean.head, tmp_path)
    with HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        clone.git("remote", "set-url", "origin", f"{address}/owner/name")
        # What actions/checkout leaves behind if it keeps its credentials.
        clone.git(
            "config", f"http.{address}/.extraheader", "AUTHORIZATION: basic an-older-token"
        )
        job = run_action(clone, clean.pull_request, token=TOKEN)
        server.shutdown()
    secret = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    assert seen == [[f"basic {secret}"]]
    assert job.code == 2
    assert "origin did not answer" in job.log
    assert secret not in job.log
    assert secret not in clone.git("config", "--list")

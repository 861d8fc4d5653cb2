"""How the guard is called: what switches it off asks, in whatever words; what leaves the call alone is silent."""

import json
from itertools import pairwise

from examples import examples, near_misses, table
from in_process import guard, stage
from repositories import Repo

from cli_guard.model import ChangeSet, FileChange, Finding, Hunk, Kind, Status
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.repository.protocol import NoContents
from cli_guard.reviewers.call_sites import GuardCalls, read_calls, review_calls
from cli_guard.reviewers.review_input import ReviewInput

WORKFLOW = ".github/workflows/guard.yml"
FLOW = """# Reviews what is merged.
name: guard
on:
  pull_request:
permissions:
  contents: read
jobs:
  guard:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    steps:
    - uses: actions/checkout@v4
      with:
        fetch-depth: 0
    - name: Install
      run: pip install cli-guard==1.2.0
    - name: Review
      run: |
        set -e
        # all of it
        cli-guard verify --range "$BASE..$HEAD"
      env:
        BASE: ${{ github.event.pull_request.base.sha }}
        HEAD: ${{ github.event.pull_request.head.sha }}
    - run: npm run report
  tests:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        node: [18, 20]
    steps:
    - run: npm test
  all:
    needs: [guard, tests]
    if: always()
    runs-on: ubuntu-latest
    steps:
    - run: ./all-green
"""
USES = """on: [pull_request]
jobs:
  verify:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/checkout@v4
    - uses: owner/cli-guard@v2
"""
CALL = 'cli-guard verify --range "$BASE..$HEAD"'
GITLAB = """stages: [test]
include:
  - project: owner/cli-guard
    ref: v1.2
    file: ci/gitlab.yml
test:
  script: [npm test]
"""
PIPELINE = """.base:
  image: python:3.12
  before_script:
    - pip install cli-guard
review:
  extends: .base
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  script:
    - cli-guard verify --range "$A..$B"
test:
  script: [npm test]
"""
CIRCLE = """version: 2.1
jobs:
  review:
    docker: [{image: python:3.12}]
    steps:
      - checkout
      - run: cli-guard verify --range main..HEAD
  test:
    docker: [{image: node:20}]
    steps: [checkout, {run: npm test}]
workflows:
  main:
    jobs:
      - test
      - review:
          filters: {branches: {ignore: main}}
"""
HOOKS = """repos:
- repo: https://example.org/cli-guard
  rev: v1.2
  hooks:
  - id: cli-guard
    name: The guard
  - id: cli-guard-pre-push
- repo: https://example.org/other
  rev: "1"
  hooks:
  - id: tidy
"""
LEFTHOOK = """pre-commit:
  parallel: true
  commands:
    guard:
      run: cli-guard hook pre-commit
    lint:
      run: npx eslint
pre-push:
  commands:
    test: {run: npm test}
"""
PACKAGE = json.dumps(
    {
        "name": "a",
        "version": "1.0.0",
        "scripts": {"test": "jest", "guard": "cli-guard review"},
    },
    indent=1,
)
MAKE = """RANGE = main..HEAD
VERSION = 3
.PHONY: guard
all: guard build
guard: venv
	cli-guard verify --range $(RANGE)
build:
	cc -DV=$(VERSION) a.c
"""
HUSKY = "# The hook.\nnpm run build\ncli-guard hook pre-commit\n"
GITHOOK = "#!/bin/sh\nnpm run build\ncli-guard hook pre-commit\n"
SCRIPT = (
    '#!/bin/bash\nset -eu\nrange=$1..HEAD\ncli-guard verify --range "$range"\necho done\n'
)


def found(old: dict[str, str], new: dict[str, str]) -> list[Finding]:
    subject = ReviewInput("staged", changes_between(old, new), SnapshotContents(old, new))
    return list(review_calls(subject))


def edit(path: str, text: str, before: str, after: str) -> list[Finding]:
    assert before in text
    return found({path: text}, {path: text.replace(before, after, 1)})


@examples(
    ("path", "text", "before", "after"),
    [
        (WORKFLOW, FLOW, CALL, f"echo {CALL}"),
        (WORKFLOW, FLOW, CALL, f"{CALL} || true"),
        (WORKFLOW, FLOW, CALL, f"{CALL} && x=1\n        exit 0"),
        (WORKFLOW, FLOW, CALL, f"x=1; exit 0\n        {CALL}"),
        (WORKFLOW, FLOW, "$BASE..$HEAD", "HEAD..HEAD"),
        (WORKFLOW, FLOW, "base.sha", "head.sha"),
        (WORKFLOW, FLOW, "set -e\n", "set +e\n"),
        (WORKFLOW, FLOW, "# all of it", '# all of it\n        "; exit 0; "'),
        (WORKFLOW, FLOW, "name: Review\n", "name: Review\n      if: false\n"),
        (WORKFLOW, FLOW, "name: Review\n", "name: Review\n      continue-on-error: true\n"),
        (WORKFLOW, FLOW, "name: Review\n", "name: Review\n      shell: bash -c true {0}\n"),
        (WORKFLOW, FLOW, "    timeout-minutes: 10\n", "    if: ${{ false }}\n"),
        (WORKFLOW, FLOW, "    timeout-minutes: 10\n", "    needs: skipped\n"),
        (
            WORKFLOW,
            FLOW,
            "    timeout-minutes: 10\n",
            "    defaults: {run: {shell: true {0}}}\n",
        ),
        (
            WORKFLOW,
            FLOW,
            "    timeout-minutes: 10\n",
            "    timeout-minutes: 10\n    name: optional\n",
        ),
        (WORKFLOW, FLOW, "  pull_request:\n", "  workflow_dispatch:\n"),
        (WORKFLOW, FLOW, "  pull_request:\n", "  pull_request:\n    paths: [docs/**]\n"),
        (WORKFLOW, FLOW, "permissions:", "env: {PATH: tools}\npermissions:"),
        (WORKFLOW, FLOW, "fetch-depth: 0", "ref: main"),
        (
            WORKFLOW,
            FLOW,
            "    - name: Install",
            "    - run: echo tools >> $GITHUB_PATH\n    - name: Install",
        ),
        (WORKFLOW, FLOW, "==1.2.0", "==1.1.9"),
        (WORKFLOW, FLOW, "needs: [guard, tests]", "needs: [tests]"),
        (WORKFLOW, FLOW, "  guard:\n    runs", "  tests2:\n    runs"),
        (WORKFLOW, FLOW, "jobs:\n", "jobs: [}\n"),
        (WORKFLOW, FLOW, "  guard:\n", "  guard: {steps: []}\n  guard2:\n"),
        (
            WORKFLOW,
            FLOW,
            "    - run: npm run report\n",
            "    - run: npm run report\n  guard: {steps: []}\n",
        ),
        (WORKFLOW, USES, "owner/cli-guard@v2", "owner/cli-guard@v1"),
        (WORKFLOW, USES, "owner/cli-guard@v2", "other/cli-guard@v3"),
        (WORKFLOW, USES, "owner/cli-guard@v2", f"owner/cli-guard@{'a1' * 20}"),
        (
            WORKFLOW,
            USES,
            "@v2",
            "@v2\n      with: {base: '${{ github.event.pull_request.head.sha }}'}",
        ),
        (WORKFLOW, USES, "owner/cli-guard@v2", "owner/other@v2"),
        (WORKFLOW, USES, "actions/checkout@v4", "evil/checkout@v4"),
        (".gitlab-ci.yml", GITLAB, "test:\n", "cli-guard:\n  script: ['true']\ntest:\n"),
        (
            ".gitlab-ci.yml",
            GITLAB,
            "test:\n",
            "cli-guard:\n  rules: [{when: never}]\ntest:\n",
        ),
        (
            ".gitlab-ci.yml",
            GITLAB,
            "test:\n",
            "workflow: {rules: [{when: never}]}\ntest:\n",
        ),
        (".gitlab-ci.yml", GITLAB, "ref: v1.2", "ref: v1.1"),
        (
            ".gitlab-ci.yml",
            GITLAB,
            "    file: ci/gitlab.yml\n",
            "    file: ci/gitlab.yml\n  - local: x.yml\n",
        ),
        (".gitlab-ci.yml", PIPELINE, "  script:\n", "  allow_failure: true\n  script:\n"),
        (".gitlab-ci.yml", PIPELINE, "merge_request_event", "web"),
        (
            ".gitlab-ci.yml",
            PIPELINE,
            "    - pip install",
            "    - exit 0\n    - pip install",
        ),
        (".gitlab-ci.yml", PIPELINE, "python:3.12", "evil:1"),
        (".circleci/config.yml", CIRCLE, "ignore: main", "only: never"),
        (".circleci/config.yml", CIRCLE, "main..HEAD", "main..HEAD || true"),
        (
            ".circleci/config.yml",
            CIRCLE,
            "      - review:\n          filters: {branches: {ignore: main}}\n",
            "",
        ),
        (".pre-commit-config.yaml", HOOKS, "  - id: cli-guard-pre-push\n", ""),
        (
            ".pre-commit-config.yaml",
            HOOKS,
            "    name: The guard\n",
            "    stages: [manual]\n",
        ),
        (".pre-commit-config.yaml", HOOKS, "    name: The guard\n", "    entry: 'true'\n"),
        (".pre-commit-config.yaml", HOOKS, "    name: The guard\n", "    exclude: .\n"),
        (".pre-commit-config.yaml", HOOKS, "repos:", "exclude: .\nrepos:"),
        (".pre-commit-config.yaml", HOOKS, "v1.2", "v1.1"),
        (".pre-commit-config.yaml", HOOKS, "org/cli-guard", "net/cli-guard"),
        ("prek.toml", 'hooks = [{ id = "cli-guard" }, { id = "x" }]', "cli-guard", "tidy"),
        ("lefthook.yml", LEFTHOOK, "      run: cli", "      skip: true\n      run: cli"),
        ("lefthook.yml", LEFTHOOK, "  parallel: true", "  skip: true"),
        ("package.json", PACKAGE, "cli-guard review", "cli-guard review || :"),
        ("Makefile", MAKE, "\tcli-guard", "\t-cli-guard"),
        ("Makefile", MAKE, "\tcli-guard", "\t# range \\\n\tcli-guard"),
        ("Makefile", MAKE, "\tcli-guard", "# range\n\t-cli-guard"),
        ("Makefile", MAKE, "main..HEAD", "HEAD..HEAD"),
        ("Makefile", MAKE, ".PHONY: guard\n", ".PHONY: guard\nSHELL = true\n"),
        ("Makefile", MAKE, ".PHONY: guard\n", ".PHONY: all\n"),
        ("Makefile", MAKE, ".PHONY: guard\n", ".PHONY: guard\n.IGNORE:\n"),
        ("Makefile", MAKE, "all: guard build", "all: build"),
        ("Makefile", MAKE, "build:\n", "guard:\n\ttrue\nbuild:\n"),
        (
            "Makefile",
            f"{MAKE}guard: tools\ntools: bin\nbin:\n\tmkdir b\n",
            "mkdir b",
            "ln -s c b",
        ),
        (".husky/pre-commit", HUSKY, "npm run build", "exit 0"),
        (".husky/pre-commit", HUSKY, "cli-guard", "true || cli-guard"),
        (".husky/pre-commit", HUSKY, "npm run build", "cli-guard() { :; }"),
        (".husky/pre-commit", HUSKY, "hook pre-commit", "review src"),
        (".githooks/pre-commit", GITHOOK, "hook pre-commit\n", "hook pre-commit\nexit 0\n"),
        ("ci/guard.sh", SCRIPT, "range=$1", "range=HEAD"),
        ("ci/guard.sh", SCRIPT, "set -eu", "set -u"),
        ("ci/guard.sh", SCRIPT, "cli-guard", "echo cli-guard"),
        ("ci/guard.sh", SCRIPT, "cli-guard", '[ -n "$CI" ] || cli-guard'),
        (
            "ci/guard.sh",
            "set -e\nrun=cli-guard\n$run verify\nls\n",
            "verify",
            "verify || true",
        ),
        ("ci/guard.sh", "set -e\ng() { cli-guard review; }\ng\n", "\ng\n", "\ng || true\n"),
        (
            "ci/guard.sh",
            "set -e\nset +e\ncli-guard review\n",
            "review\n",
            "review\nexit 0\n",
        ),
        ("Makefile", "G = cli-guard review\na:\n\t$(G)\n", "\t$(G)", "\t-$(G)"),
        (
            WORKFLOW,
            "env: {G: cli-guard}\njobs: {a: {steps: [{run: $G verify}]}}\n",
            "verify",
            "verify || :",
        ),
        (
            WORKFLOW,
            "jobs: {a: {env: {G: cli-guard}, steps: [{run: $G verify}]}}\n",
            "verify",
            "verify || :",
        ),
        (
            WORKFLOW,
            "jobs: {a: {steps: [{run: pip install cli-guard}, {run: make x}]}}\n",
            "make x",
            "make x || true",
        ),
        (WORKFLOW, FLOW, "jobs:\n", "jobs:\n  guard: {steps: []}\n"),
        (WORKFLOW, USES, "@v2\n", "@v2\n---\na: 1\n"),
        (WORKFLOW, USES, "@v2", f"@v{'9' * 5_000}"),
        ("ci/guard.sh", SCRIPT, "/bin/bash", "/bin/true"),
        ("Makefile", MAKE + "check:\n\t$(MAKE) guard\n", "$(MAKE) guard", "-$(MAKE) guard"),
        (
            "azure-pipelines.yml",
            "steps:\n- script: cli-guard verify\n",
            "verify",
            "verify || true",
        ),
        ("Jenkinsfile", "sh 'cli-guard verify'\n", "sh", "echo"),
    ],
)
def test_an_edit_of_a_call_asks(path: str, text: str, before: str, after: str) -> None:
    (finding,) = edit(path, text, before, after)
    assert (finding.rule, finding.path) == ("policy-hook-removed", path)


@near_misses(
    ("path", "text", "before", "after"),
    [
        (
            WORKFLOW,
            FLOW,
            "# Reviews what is merged.",
            "# Reviews what is merged, all of it.",
        ),
        (WORKFLOW, FLOW, "        # all of it\n", ""),
        (WORKFLOW, FLOW, "name: Review", "name: Review the change"),
        (WORKFLOW, FLOW, "name: guard\non", "name: The guard\non"),
        (WORKFLOW, FLOW, "timeout-minutes: 10", "timeout-minutes: 30"),
        (WORKFLOW, FLOW, "[18, 20]", "[20, 22]"),
        (WORKFLOW, FLOW, "npm test", "npm test || true"),
        (WORKFLOW, FLOW, "npm run report", "npm run other"),
        (WORKFLOW, FLOW, "  tests:\n", "  more:\n    steps: [{run: ls}]\n  tests:\n"),
        (WORKFLOW, FLOW, "./all-green", "./green"),
        (WORKFLOW, FLOW, "==1.2.0", "==1.10"),
        (WORKFLOW, FLOW, "checkout@v4", "checkout@v5"),
        (
            WORKFLOW,
            FLOW,
            "    runs-on: ubuntu-latest\n    timeout-minutes: 10\n",
            "    timeout-minutes: 10\n    runs-on: 'ubuntu-latest'\n",
        ),
        (WORKFLOW, USES, "owner/cli-guard@v2", "owner/cli-guard@v2.1"),
        (WORKFLOW, USES, "on: [pull_request]", "on: [ pull_request ]"),
        (".gitlab-ci.yml", GITLAB, "[npm test]", "[npm run test]"),
        (".gitlab-ci.yml", GITLAB, "ref: v1.2", "ref: v1.3"),
        (".gitlab-ci.yml", GITLAB, "[test]", "[test, deploy]"),
        (".gitlab-ci.yml", PIPELINE, "[npm test]", "['true']"),
        (".pre-commit-config.yaml", HOOKS, "v1.2", "v2"),
        (".pre-commit-config.yaml", HOOKS, 'rev: "1"', 'rev: "2"'),
        (
            ".pre-commit-config.yaml",
            HOOKS,
            "  - id: tidy\n",
            "  - id: tidy\n  - id: more\n",
        ),
        (".pre-commit-config.yaml", HOOKS, "name: The guard", "name: cli-guard"),
        (
            ".pre-commit-config.yaml",
            HOOKS,
            "    name: The guard\n",
            "    name: The guard\n    verbose: true\n",
        ),
        ("lefthook.yml", LEFTHOOK, "npx eslint", "npx eslint ."),
        ("lefthook.yml", LEFTHOOK, "npm test", "npm run test"),
        ("package.json", PACKAGE, '"jest"', '"vitest"'),
        ("package.json", PACKAGE, "1.0.0", "1.0.1"),
        ("Makefile", MAKE, "VERSION = 3", "VERSION = 4"),
        ("Makefile", MAKE, "a.c", "b.c"),
        ("Makefile", MAKE, "RANGE", "# the range\nRANGE"),
        ("Makefile", MAKE, "\tcli-guard", "# range\n\tcli-guard"),
        (
            ".husky/pre-commit",
            HUSKY,
            "hook pre-commit\n",
            "hook pre-commit\nnpx lint-staged || true\n",
        ),
        (".husky/pre-commit", HUSKY, "# The hook.\n", "# The hook of all.\n\n"),
        (".husky/pre-commit", HUSKY, "guard hook", "guard \\\n  hook"),
        ("ci/guard.sh", SCRIPT, "echo done", "echo it is done"),
        (".drone.yml", "steps: [{image: x/cli-guard:1.2}]\n", "1.2", "1.10"),
        ("ci/guard.sh", "prettier cli-guard.toml\n", "prettier", "cat"),
        ("README.md", "Call `cli-guard verify` in CI.\n", "verify", "verify || true"),
        ("src/app.py", 'run("cli-guard verify")\n', "verify", "verify || true"),
        (".husky/post-merge", "echo run cli-guard review\nls\n", "ls", "ls -l"),
        (WORKFLOW, "on: push\njobs: {a: {steps: [{run: ls}]}}\n", "ls", "ls || true"),
    ],
)
def test_an_edit_beside_a_call_is_silent(
    path: str, text: str, before: str, after: str
) -> None:
    assert edit(path, text, before, after) == []


def test_a_new_file_and_a_new_call_are_silent() -> None:
    assert found({}, {WORKFLOW: FLOW, ".husky/pre-commit": HUSKY}) == []
    more = USES + "  also:\n    steps:\n    - run: cli-guard review --range A..B\n"
    assert found({WORKFLOW: USES}, {WORKFLOW: more}) == []


@table(
    ("path", "asks"),
    [
        ("GNUmakefile", True),
        ("prek.toml", True),
        ("lefthook-local.yml", True),
        ("sub/GNUmakefile", False),
    ],
)
def test_a_new_file_that_is_used_in_place_of_a_caller_asks(path: str, asks: bool) -> None:
    callers = {"Makefile": MAKE, ".pre-commit-config.yaml": HOOKS, "lefthook.yml": LEFTHOOK}
    before = {file: f"# 1\n{text}" for file, text in callers.items()}
    assert [each.path for each in found(before, {**callers, path: "x = 1\n"})] == [
        path
    ] * asks


def moved(old: str, new: str, text: str, **fields: str) -> list[Finding]:
    change = FileChange(new, Status.RENAMED, old_path=old, **fields)  # type: ignore[arg-type]
    contents = SnapshotContents({old: text}, {new: text})
    return list(review_calls(ReviewInput("staged", ChangeSet((change,)), contents)))


@examples(
    ("old", "new", "text"),
    [
        (WORKFLOW, ".github/workflows/guard.txt", FLOW),
        (WORKFLOW, ".github/workflows/off/guard.yml", FLOW),
        (WORKFLOW, ".gitea/workflows/guard.yml", FLOW),
        (".pre-commit-config.yaml", "old/.pre-commit-config.yaml", HOOKS),
        (".husky/pre-commit", ".husky/post-commit", HUSKY),
        (".husky/pre-commit", ".husky/pre-commit.off", HUSKY),
        ("ci/guard.sh", "ci/old.sh", SCRIPT),
    ],
)
def test_a_call_that_moves_away_asks(old: str, new: str, text: str) -> None:
    (finding,) = moved(old, new, text)
    assert finding.message == f"{old} calls cli-guard; it is now {new}, which nothing runs"


@near_misses(
    ("old", "new", "text"),
    [
        (WORKFLOW, ".github/workflows/review.yaml", FLOW),
        (".husky/pre-commit", ".githooks/pre-commit", HUSKY.replace("cli", "exec cli")),
        ("docs/a.sh", "docs/b.sh", "ls\n"),
    ],
)
def test_a_call_that_is_still_found_is_silent(old: str, new: str, text: str) -> None:
    assert moved(old, new, text) == []


def test_a_hook_that_git_no_longer_runs_asks() -> None:
    modes = {"old_mode": "100755", "new_mode": "100644"}
    (finding,) = moved(".githooks/pre-push", ".githooks/pre-push", GITHOOK, **modes)
    assert "no longer executable" in finding.message
    assert moved(".husky/pre-push", ".husky/pre-push", HUSKY, **modes) == []
    assert moved("ci/guard.sh", "ci/guard.sh", SCRIPT, **modes) == []


def test_a_deleted_file_and_one_that_is_no_text_ask() -> None:
    (gone,) = found({WORKFLOW: FLOW}, {})
    assert (gone.line, gone.path) == (None, WORKFLOW)
    for kind, after in ((Kind.BINARY, "\0\1"), (Kind.SYMLINK, "other.yml")):
        change = FileChange(
            WORKFLOW, Status.MODIFIED, kind, hunks=(Hunk(1, 1, (), (after,)),)
        )
        contents = SnapshotContents({WORKFLOW: FLOW}, {WORKFLOW: after})
        assert (
            len(list(review_calls(ReviewInput("staged", ChangeSet((change,)), contents))))
            == 1
        )


INDIRECT = """on: push
jobs:
  review:
    steps:
    - run: {}
  test:
    steps:
    - run: ci/test.sh
"""
FILES = {
    "ci/guard.sh": SCRIPT,
    "ci/test.sh": "npm test\n",
    "Makefile": MAKE,
    "package.json": PACKAGE,
    ".github/actions/guard/action.yml": "runs: {using: composite, steps: [{run: cli-guard verify}]}\n",
}


@examples(
    "call",
    [
        "bash ci/guard.sh main",
        "./ci/guard.sh",
        "make -s guard",
        "make all",
        "npm run guard",
        "make V=1 all",
    ],
)
def test_a_call_of_a_file_that_calls_counts_as_well(call: str) -> None:
    (finding,) = edited_beside_files(INDIRECT.format(call), call, f"{call} || true")
    assert finding.path == WORKFLOW


def test_an_action_of_the_repository_that_calls_counts_as_well() -> None:
    flow = INDIRECT.replace("run: {}", "uses: ./.github/actions/guard")
    assert len(edited_beside_files(flow, "    - uses", "    - if: false\n      uses")) == 1


@near_misses("call", ["ci/test.sh", "make build", "npm run test", "bash ci/other.sh"])
def test_a_call_of_another_file_does_not(call: str) -> None:
    assert edited_beside_files(INDIRECT.format(call), call, f"{call} || true") == []


def edited_beside_files(flow: str, before: str, after: str) -> list[Finding]:
    """The findings on a workflow in a change that also has the files, as a snapshot knows no others."""
    old = dict.fromkeys(FILES, "") | {WORKFLOW: flow}
    return found(old, FILES | {WORKFLOW: flow.replace(before, after, 1)})


@table(
    ("path", "text", "before", "after", "says", "line"),
    [
        (
            WORKFLOW,
            FLOW,
            "    runs-on",
            "    if: false\n    runs-on",
            "in job guard: if",
            9,
        ),
        (WORKFLOW, FLOW, "  pull_request:\n", "  push:\n", "in the file: on", 4),
        (WORKFLOW, FLOW, CALL, f"{CALL} || :", "in job guard: step 3: run", 21),
        (
            WORKFLOW,
            FLOW,
            "needs: [guard, tests]",
            "needs: [tests]",
            "takes job all, which needs guard",
            34,
        ),
        (
            ".pre-commit-config.yaml",
            HOOKS,
            "net",
            "com",
            "in hook cli-guard: repo around it, and 1 more",
            2,
        ),
        (
            ".husky/pre-commit",
            HUSKY,
            "cli-guard hook pre-commit",
            "ls",
            "on line 2 before",
            3,
        ),
        ("Makefile", MAKE, "main..HEAD", "HEAD..", "in the makefile: setting RANGE", 1),
    ],
)
def test_the_message_names_what_changes(
    path: str, text: str, before: str, after: str, says: str, line: int
) -> None:
    (finding,) = edit(
        path, text.replace("example.org/cli", "example.net/cli"), before, after
    )
    assert says in finding.message
    assert finding.line == line


def test_the_fingerprint_is_that_of_what_is_done_to_the_call() -> None:
    off = edit(WORKFLOW, FLOW, CALL, f"{CALL} || true")[0].fingerprint
    assert off != edit(WORKFLOW, FLOW, CALL, f"{CALL} || false")[0].fingerprint
    longer = FLOW.replace("jobs:", "# Jobs.\n\njobs:")
    assert off == edit(WORKFLOW, longer, CALL, f"{CALL} || true")[0].fingerprint


def test_of_a_bare_patch_the_lines_tell() -> None:
    def patch(path: str, removed: str, added: str) -> list[Finding]:
        change = FileChange(
            path, Status.MODIFIED, hunks=(Hunk(2, 2, (removed,), (added,)),)
        )
        return list(review_calls(ReviewInput("patch", ChangeSet((change,)), NoContents())))

    call = "cli-guard hook pre-commit"
    assert len(patch(".husky/pre-commit", call, f"{call} || true")) == 1
    assert patch(".husky/pre-commit", call, f"  {call}") == []
    assert patch(".husky/pre-commit", f"# {call}", "") == []
    assert patch("notes.md", call, "") == []


@table(
    ("path", "piece"),
    [
        (".husky/pre-commit", "cli-guard hook "),
        (".husky/pre-commit", "cli-guard hook a\n"),
        (".husky/pre-commit", "$(cli-guard "),
        ("Makefile", "cli-guard: cli-guard\n\tcli-guard $(cli-guard)\n"),
        ("package.json", '{"cli-guard": '),
        (WORKFLOW, "jobs: {cli-guard: "),
        (WORKFLOW, "- cli-guard\n"),
        (".pre-commit-hooks.yaml", "- id: cli-guard\n"),
        (WORKFLOW, "cli-guard/a.sh "),
    ],
    ids=lambda each: each[:20],
)
def test_a_file_of_nothing_but_calls_is_read_to_its_end(path: str, piece: str) -> None:
    text = piece * (200_000 // len(piece))
    assert (
        read_calls(path, text, GuardCalls(ReviewInput("staged", ChangeSet(()))).calls)
        is not None
    )


def test_an_alias_bomb_is_bounded_and_one_that_comes_asks() -> None:
    names = "abcdefghijklmnopqrstuvwxyz"
    bomb = "a: &a [cli-guard]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{last}'] * 9)}]\n"
        for last, name in pairwise(names)
    )
    assert len(found({WORKFLOW: FLOW}, {WORKFLOW: bomb + FLOW})) == 1


def test_in_a_repository_an_edit_of_a_call_needs_a_person(committed: Repo) -> None:
    stage(
        committed,
        {WORKFLOW: FLOW, "ci/guard.sh": SCRIPT, "ci/run": "#!/bin/sh\nci/guard.sh main\n"},
    )
    committed.git("commit", "-qm", "Call the guard")
    stage(committed, {"ci/run": "#!/bin/sh\nci/guard.sh main || true\n"})
    done = guard(committed, "review", "--format", "json").json
    assert done["decision"] == "review"
    assert [each["rule"] for each in done["findings"]] == ["policy-hook-removed"]
    stage(
        committed,
        {
            "ci/run": "#!/bin/sh\nci/guard.sh main\n",
            WORKFLOW: FLOW.replace("npm test", "npm t"),
        },
    )
    assert guard(committed, "review", "--format", "json").json["findings"] == []

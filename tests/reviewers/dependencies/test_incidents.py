"""What is known of incidents, and what of them is seen without a table: rows with near misses."""

import json

from examples import table
from reviewers.dependencies.trees import found, reviewed

WORKFLOW = ".github/workflows/a.yml"
STEP = "jobs:\n  a:\n    steps:\n      - run: {}\n"
IMAGE = "FROM debian:12\nRUN apt-get update && \\\n    apt-get install -y {} && true\n"
INSTALLED = [
    # The file, what a line of it becomes, and the rules that report it.
    ("Dockerfile", IMAGE, "xz-utils=5.6.1-1 curl", ["deps-known-bad"]),
    ("Dockerfile", IMAGE, "xz-utils=5.6.1+really5.4.5-1", []),
    ("Dockerfile", IMAGE, "xz-utils curl", []),
    (
        "a.sh",
        "#!/bin/sh\n{}\n",
        "if true; then apk add xz=5.6.1-r0; fi",
        ["deps-known-bad"],
    ),
    (
        "a.sh",
        "#!/bin/sh\n{}\n",
        'echo "$(pip install -q reqeusts && a)"',
        ["deps-similar-name"],
    ),
    ("a.sh", "#!/bin/sh\n{}\n", "echo apk add xz=5.6.1-r0", []),
    ("Makefile", "a:\n\t{}\n", "uv pip install litellm==1.82.8", ["deps-known-bad"]),
    ("Makefile", "a:\n\t{}\n", "uv pip install litellm==1.82.9", []),
    (WORKFLOW, STEP, "sudo pip install reqeusts==2.0", ["deps-similar-name"]),
    (WORKFLOW, STEP, "python -m pip install requests -r reqeusts.txt", []),
    (WORKFLOW, STEP, "npm i -g electorn@latest", ["deps-similar-name"]),
    (WORKFLOW, STEP, "npm i ./electorn $NAME", []),
    ("README.md", "{}\n", "pip install reqeusts", []),
]


@table(("path", "form", "line", "expected"), INSTALLED)
def test_what_a_command_installs_is_looked_up(
    path: str, form: str, line: str, expected: list[str]
) -> None:
    findings = found(path, form.format("true"), form.format(line), {})
    assert [each.rule for each in findings if each.rule.startswith("deps-")] == expected


def test_what_a_command_installed_before_is_not_told_again() -> None:
    before = IMAGE.format("xz-utils=5.6.1-1 curl")
    assert found("Dockerfile", before, before.replace("curl", "wget"), {}) == []


def lock_of_npm(version: str, brought: str, manifest: str = "") -> dict[str, str]:
    """Return a lock file in which node-ipc has a version, and asks for one more package."""
    packages = {
        "": {"dependencies": {"node-ipc": "^9.0.0"}},
        "node_modules/node-ipc": {
            "version": version,
            "dependencies": {"js-queue": "2.0.2"}
            | ({brought: "^1.0.0"} if brought else {}),
        },
        "node_modules/js-queue": {"version": "2.0.2"},
    }
    if brought:
        packages[f"node_modules/{brought}"] = {"version": "1.0.0"}
    asked = {"node-ipc": "^9.0.0"} | ({manifest: "^1.0.0"} if manifest else {})
    return {
        "package.json": json.dumps({"dependencies": asked}),
        "package-lock.json": json.dumps({"packages": packages}, indent=2),
    }


BROUGHT = [
    # The version that 9.2.1 moves to, what it brings, what the manifest names too, and whether that is told.
    ("9.2.2", "warpeace", "", True),
    ("9.3.0", "warpeace", "", False),  # more than a patch
    ("9.2.2", "lodash", "", False),  # a known package
    ("9.2.2", "@babel/warpeace", "", False),  # only its owner publishes there
    ("9.2.2", "warpeace", "warpeace", False),  # somebody wants it
    ("9.2.2", "", "", False),
]


@table(("version", "brought", "manifest", "is_told"), BROUGHT)
def test_an_unknown_package_beneath_a_patch_is_told(
    version: str, brought: str, manifest: str, is_told: bool
) -> None:
    after = lock_of_npm(version, brought, manifest)
    rules = [each.rule for each in reviewed(lock_of_npm("9.2.1", ""), after).findings]
    assert ("deps-brought-along" in rules) is is_told


def test_a_compiled_list_says_what_brings_a_package() -> None:
    before = "torch==2.0.0\n    # via -r requirements.in\n"
    after = (
        "torch==2.0.1\n    # via -r requirements.in\ntorchtritons==3.0.0\n    # via torch\n"
    )
    rules = [each.rule for each in found("requirements.txt", before, after, {})]
    assert "deps-brought-along" in rules
    direct = after.replace("via torch", "via -r requirements.in")
    rules = [each.rule for each in found("requirements.txt", before, direct, {})]
    assert "deps-brought-along" not in rules

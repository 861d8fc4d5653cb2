"""`cli-guard allow --installs`: one answer for the lock files of a tree at a reviewed commit, and what ends it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from examples import table
from in_process import Terminal, guard
from repositories import Repo, isolated_environment

LOCK = json.dumps({"packages": {"node_modules/a": {"integrity": "sha512-x"}}})
FILES = {
    "package.json": "{}",
    "package-lock.json": LOCK,
    "web/package.json": "{}",
    "web/yarn.lock": "a@1:\n  integrity x\n",
    "web/git/package.json": "{}",
    "web/git/package-lock.json": '{"resolved": "git+ssh://git@example.com/x"}',
    "requirements.txt": "a==1 --hash=sha256:00\n",
    "nested.txt": "-r requirements.txt\na==1 --hash=sha256:00\n",
    "Cargo.toml": "",
    "Cargo.lock": "",
    "go.mod": "module x\n",
    "go.sum": "",
    "pyproject.toml": "",
    "uv.lock": "",
}
NPM = "npm ci --ignore-scripts"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    folder = tmp_path_factory.mktemp("installs")
    (folder / "home").mkdir()
    repo = Repo.create(folder / "repo", isolated_environment(folder / "home"))
    repo.commit("Begin", dict(FILES))
    answer(repo)
    return repo


def answer(repo: Repo) -> None:
    for command in (
        ("trust", "--agents"),
        ("review", "--commit", "HEAD"),
        ("allow", "--installs"),
    ):
        done = guard(repo, *command, stdin=Terminal("yes\n"))
        assert done.code == 0, done.err


def verdict(repo: Repo, command: str) -> str:
    return str(guard(repo, "check-command", command, "--format", "json").json["verdict"])


@table(
    ("passes", "asks"),
    [
        (NPM, "npm ci"),
        (f"{NPM} --no-audit --omit=dev", f"{NPM} --registry https://x.example"),
        (f"{NPM} > /tmp/npm.log 2>&1", f"{NPM} --registry=https://x.example"),
        (f"cd . && {NPM} && npm test", "npm --prefix web ci --ignore-scripts"),
        (f"CI=1 {NPM}", f"NPM_CONFIG_REGISTRY=https://x.example {NPM}"),
        (f"mkdir -p build; {NPM}", f"make deps && {NPM}"),
        (f"{NPM} 2>&1 | tail -5", f"echo {{}} > package-lock.json; {NPM}"),
        (NPM, f"cp web/git/* . && {NPM}"),
        (NPM, f"git checkout other -- package-lock.json; {NPM}"),
        (NPM, f"echo registry=https://x.example > .npmrc; {NPM}"),
        (NPM, f"for i in 1 2; do {NPM}; echo x > package.json; done"),
        (NPM, "npm ci --ignore-scripts=false"),
        (NPM, "npm install --ignore-scripts"),
        (NPM, f"{NPM} evil"),
        (NPM, f"cd web/git && {NPM}"),
        (NPM, f"cd /tmp && {NPM}"),
        (
            "cd web && yarn install --frozen-lockfile --ignore-scripts",
            "cd web && yarn install",
        ),
        (
            "cd web && yarn install --immutable --mode=skip-build",
            "cd web && yarn install --immutable",
        ),
        (
            "pip install -r requirements.txt --require-hashes --only-binary :all:",
            "pip install -r requirements.txt --require-hashes",
        ),
        (
            "python3 -m pip install --require-hashes --only-binary=:all: -r requirements.txt",
            "pip install -r nested.txt --require-hashes --only-binary :all:",
        ),
        (
            "pip install -r requirements.txt --require-hashes --only-binary :all: --no-deps",
            "pip install -r requirements.txt --require-hashes --only-binary :all: -i https://x.example",
        ),
        ("uv sync --frozen --no-build --extra dev", "uv sync --frozen"),
        (
            "cd web && yarn install --immutable --mode=skip-build --inline-builds",
            "cd web && yarn install --immutable --mode=skip-build --mode=update-lockfile",
        ),
        (
            "pip install --requirement requirements.txt --require-hashes --only-binary :all:",
            "pip install -r requirements.txt --require-hashes --only-binary :all: --only-binary x",
        ),
        ("cargo fetch --locked", "cargo fetch"),
        ("go mod download", "go mod download x.example/y@latest"),
    ],
)
def test_it_installs_what_is_locked_and_nothing_else(
    world: Repo, passes: str, asks: str
) -> None:
    assert verdict(world, passes) == "allow", passes
    assert verdict(world, asks) == "review", asks


@pytest.mark.parametrize(
    "change",
    [
        lambda repo: repo.write("package-lock.json", "{}"),
        lambda repo: repo.write("package.json", '{"dependencies": {"b": "1"}}'),
        lambda repo: repo.write(".npmrc", "registry=https://x.example"),
        lambda repo: (repo.path / "package-lock.json").unlink(),
        lambda repo: edit(repo.path / ".git/cli-guard/audit.jsonl", '"allow"', '"deny"'),
        lambda repo: edit(
            Path(repo.env["HOME"]) / ".local/state/cli-guard/trees.json", "installs_at", "x"
        ),
        lambda repo: guard(repo, "allow", "--remove", "installs"),
        lambda repo: guard(repo, "trust", "--revoke", "--agents"),
    ],
)
def test_any_change_asks_again(committed: Repo, change: Callable[[Repo], object]) -> None:
    committed.commit("Lock", {"package.json": "{}", "package-lock.json": LOCK})
    answer(committed)
    assert verdict(committed, NPM) == "allow"
    change(committed)
    assert verdict(committed, NPM) == "review"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_it_needs_trust_a_review_and_a_lock_file(committed: Repo) -> None:
    def ask(stdin: str = "yes\n") -> str:
        return guard(committed, "allow", "--installs", stdin=Terminal(stdin)).err

    assert "not trusted as a workspace" in ask()
    guard(committed, "trust", "--agents", stdin=Terminal("yes\n"))
    assert "no review in the audit log" in ask()
    guard(committed, "review", "--commit", "HEAD")
    assert "no lock file" in ask()
    committed.commit("Lock", {"package.json": "{}", "package-lock.json": LOCK})
    assert "no review in the audit log" in ask()
    guard(committed, "review", "--commit", "HEAD")
    assert guard(committed, "allow", "--installs", stdin=Terminal("no\n")).code == 1
    assert verdict(committed, NPM) == "review"
    assert guard(committed, "allow", "--installs", "--user").code == 2
    assert ask() == ""
    assert guard(committed, "allow", "--list").out == "installs\n"


def test_what_a_lock_file_leaves_open_is_shown(world: Repo) -> None:
    done = guard(world, "allow", "--installs", stdin=Terminal("yes\n"))
    assert "still asks: web/git/package-lock.json" in done.out
    assert "still asks: nested.txt" in done.out

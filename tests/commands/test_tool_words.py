"""Words handed to the tools of a trusted tree: what may be a command, take work away or leave the tree asks.

The rows are in `tool_words.toml`. Attacks that need nothing but make, Git and a shell are also run, to show that they
would do harm.
"""

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from examples import examples, near_misses
from in_process import guard
from repositories import Repo, isolated_environment

from cli_guard.commands import judge
from cli_guard.commands.model import Context, Profile
from cli_guard.execution.context import command_context
from cli_guard.model import Decision

ROWS = tomllib.loads((Path(__file__).parent / "tool_words.toml").read_text())
FILES = (
    "src/a.py src/b.py src/eval.py src/train.py src/x.js src/Main.java tests/test_login.py tests/login.spec.ts"
    " tests/test_a.rb tests/upload.test.ts spec/login_spec.rb test/release_test.exs docs/index.md README.md manage.py"
    " scripts/deploy.sh scripts/x.sh scripts/x.js gradlew bin/rails"
).split()
MAKEFILE = """\
.PHONY: test all clean
PYTHON ?= python3
test:
\t$(PYTHON) -m pytest --version
all:
\t$(CC) -c x.c
clean:
\trm -rf $(BUILD_DIR)
"""
NODE_PROGRAMS = (
    "standard-version del-cli shx localtunnel semantic-release vsce sst prisma gh-pages lerna turbo ng depcheck rimraf"
    " trash mv-cli replace-in-file tsup nodemon concurrently webpack parcel eleventy vitest jsdoc np release-it surge"
    " firebase drizzle-kit typeorm sequelize-cli knex tsc prettier wrangler vite eslint jest playwright nx frob"
).split()
HARMFUL = (
    'make PYTHON="git commit --no-verify -qam x #" test',
    'make PYTHON="git clean -fdxq #" test',
    'make CC="git checkout -q -- src #" all',
    "make BUILD_DIR=src clean",
    "make BUILD_DIR=notes.txt clean",
    "npx del-cli src",
    "node_modules/.bin/del-cli src",
    "git stash -q && git merge -q 'stash@{0}'",
    "git add -A && git stash -q && git merge -q stash",
    "git reset -q --soft $(git stash create)",
    "cp -a data d2 && rm -rf d2/*",
    "cp -P data d2; cp README.md d2/victim",
    "git switch -q evil && echo x > cfg/victim",
    "git merge -q evil; cp README.md cfg/victim",
    "git checkout -q evil -- cfg && echo x > cfg/victim",
    ": > notes.txt",
    "cat /dev/null > notes.txt",
    "grep -v n notes.txt > notes.txt",
    "sort < notes.txt > notes.txt",
    "sed -i 's/.*//' notes.txt",
    "find . -name 'notes.*' -exec sh -c ': > {}' \\;",
    "{rm,-rf,src}",
    "cp /dev/null notes.txt",
    "install /dev/null notes.txt",
    "mv -f a.txt notes.txt",
    "git show HEAD:src/a.py > src/a.py",
)


def make_world(folder: Path) -> Repo:
    """Make a project with work that is not recorded, a link that leads out, and a branch with another."""
    (folder / "home").mkdir()
    (folder / "outside").mkdir()
    (folder / "outside" / "victim").write_text("victim\n")
    repo = Repo.create(folder / "repo", isolated_environment(folder / "home"))
    (repo.path / "data").symlink_to("../outside")
    written = dict.fromkeys(FILES, "x\n")
    ignored = ".venv/\nnode_modules/\nbuild/\ndist/\nsite/\ncoverage/\n"
    written |= {"Makefile": MAKEFILE, "package.json": "{}", ".gitignore": ignored}
    repo.commit("Begin", written)
    repo.git("branch", "feature")
    repo.git("remote", "add", "origin", "https://git.example.com/team/app.git")
    repo.git("switch", "-qc", "evil")
    (repo.path / "cfg").symlink_to("../outside")
    repo.git("add", "cfg")
    repo.git("commit", "-qm", "Add a link")
    repo.git("switch", "-q", "main")
    for name, text in {
        "src/a.py": "x\ny\n",
        "src/new.py": "n\n",
        "notes.txt": "notes\n",
        "a.txt": "a\n",
        "build/x": "",
        "dist/x": "",
    }.items():
        repo.write(name, text)
    for name in NODE_PROGRAMS:
        program = repo.path / "node_modules" / ".bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text('#!/bin/sh\nrm -rf "$@"\n')
        program.chmod(0o755)
    for name in ("python", "python3", "pytest", "flask"):
        repo.write(f".venv/bin/{name}", "#!/bin/sh\n")
    guard(repo, "install")
    return repo


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    return make_world(tmp_path_factory.mktemp("tools"))


def context_of(repo: Repo) -> Context:
    return command_context(repo.path, repo.env, profile=Profile.WORKSPACE)


def decide(repo: Repo, command: str) -> Decision:
    return judge(command, context_of(repo)).verdict


@pytest.fixture(scope="module")
def given(world: Repo) -> Context:
    """The context of a command in it, for all rows: nothing changes there."""
    return context_of(world)


@examples("command", ROWS["asks"])
def test_a_word_that_does_more_asks(given: Context, command: str) -> None:
    assert judge(command, given).verdict is not Decision.ALLOW


@near_misses("command", ROWS["passes"])
def test_a_word_that_only_looks_so_passes(given: Context, command: str) -> None:
    assert judge(command, given).verdict is Decision.ALLOW


def test_an_abort_asks_where_conflicts_were_resolved(tmp_path: Path) -> None:
    repo = make_world(tmp_path)
    repo.git("checkout", "-q", "--", "src/a.py")
    repo.git("switch", "-qc", "other")
    repo.commit("One", {"src/b.py": "one\n"})
    repo.git("switch", "-q", "main")
    repo.commit("Two", {"src/b.py": "two\n"})
    subprocess.run(
        ("git", "merge", "-q", "other"),
        cwd=repo.path,
        env=repo.env,
        check=False,
        capture_output=True,
    )
    assert decide(repo, "git merge --abort") is Decision.ALLOW
    repo.write("src/b.py", "both\n")
    assert decide(repo, "git merge --abort") is Decision.REVIEW
    repo.git("add", "src/b.py")
    assert decide(repo, "git merge --abort") is Decision.REVIEW


def canary(repo: Repo) -> str:
    """What the attacks are after: work that is not recorded, a file outside, and what the branch holds."""
    paths = [repo.path / name for name in ("src/a.py", "src/new.py", "notes.txt")]
    paths.append(repo.path.parent / "outside" / "victim")
    held = [path.read_text() if path.exists() else "gone" for path in paths]
    return "".join((*held, repo.git("rev-parse", "HEAD")))


@pytest.mark.slow
@examples("command", [each for each in HARMFUL if shutil.which(each.split()[0])])
def test_what_would_do_harm_asks(
    world: Repo, tmp_path_factory: pytest.TempPathFactory, command: str
) -> None:
    folder = tmp_path_factory.mktemp("harm")
    shutil.copytree(world.path.parent, folder, symlinks=True, dirs_exist_ok=True)
    repo = Repo(folder / "repo", world.env)
    assert decide(repo, command) is not Decision.ALLOW
    before = canary(repo)
    subprocess.run(
        ("bash", "-c", command),
        cwd=repo.path,
        env=repo.env,
        check=False,
        capture_output=True,
    )
    assert canary(repo) != before

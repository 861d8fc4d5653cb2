"""What nobody needs to be asked about in a trusted work tree, each beside a neighbour that still asks."""

from collections.abc import Callable
from pathlib import Path

import pytest
from examples import table
from repositories import Repo, isolated_environment

from cli_guard.commands import judge
from cli_guard.commands.model import Profile
from cli_guard.execution.context import command_context
from cli_guard.execution.own_programs import find_own_programs
from cli_guard.model import Decision

FILES = {
    "pyproject.toml": '[project.scripts]\nshopd = "shop:main"\nls = "shop:main"\ntaken = "shop:main"\n',
    "setup.cfg": "[options.entry_points]\nconsole_scripts =\n    oldshop = shop:main\n",
    "package.json": '{"name": "@corp/shop", "bin": "cli.js"}',
    "packages/a/package.json": '{"bin": {"shop-a": "a.js"}}',
    "Cargo.toml": '[package]\nname = "shop-rs"\n[[bin]]\nname = "shop-bin"\n',
    "go.mod": "module x\n",
    "cmd/shopctl/main.go": "",
    "uv.lock": "",
    "src/app.py": "",
    "compose.yaml": "services: {}\n",
}
NAMES = {
    "shopd",
    "ls",
    "taken",
    "oldshop",
    "shop",
    "shop-a",
    "shop-rs",
    "shop-bin",
    "shopctl",
}
Judge = Callable[[str], Decision]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    folder = tmp_path_factory.mktemp("questions")
    (folder / "home").mkdir()
    repo = Repo.create(folder / "shop", isolated_environment(folder / "home"))
    repo.commit("Begin", dict(FILES))
    repo.write("node_modules/.bin/tsd-like", "")
    other = folder / "bin" / "taken"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    repo.env["PATH"] = f"{other.parent}:{repo.env['PATH']}"
    return repo


@table(
    ("passes", "asks"),
    [
        # The project's own programs
        ("shopd --now", "frobd --now"),
        ("shopctl serve --config src/app.py", "shopctl serve --config /elsewhere/x"),
        ("oldshop", "taken"),
        ("uv run shop-tool", "uv run taken"),
        ("uv run shop-tool x", "npx shop-tool x"),
        ("tsd-like --now", "release-like --now"),
        ("hatch run cov:integration", "hatch run cov:rm x"),
        ("hatch run cov:integration", "hatch run cov:publish"),
        # Help
        ("frobd --help", "frobd --help all"),
        ("frobd --version", "npx frobd --version"),
        # Containers of the project
        ("docker compose run --rm test -v", "docker compose run --rm -v /:/h test -v"),
        ("docker compose run web frobd --now", "docker compose run web git push"),
        (
            "docker compose exec web /app/bin/x",
            "docker compose -f /x.yml exec web /app/bin/x",
        ),
        ("docker exec shop-web-1 ls", "docker exec other-web-1 ls"),
        ("docker restart shop-db-1", "docker restart shop-db-1 other-db-1"),
        ("docker stop shop-db-1", "docker rm -f shop-db-1"),
        (
            "docker exec shop-db-1 psql -c 'select 1'",
            "docker exec shop-db-1 psql -c 'drop table x'",
        ),
        # Names of packages, patterns and routes
        ("bun -F x test", "bun -F x add y"),
        ("rspec -e /x/", "rspec -e /x/ /elsewhere/spec"),
        ("rails routes --route /users", "rails runner --route /users"),
        ("pytest -k /users", "pytest --rootdir /users"),
        # What builds do by themselves
        ("dotnet restore", "dotnet restore --source https://x.example"),
        ("go mod tidy", "go mod tidy -modfile=/elsewhere/go.mod"),
        (
            "mkdir -p .github/workflows",
            "mkdir -p .github/workflows && touch .github/workflows/a.yml",
        ),
        (
            "for f in $(git diff --name-only); do python -m py_compile $f; done",
            "for f in $(cat list); do python -m py_compile $f; done",
        ),
        # Temporary files
        ("ls > $TMPDIR/x", "ls > $WORKDIR/x"),
        ("rm -rf $TMPDIR/x", "rm -rf $TMPDIR/*"),
        ("cat ${TMPDIR:-/tmp}/x", "TMPDIR=/etc; ls > $TMPDIR/x"),
        ("T=$(mktemp -d); ls > $T/x; rm -rf $T", "T=$(mktemp -d ../x.XXXX); ls > $T/x"),
        ("T=$(mktemp -d) && cd $T && touch a", "T=$(mktemp -d) && cd $T/.. && touch a"),
        (
            "T=$(mktemp --suffix=.py); cp src/app.py $T",
            "T=$(mktemp /etc/XXXX); cp src/app.py $T",
        ),
        ("cp src/app.py /tmp", "cp src/app.py /srv"),
        # What `exec` has started
        ("cli-guard exec stop 4711", "cli-guard exec stop --all"),
        ("cli-guard stop 4711", "kill 1"),
    ],
)
def test_it_passes_and_its_neighbour_asks(world: Repo, passes: str, asks: str) -> None:
    given = command_context(world.path, world.env, profile=Profile.WORKSPACE)
    assert judge(passes, given).verdict is Decision.ALLOW, passes
    assert judge(asks, given).verdict is not Decision.ALLOW, asks


def test_the_manifests_name_the_programs(world: Repo, tmp_path: Path) -> None:
    assert find_own_programs(world.path) == NAMES
    for name in ("pyproject.toml", "setup.cfg", "package.json", "Cargo.toml"):
        (tmp_path / name).write_text("[[[{")
    assert not find_own_programs(tmp_path)

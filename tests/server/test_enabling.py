"""`cli-guard server disable` and `enable` change one key of the user's own file, and nothing else of it."""

from pathlib import Path
from typing import Any

from examples import table
from repositories import Repo
from watching import eventually


def own_file(repo: Repo) -> Path:
    return Path(repo.env["HOME"]) / ".config" / "cli-guard" / "config.toml"


def test_a_disabled_server_is_stopped_and_not_used(committed: Repo, servers: Any) -> None:
    servers.start(committed)
    done = committed.guard("server", "disable", env=servers.env)
    assert (done.code, done.out) == (
        0,
        f"cli-guard: server: disabled in {own_file(committed)}\n",
    )
    assert own_file(committed).read_text() == "[server]\nenabled = false\n"
    assert eventually(lambda: not servers.processes())
    assert committed.guard("server", "start", env=servers.env).code == 2
    assert committed.guard("server", "enable", env=servers.env).code == 0
    assert own_file(committed).read_text() == "[server]\nenabled = true\n"
    servers.start(committed)


@table(
    ("before", "after"),
    [
        ('[agent]\nprofile = "strict"\n', "{before}\n[server]\nenabled = false\n"),
        ("[server]\nprewarm = false\n", "[server]\nenabled = false\nprewarm = false\n"),
        (
            "[server]\n# why\nprewarm = false\nenabled = true # yes\n[git]\n",
            "[server]\n# why\nprewarm = false\nenabled = false\n[git]\n",
        ),
        ("[git]\n[server]\nenabled=false\n", "{before}"),
        ("[ server ]\nprewarm = true\n", None),
    ],
)
def test_all_else_is_kept(
    committed: Repo, servers: Any, before: str, after: str | None
) -> None:
    own_file(committed).parent.mkdir(parents=True, exist_ok=True)
    own_file(committed).write_text(before)
    done = committed.guard("server", "disable", env=servers.env)
    text = own_file(committed).read_text()
    if after is None:
        assert (done.code, text) == (2, before)
        assert "write it there by hand: [server] enabled = false" in done.err
    else:
        assert (done.code, text) == (0, after.format(before=before))

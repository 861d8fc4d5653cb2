"""A repository in which every setting, attribute and hook that names a program names one that leaves a mark."""

from dataclasses import dataclass
from pathlib import Path

from repositories import Repo

# What a configuration or the environment can make Git run while it only reads.
SETTINGS = (
    "diff.external",
    "diff.driver.command",
    "diff.driver.textconv",
    "core.fsmonitor",
    "core.pager",
    "pager.diff-index",
    "pager.log",
    "filter.driver.clean",
    "filter.driver.smudge",
    "filter.driver.process",
    "filter.odd name.clean",
    "core.sshCommand",
    "credential.helper",
    "gpg.program",
    "core.editor",
    "interactive.diffFilter",
    "core.askPass",
    "core.alternateRefsCommand",
    "uploadpack.packObjectsHook",
)
ALIASES = ("log", "cat-file", "rev-list", "blame", "diff-tree")
VARIABLES = (
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "PAGER",
    "GIT_SSH_COMMAND",
    "GIT_ASKPASS",
)
TRACES = ("GIT_TRACE", "GIT_TRACE2_EVENT", "GIT_TRACE_SETUP")
HOOKS = ("post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-commit")


@dataclass(frozen=True)
class Traps:
    """The traps of one repository; `env` has those of the environment."""

    folder: Path
    env: dict[str, str]

    @classmethod
    def set(cls, repo: Repo, folder: Path) -> "Traps":
        program = folder / "program"
        program.write_text(
            f'#!/bin/sh\necho "$0 $*" >> "{folder}/ran"\ncat "$1" 2>/dev/null\nexit 0\n'
        )
        program.chmod(0o755)
        # A folder of hooks elsewhere, and the usual one.
        hooks = folder / "hooks"
        hooks.mkdir()
        for place in (hooks, repo.path / ".git" / "hooks"):
            for name in HOOKS:
                (place / name).unlink(missing_ok=True)
                (place / name).symlink_to(program)
        for name in SETTINGS:
            repo.git("config", name, str(program))
        for name in ALIASES:
            repo.git("config", f"alias.{name}", f"!{program}")
        repo.git("config", "filter.driver.required", "true")
        repo.git("config", "log.showSignature", "true")
        repo.git("config", "core.hooksPath", str(hooks))
        (repo.path / ".git" / "info" / "attributes").write_text(
            '*.py diff=driver filter=driver\n"new name.py" filter=odd-name\n'
        )
        named = dict.fromkeys(VARIABLES, str(program))
        return cls(folder, named | dict.fromkeys(TRACES, str(folder / "trace")))

    def sprung(self) -> str:
        """What ran, or was written down of what ran."""
        ran = (self.folder / name for name in ("ran", "trace"))
        return "".join(each.read_text() for each in ran if each.exists())

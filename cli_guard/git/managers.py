"""Find what other hook managers run, from their files: Husky (9.1), lefthook (2.2), pre-commit and prek."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from cli_guard.git import hooks
from cli_guard.git.hooks import FRAMEWORK, HookState, contents_of
from cli_guard.hooks import MESSAGE, PUSH, REVIEW_HOOKS
from cli_guard.lazy import dataclass
from cli_guard.repository.protocol import Repository

KINDS = ("yml", "yaml", "json", "toml")
LEFTHOOK = [f"{dot}lefthook.{kind}" for dot in ("", ".", ".config/") for kind in KINDS]
FRAMEWORKS = (".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml")
# The stages of the ids in .pre-commit-hooks.yaml.
IDS = {each.framework_id: each.name for each in REVIEW_HOOKS}
# Comments do not count.
CALL = re.compile(rb"(?m)^[^#\n]*\bcli[-_]guard['\"]?\s+hook\s+([a-z-]+)")
ID = re.compile(
    rb"(?m)^[^#\n]*\bid['\"]?\s*[:=]\s*['\"]?(%s)(?![\w-])" % "|".join(IDS).encode()
)
MENTION = re.compile(rb"(?m)^[^#\n]*\bcli[-_]guard\b")
STAGES = tuple(IDS.values())
ARGUMENTS = {MESSAGE: " {1}", PUSH: " {1} {2}\n      use_stdin: true"}


@dataclass(frozen=True, slots=True)
class Manager:
    """A manager by its file or folder: the stages that call cli-guard, whether Git runs it, what sets it up."""

    name: str
    place: str
    stages: frozenset[str]
    active: bool
    setup: str

    def missing_lines(self) -> Iterator[str]:
        """Yield for each other stage what adds cli-guard: a command, or lines of lefthook.yml."""
        for event in (each for each in REVIEW_HOOKS if each.name not in self.stages):
            call = f"cli-guard hook {event.name}"
            arguments = ARGUMENTS.get(event.request, "")
            if self.name == "Husky":
                line = f'{call} "$@"' if arguments else call
                file = f"{self.place}/{event.name}"
                yield f"echo {shlex.quote(line)} >> {shlex.quote(file)}"
            else:
                yield f"{event.name}:\n  jobs:\n    - run: {call}{arguments}"


def called_stages(*paths: Path) -> frozenset[str]:
    """Return the stages for which files call cli-guard; all of them if it is named in another way."""
    texts = [contents_of(path) or b"" for path in paths]
    return frozenset(
        named_stages(texts) or (STAGES if any(map(MENTION.search, texts)) else ())
    )


def named_stages(texts: Iterable[bytes]) -> set[str]:
    found = {
        name.decode() for text in texts for name in (*ID.findall(text), *CALL.findall(text))
    }
    return {IDS.get(name, name) for name in found} & set(STAGES)


def is_message_hook_next(repository: Repository, env: Mapping[str, str]) -> bool:
    """Return whether Git commits (else it names no index), and the commit-msg hook is ours, maybe in a framework."""
    if "GIT_INDEX_FILE" not in env or "SKIP" in env:
        return False
    state = hooks.state_of(repository.common_dir / "hooks", "commit-msg")
    texts = (contents_of(repository.root / name) or b"" for name in FRAMEWORKS)
    is_ours = state.owner == "ours" or (
        state.framework != "" and "commit-msg" in named_stages(texts)
    )
    return is_ours and not hooks.hooks_path_settings(repository)


def find_managers(repository: Repository) -> list[Manager]:
    """Return the managers whose files the work tree has."""
    if repository.bare:
        return []
    found = []
    root = repository.root
    configured = hooks.configured_folder(repository)
    scripts = [
        contents_of(repository.common_dir / "hooks" / name) or b"" for name in STAGES
    ]
    folder = root / (configured[1] if configured else ".husky")
    folder = folder.parent if folder.name == "_" else folder
    # `_` is Husky's own part, which `npx husky` makes in each clone.
    is_set_up = any((folder / "_" / name).is_file() for name in ("h", "husky.sh"))
    if is_set_up or (folder == root / ".husky" and folder.is_dir()):
        stages = frozenset(name for name in STAGES if called_stages(folder / name))
        active = is_set_up and configured is not None
        found.append(
            Manager("Husky", os.path.relpath(folder, root), stages, active, "npx husky")
        )
    if files := [name for name in LEFTHOOK if (root / name).is_file()]:
        local = (name.replace("lefthook.", "lefthook-local.") for name in LEFTHOOK)
        stages = called_stages(*(root / name for name in (*files, *local)))
        active = any(b"lefthook" in text for text in scripts)
        found.append(Manager("lefthook", files[0], stages, active, "lefthook install"))
    for name in (name for name in FRAMEWORKS if (root / name).is_file()):
        program = "prek" if name == "prek.toml" else "pre-commit"
        stages = called_stages(root / name)
        setup = " -t ".join((f"{program} install", *sorted(stages)))
        found.append(
            Manager(program, name, stages, any(map(FRAMEWORK.search, scripts)), setup)
        )
    return found


def find_runners(state: HookState, managers: list[Manager]) -> Iterator[str]:
    """Yield the programs through which the hook that Git finds in its folder runs cli-guard."""
    if state.owner == "ours":
        yield (
            f"cli-guard, run first by {state.framework}" if state.framework else "cli-guard"
        )
    if (state.path == state.slot and state.owner != "foreign") or not os.access(
        state.path, os.X_OK
    ):
        return
    script = contents_of(state.path) or b""
    called = called_stages(state.path)
    for each in managers:
        runs = each.active if each.name == "Husky" else b"lefthook" in script
        if state.name in each.stages and (
            state.framework if each.place in FRAMEWORKS else runs
        ):
            yield f"cli-guard, by {state.framework or each.name}"
            called = frozenset()
    if state.name in called and not state.framework:
        yield "another program that calls cli-guard"

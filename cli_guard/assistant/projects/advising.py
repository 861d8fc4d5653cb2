"""Advice: the command that a request asks for, from what the repository says, each word of it explained; never run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cli_guard.assistant.projects.asking import COMMON, Asked, asked, git_recipe
from cli_guard.assistant.projects.commands import commands_in
from cli_guard.assistant.projects.covering import tests_for
from cli_guard.assistant.projects.covering.running import one_test
from cli_guard.assistant.projects.explaining import UNDEFINED, explained, words
from cli_guard.assistant.projects.files import Files, folder_of, quoted
from cli_guard.assistant.projects.model import Advice, ProjectCommand, Purpose
from cli_guard.assistant.projects.purposes import listed, purpose_of_text, words_of
from cli_guard.model import Confidence
from cli_guard.secrets.redact import redact

MOST_ALTERNATIVES = 3


def about_git(request: str) -> bool:
    """Does a request ask for something that a Git command does, and that no file of a repository tells?"""
    return git_recipe(asked(request, frozenset(), frozenset(), frozenset())) is not None


def advise(request: str, texts: Mapping[str, str]) -> Advice:
    """What to type for what a request asks, as text with its source; nothing is run.

    Answers for test, lint, format, type check, build, run, install, docs, clean, release and the like, for one test or
    the tests of a path, explains a command that the request quotes, and knows what developers ask about Git. Where the
    files tell nothing, `command` is None, and `looked_at` says what was read. Never raises for what a file holds.
    """
    files = Files(texts)
    commands = commands_in(files)
    programs = frozenset(words()) | listed("known") | {each.command.split(" ", 1)[0] for each in commands}
    wanted = asked(request, texts.keys(), files.folders, programs)
    defined = _defined(commands)
    if wanted.explain:
        return _explanation(wanted.explain, commands, defined, files)
    recipe = git_recipe(wanted)
    if recipe:
        found, filled = recipe
        given = {name: quoted(word) if "<" not in word else word for name, word in filled.items()}
        given["lines"] = filled["lines"]
        others = tuple(ProjectCommand("other", _fill(each, given), "", 0) for each in found.alternatives)
        command = _fill(found.command, given)
        return Advice(
            command,
            None,
            "other",
            explained(command),
            others[:MOST_ALTERNATIVES],
            assumed=_placeholders(command),
            looked_at=(),
            confidence=Confidence.HIGH,
            note=found.note,
        )
    if wanted.purpose == "test" and (wanted.paths or wanted.test or wanted.one_test):
        advice = _some_tests(wanted, commands, defined, files)
        if advice:
            return advice
        missing = ", ".join(wanted.paths) or wanted.test
        whole = _chosen(wanted, commands, defined, files)
        if missing and whole.command:
            nothing = (
                f"no test {'for' if wanted.paths else 'called'} {missing} was found: this runs all of them"
            )
            return replace(whole, assumed=nothing, confidence=Confidence.LOW)
        return whole
    return _chosen(wanted, commands, defined, files)


def _fill(command: str, given: Mapping[str, str]) -> str:
    for name, word in given.items():
        command = command.replace("{" + name + "}", word)
    return command


def _placeholders(command: str) -> str | None:
    return "the words in < > are for you to fill in" if "<" in command else None


def _defined(commands: Sequence[ProjectCommand]) -> dict[str, str]:
    """What each task of the repository is, for the explanation of a command that runs it."""
    return {
        each.command: f"defined in {each.path}:{each.line}: {each.detail or 'no commands of its own'}"
        for each in commands
        if each.origin == "task"
    }


def _explanation(
    command: str, commands: Sequence[ProjectCommand], defined: Mapping[str, str], files: Files
) -> Advice:
    plain = " ".join(command.split())
    known = next((each for each in commands if each.command == plain), None)
    shown = redact(command)
    parts = explained(shown, defined)
    program = plain.split(" ", 1)[0]
    sure = Confidence.HIGH if known or program in words() else Confidence.MEDIUM
    undefined = any(UNDEFINED in part.meaning for part in parts)
    return Advice(
        shown,
        (known.path, known.line) if known else None,
        known.purpose if known else purpose_of_text(plain),
        parts,
        assumed=f"the files of the repository do not define {plain}" if undefined else None,
        looked_at=files.looked_at,
        confidence=Confidence.LOW if undefined else sure,
    )


def _some_tests(
    wanted: Asked, commands: Sequence[ProjectCommand], defined: Mapping[str, str], files: Files
) -> Advice | None:
    """How the tests of a path, a test by its name, or one test at all are run; None if there are none."""
    setup = _setup("test", "", commands)
    if wanted.paths and not wanted.test:
        covering = tests_for(wanted.paths, (), files.texts)
        if covering.command:
            first = covering.tests[0]
            missing = f"no test was found for {', '.join(covering.uncovered)}" if covering.uncovered else None
            sure = Confidence.HIGH if first.strength == "strong" else Confidence.MEDIUM
            return Advice(
                redact(covering.command),
                (first.path, 1),
                "test",
                explained(covering.command, defined),
                _alternatives("test", covering.command, commands),
                setup,
                missing or f"these are the tests: {first.path} {first.reason}",
                tuple(dict.fromkeys((*(test.path for test in covering.tests), *files.looked_at))),
                sure,
            )
        return None
    single = one_test(wanted.test, files.texts, wanted.paths)
    if single is None:
        return None
    command, path, line = single
    return Advice(
        redact(command),
        (path, line),
        "test",
        explained(command, defined),
        _alternatives("test", command, commands),
        setup,
        None if wanted.test else "a test of this repository as an example: put the one you want in its place",
        tuple(dict.fromkeys((path, *files.looked_at))),
        Confidence.HIGH if wanted.test else Confidence.MEDIUM,
    )


def _chosen(
    wanted: Asked, commands: Sequence[ProjectCommand], defined: Mapping[str, str], files: Files
) -> Advice:
    """The command of a purpose, or the task that the request names."""
    named = _by_name(wanted, commands)
    candidates = [each for each in commands if each.purpose == wanted.purpose] if wanted.purpose else []
    near = _nearest(wanted.paths, candidates)
    tool = next((each for each in candidates if wanted.words & set(each.command.split()) - COMMON), None)
    best = named or near or tool or next(iter(candidates), None)
    if best is None:
        return Advice(None, None, wanted.purpose or "other", looked_at=files.looked_at)
    others = _alternatives(best.purpose, best.command, commands)
    told = best.documented or (
        best.origin in ("docs", "task") and not (near is None and folder_of(best.path))
    )
    sure = Confidence.HIGH if told or best.purpose == "docs" else Confidence.MEDIUM
    return Advice(
        best.command,
        (best.path, best.line),
        best.purpose,
        explained(best.command, defined),
        others,
        _setup(best.purpose, best.command, commands),
        _assumed(best, wanted),
        files.looked_at,
        Confidence.LOW if best.origin == "ci" else sure,
        best.detail or None,
    )


def _by_name(wanted: Asked, commands: Sequence[ProjectCommand]) -> ProjectCommand | None:
    """The task whose name the request says: `typing` in "run the typing check", "integration tests"."""
    spoken = wanted.words - COMMON
    scored = []
    for place, each in enumerate(commands):
        if wanted.purpose and each.purpose not in (wanted.purpose, "other") and each.name not in spoken:
            continue
        own = set(words_of(each.name)) - COMMON
        hits = len(own & {part for word in spoken for part in words_of(word)})
        if (
            not own
            or not hits
            or (wanted.purpose and each.purpose == wanted.purpose and hits < len(own) and hits < 2)
        ):
            continue
        if not wanted.purpose or each.purpose == wanted.purpose or each.name in wanted.words:
            scored.append((-hits, len(own), place, each))
    return min(scored, key=lambda each: each[:3])[3] if scored else None


def _nearest(paths: Sequence[str], commands: Sequence[ProjectCommand]) -> ProjectCommand | None:
    """Of the commands of a part of the repository the one whose part holds the path."""
    for path in paths:
        for each in commands:
            folder = each.path.rpartition("/")[0]
            if folder and path.startswith(f"{folder}/"):
                return each
    return None


def _alternatives(
    purpose: Purpose, command: str, commands: Sequence[ProjectCommand]
) -> tuple[ProjectCommand, ...]:
    return tuple(each for each in commands if each.purpose == purpose and each.command != command)[
        :MOST_ALTERNATIVES
    ]


def _setup(purpose: Purpose, command: str, commands: Sequence[ProjectCommand]) -> str | None:
    """What has to be installed before, if the repository says how."""
    if purpose in ("install", "clean") or command.split(" ", 1)[0] in listed("self_sufficient"):
        return None
    ours = command.split(" ", 1)[0]
    of_scripts = ours in ("npm", "npx", "yarn", "pnpm", "bun", "bunx", "node")
    for each in commands:
        tool = each.command.split(" ", 1)[0]
        if (
            each.purpose == "install"
            and (tool in ("npm", "yarn", "pnpm", "bun")) == of_scripts
            and each.origin != "ci"
        ):
            return each.command
    return None


def _assumed(best: ProjectCommand, wanted: Asked) -> str | None:
    """What the request left open, or the repository did not say."""
    folder = folder_of(best.path) if best.origin != "ci" else ""
    if best.origin == "ci":
        return "only a CI file names it; it may need what CI has set up"
    if best.origin == "convention" and not best.documented:
        return f"no file names a command for it: {best.detail or 'this is the usual one'}"
    if best.origin == "configured" and not best.documented:
        return f"no file names a command for it: {best.detail}"
    if folder and not best.documented and not any(path.startswith(f"{folder}/") for path in wanted.paths):
        return f"it is what {folder} has; no file names a command for the whole repository"
    return None

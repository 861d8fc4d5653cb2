"""Advice: the command that a request asks for, from what the repository says, and what it does; never run.

What a command does is said in the judge's own reasons, part by part, and by the tasks of the repository that it runs.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cli_guard.assistant.projects.commands import commands_of
from cli_guard.assistant.projects.covering import find_described, list_names, tests_for
from cli_guard.assistant.projects.files import (
    CommandAdvice,
    CommandPart,
    ProjectCommand,
    ProjectFiles,
    folder_of,
)
from cli_guard.assistant.projects.purposes import (
    SEPARATORS,
    purpose_of_text,
    task_name,
    words_of,
)
from cli_guard.assistant.projects.running import Cases, command_for, one_test
from cli_guard.assistant.request_command import (
    CommandPurpose,
    CommandWish,
    Recipe,
    read_command_request,
    word_list,
)
from cli_guard.commands import EffectKind, Verdict, judge
from cli_guard.rules.catalog import read_table
from cli_guard.secrets.redact import redact

MOST_ALTERNATIVES = 3
PLACEHOLDER = re.compile(r"<([a-z-]{1,30})>")
HARMLESS = (EffectKind.READ, EffectKind.SERVICE_READ)
MOST_PARTS = 40
LONGEST_COMMAND = 4_000
SCRIPT_PROGRAMS = frozenset("npm npx yarn pnpm bun bunx node".split())


def advise(request: str, texts: Mapping[str, str]) -> CommandAdvice:
    """Return what to type for what a request asks, as text with its source; nothing is run.

    Answers for test, lint, format, type check, build, run, install, docs, clean, release and the like, for one test or
    the tests of a path, explains a command that the request quotes, and knows what developers ask about Git. Where the
    files say nothing, `command` is None, and `looked_at` says what was read. Never raises for what a file holds.
    """
    return CommandAdviser(request, ProjectFiles(texts)).advise()


class CommandAdviser:
    """One request, the files of the repository, and the commands that they offer."""

    def __init__(self, request: str, files: ProjectFiles) -> None:
        self.request = request
        self.files = files
        self.commands = commands_of(files)
        self.tasks = {
            each.command: f"defined in {each.path}:{each.line}: {each.detail or 'no commands of its own'}"
            for each in self.commands
            if each.origin == "task"
        }
        programs = {each.command.split(" ", 1)[0] for each in self.commands}
        self.asked = read_command_request(
            request, files.texts.keys(), files.folders, programs
        )

    def advise(self) -> CommandAdvice:
        asked = self.asked
        if asked.explain:
            return self.explain(asked.explain)
        if asked.recipe:
            return _advise_git(asked.recipe, asked.paths)
        of_tests = asked.purpose == "test" and (asked.paths or asked.one_test)
        if of_tests or (asked.test and asked.purpose in ("test", None)):
            return self.choose_tests()
        described = (
            asked.purpose == "test" and not self.find_named_task() and self.find_described()
        )
        return described or self.choose_command()

    def explain(self, command: str) -> CommandAdvice:
        plain = " ".join(command.split())
        known = next((each for each in self.commands if each.command == plain), None)
        undefined = ", ".join(undefined_tasks(plain, self.tasks)) if not known else ""
        return CommandAdvice(
            redact(command),
            (known.path, known.line) if known else None,
            known.purpose if known else purpose_of_text(plain),
            (*explain_command(redact(plain), self.tasks), *explain_options(plain))[
                :MOST_PARTS
            ],
            assumed=f"the files of the repository do not define {undefined}"
            if undefined
            else None,
            looked_at=self.files.looked_at,
        )

    def choose_tests(self) -> CommandAdvice:
        """Return how the tests of a path, a test by its name, or one test at all are run; else how all of them are."""
        asked = self.asked
        if asked.paths and not asked.test:
            covering = tests_for(asked.paths, (), self.files.texts)
            if covering.command:
                first = covering.tests[0]
                note = f"these are the tests: {first.path} {first.reason}"
                if covering.uncovered:
                    note = f"no test was found for {', '.join(covering.uncovered)}"
                tests = [test.path for test in covering.tests]
                return self.run_tests(covering.command, (first.path, 1), note, tests)
        elif single := one_test(asked.test, self.files.texts, asked.paths):
            command, path, line = single
            example = (
                "a test of this repository as an example: put the one you want in its place"
            )
            known = None if asked.test else example
            return self.run_tests(command, (path, line), known, [path])
        missing = ", ".join(asked.paths) or asked.test
        whole = self.choose_command()
        if not missing or not whole.command:
            return whole
        what = f"{'for' if asked.paths else 'called'} {missing}"
        assumed = f"no test {what} was found: this runs all of them"
        return replace(whole, assumed=assumed)

    def find_described(self) -> CommandAdvice | None:
        """Return the tests that the request describes in words; None where it describes none."""
        texts = self.files.texts
        chosen = find_described(self.request, texts)
        command = command_for(chosen, texts) if chosen else None
        if command is None:
            return None
        cases = Cases(texts)
        known = {
            path: names or [case.name for case in cases.of(path)] for path, names in chosen
        }
        names = [
            f"{path}{f' ({list_names(names)})' if names else ''}"
            for path, names in known.items()
        ]
        note = f"these are the tests: {', '.join(names)}, by the words of the request"
        return self.run_tests(
            command,
            (chosen[0][0], 1),
            note,
            [path for path, _ in chosen],
        )

    def run_tests(
        self,
        command: str,
        source: tuple[str, int],
        assumed: str | None,
        tests: list[str],
    ) -> CommandAdvice:
        advice = self.advise_command("test", command, source, assumed)
        looked_at = tuple(dict.fromkeys((*tests, *advice.looked_at)))
        return replace(advice, setup=self.setup("test", ""), looked_at=looked_at)

    def choose_command(self) -> CommandAdvice:
        """Return the command of a purpose, or the task that the request names."""
        asked = self.asked
        candidates = [
            each
            for each in self.commands
            if asked.purpose and each.purpose == asked.purpose
        ]
        near = next(
            (
                each
                for path in asked.paths
                for each in candidates
                if (place := folder_of(each.path)) and path.startswith(f"{place}/")
            ),
            None,
        )
        best = (
            self.find_named_task()
            or near
            or self.find_told(candidates)
            or next(iter(candidates), None)
            or (None if asked.purpose else self.find_told(self.commands))
        )
        if not best:
            return CommandAdvice(
                None, None, asked.purpose or "other", looked_at=self.files.looked_at
            )
        assumed = _name_assumption(best, asked)
        advice = self.advise_command(
            best.purpose, best.command, (best.path, best.line), assumed
        )
        return replace(advice, note=best.detail or None)

    def advise_command(
        self,
        purpose: CommandPurpose,
        command: str,
        source: tuple[str, int],
        assumed: str | None,
    ) -> CommandAdvice:
        """Return the advice to run a command, with what it does, what else there is, and what comes before."""
        others = [
            each
            for each in self.commands
            if each.purpose == purpose and each.command != command
        ]
        return CommandAdvice(
            redact(command),
            source,
            purpose,
            explain_command(command, self.tasks),
            tuple(others[:MOST_ALTERNATIVES]),
            self.setup(purpose, command),
            assumed,
            self.files.looked_at,
        )

    def find_named_task(self) -> ProjectCommand | None:
        """Return the task whose name the request says: `typing` in "run the typing check", "integration tests"."""
        asked = self.asked
        spoken = {part for word in asked.words for part in words_of(word)}
        scored = []
        for place, each in enumerate(self.commands):
            own = set(words_of(each.name)) - word_list("common")
            hits = len(own & spoken)
            same = asked.purpose in (None, each.purpose)
            # Of a purpose that was asked for, half of a name is not enough.
            enough = hits >= min(len(own), 2 if asked.purpose else 1)
            if hits and ((same and enough) or (not same and each.name in asked.words)):
                scored.append((-hits, len(own), place, each))
        return min(scored, key=lambda each: each[:3])[3] if scored else None

    def find_told(self, commands: Sequence[ProjectCommand]) -> ProjectCommand | None:
        """Return the command that says most words of the request, in itself or in what its script runs."""
        wanted = self.asked.words - word_list("common")
        told = [
            (
                len(wanted & {*words_of(each.command)}),
                len(wanted & {*words_of(each.detail)}),
                -at,
            )
            for at, each in enumerate(commands)
        ]
        in_name, in_value, at = max(told, default=(0, 0, 0))
        return commands[-at] if in_name or in_value else None

    def setup(self, purpose: str, command: str) -> str | None:
        """Return what has to be installed before, if the repository says how."""
        program = command.split(" ", 1)[0]
        if purpose in ("install", "clean") or program in word_list("self_sufficient"):
            return None
        for each in self.commands:
            same_kind = (each.command.split(" ", 1)[0] in SCRIPT_PROGRAMS) == (
                program in SCRIPT_PROGRAMS
            )
            if each.purpose == "install" and same_kind:
                return each.command
        return None


def _advise_git(recipe: Recipe, paths: Sequence[str]) -> CommandAdvice:
    path = shlex.quote(paths[0]) if paths else "<file>"
    command = recipe.command.replace("<file>", path)
    others = [each.replace("<file>", path) for each in recipe.alternatives]
    return CommandAdvice(
        command,
        None,
        "other",
        explain_command(command, {}),
        tuple(ProjectCommand("other", each, "", 0) for each in others),
        assumed="the words in < > are for you to fill in" if "<" in command else None,
        note=recipe.note,
    )


def _name_assumption(best: ProjectCommand, asked: CommandWish) -> str | None:
    """Return what the request left open, or the repository did not say."""
    folder = folder_of(best.path)
    if best.origin == "ci":
        return (
            "no document names a command for it: this is what continuous integration runs"
        )
    if best.origin in ("convention", "configured") and not best.documented:
        return f"no file names a command for it: {best.detail or 'this is the usual one'}"
    if (
        folder
        and not best.documented
        and not any(path.startswith(f"{folder}/") for path in asked.paths)
    ):
        return f"it is what {folder} has; no file names a command for the whole repository"
    return None


def explain_command(command: str, tasks: Mapping[str, str]) -> tuple[CommandPart, ...]:
    """Explain each part of a command that does something, by the judge's reasons.

    `tasks` is what each task of the repository is: `make check` -> "defined in Makefile:12: ...". Where one reason is
    all there is to say, no part repeats what the verdict says. At most 40 parts of the first 4,000 characters.
    """
    text = command[:LONGEST_COMMAND]
    found = {part: {tasks[part]: None} for part in SEPARATORS.split(text) if part in tasks}
    reasons: dict[str, dict[str, None]] = {}
    verdict = judge_with_placeholders(text)
    for effect in sorted(verdict.effects, key=lambda each: each.span.start):
        if effect.kind not in HARMLESS:
            part = text[effect.span.start : effect.span.end].strip() or text
            reasons.setdefault(part, {})[_with_placeholders(effect.reason, text)] = None
    if [reason for each in reasons.values() for reason in each] != [verdict.reason]:
        for part, each in reasons.items():
            found.setdefault(part, {}).update(each)
    return tuple(CommandPart(part, "; ".join(each)) for part, each in found.items())[
        :MOST_PARTS
    ]


def explain_options(command: str) -> Iterator[CommandPart]:
    """Yield the options of well-known programs with their meanings, those of each program once."""
    table = read_table("projects/options.toml")
    for part in re.split(r"[|;&\n]+", command[:LONGEST_COMMAND]):
        program, *words = part.split() or [""]
        if program == "sudo" and words:
            program, *words = words
        known: Mapping[str, str] = table.get(
            f"{program} {words[0]}" if words else "", table.get(program, {})
        )
        options = (
            [word.split("=")[0].lstrip("-") for word in words if word.startswith("-")]
            if known
            else []
        )
        letters = (each if each in known else tuple(each) for each in options)
        for name in dict.fromkeys(
            name
            for each in letters
            for name in ((each,) if isinstance(each, str) else each)
        ):
            if name in known:
                option, _, meaning = known[name].partition(": ")
                yield CommandPart(f"{program} {option}", meaning)


def judge_with_placeholders(command: str) -> Verdict:
    """Judge a command with words to fill in (`<sha>`) as if they were filled in; every span stays where it is."""
    return judge(PLACEHOLDER.sub(lambda found: f"_{found[1]}_", command[:LONGEST_COMMAND]))


def undefined_tasks(command: str, tasks: Mapping[str, str]) -> tuple[str, ...]:
    """Return the tasks that a command names (`make deploy`) and that no file of the repository defines."""
    parts = SEPARATORS.split(command[:LONGEST_COMMAND])
    return tuple(part for part in parts if task_name(part) and part not in tasks)


def _with_placeholders(reason: str, command: str) -> str:
    for name in PLACEHOLDER.findall(command):
        reason = reason.replace(f"_{name}_", f"<{name}>")
    return reason

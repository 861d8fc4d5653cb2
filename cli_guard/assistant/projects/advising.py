"""Advice: the command that a request asks for, from what the repository says, and what it does; never run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cli_guard.assistant.projects.asking import Asked, Recipe, find_git_recipe, read_request
from cli_guard.assistant.projects.commands import commands_in
from cli_guard.assistant.projects.covering.finding import tests_for
from cli_guard.assistant.projects.covering.running import one_test
from cli_guard.assistant.projects.explaining import explain_command, is_understood, undefined_tasks
from cli_guard.assistant.projects.files import Files, folder_of, quote_word
from cli_guard.assistant.projects.model import Advice, ProjectCommand
from cli_guard.assistant.projects.purposes import purpose_of_text, word_list, words_of
from cli_guard.model import Confidence
from cli_guard.secrets.redact import redact

MOST_ALTERNATIVES = 3
SCRIPT_PROGRAMS = frozenset("npm npx yarn pnpm bun bunx node".split())


def about_git(request: str) -> bool:
    """Does a request ask for something that a Git command does, and that no file of a repository says?"""
    return find_git_recipe(read_request(request, frozenset(), frozenset(), frozenset())) is not None


def advise(request: str, texts: Mapping[str, str]) -> Advice:
    """What to type for what a request asks, as text with its source; nothing is run.

    Answers for test, lint, format, type check, build, run, install, docs, clean, release and the like, for one test or
    the tests of a path, explains a command that the request quotes, and knows what developers ask about Git. Where the
    files say nothing, `command` is None, and `looked_at` says what was read. Never raises for what a file holds.
    """
    return _Adviser(request, Files(texts)).advise()


class _Adviser:
    """One request, the files of the repository, and the commands that they offer."""

    def __init__(self, request: str, files: Files) -> None:
        self.files = files
        self.commands = commands_in(files)
        self.tasks = {
            each.command: f"defined in {each.path}:{each.line}: {each.detail or 'no commands of its own'}"
            for each in self.commands
            if each.origin == "task"
        }
        programs = word_list("known") | {each.command.split(" ", 1)[0] for each in self.commands}
        self.asked = read_request(request, files.texts.keys(), files.folders, programs)

    def advise(self) -> Advice:
        asked = self.asked
        if asked.explain:
            return self.explain(asked.explain)
        recipe = find_git_recipe(asked)
        if recipe:
            return _advise_git(recipe, asked.paths)
        if asked.purpose == "test" and (asked.paths or asked.test or asked.one_test):
            return self.choose_tests()
        return self.choose_command()

    def explain(self, command: str) -> Advice:
        plain = " ".join(command.split())
        known = next((each for each in self.commands if each.command == plain), None)
        undefined = ", ".join(undefined_tasks(plain, self.tasks)) if known is None else ""
        sure = Confidence.HIGH if known or is_understood(plain) else Confidence.MEDIUM
        return Advice(
            redact(command),
            (known.path, known.line) if known else None,
            known.purpose if known else purpose_of_text(plain),
            explain_command(redact(plain), self.tasks),
            assumed=f"the files of the repository do not define {undefined}" if undefined else None,
            looked_at=self.files.looked_at,
            confidence=Confidence.LOW if undefined else sure,
        )

    def choose_tests(self) -> Advice:
        """How the tests of a path, a test by its name, or one test at all are run; else how all of them are."""
        asked = self.asked
        if asked.paths and not asked.test:
            covering = tests_for(asked.paths, (), self.files.texts)
            if covering.command:
                first = covering.tests[0]
                assumed = (
                    f"no test was found for {', '.join(covering.uncovered)}"
                    if covering.uncovered
                    else f"these are the tests: {first.path} {first.reason}"
                )
                sure = Confidence.HIGH if first.strength == "strong" else Confidence.MEDIUM
                paths = [test.path for test in covering.tests]
                return self.run_tests(covering.command, (first.path, 1), assumed, paths, sure)
        else:
            single = one_test(asked.test, self.files.texts, asked.paths)
            if single:
                command, path, line = single
                example = "a test of this repository as an example: put the one you want in its place"
                sure = Confidence.HIGH if asked.test else Confidence.MEDIUM
                return self.run_tests(command, (path, line), None if asked.test else example, [path], sure)
        missing = ", ".join(asked.paths) or asked.test
        whole = self.choose_command()
        if not missing or not whole.command:
            return whole
        what = f"{'for' if asked.paths else 'called'} {missing}"
        assumed = f"no test {what} was found: this runs all of them"
        return replace(whole, assumed=assumed, confidence=Confidence.LOW)

    def run_tests(
        self, command: str, source: tuple[str, int], assumed: str | None, paths: list[str], sure: Confidence
    ) -> Advice:
        return Advice(
            redact(command),
            source,
            "test",
            explain_command(command, self.tasks),
            self.alternatives("test", command),
            self.setup("test", ""),
            assumed,
            tuple(dict.fromkeys((*paths, *self.files.looked_at))),
            sure,
        )

    def choose_command(self) -> Advice:
        """The command of a purpose, or the task that the request names."""
        asked = self.asked
        candidates = [each for each in self.commands if asked.purpose and each.purpose == asked.purpose]
        near = _find_nearest(asked.paths, candidates)
        tool = next(
            (each for each in candidates if asked.words & set(each.command.split()) - word_list("common")),
            None,
        )
        best = self.find_named_task() or near or tool or next(iter(candidates), None)
        if best is None:
            return Advice(None, None, asked.purpose or "other", looked_at=self.files.looked_at)
        written = best.documented or (
            best.origin in ("docs", "task") and not (near is None and folder_of(best.path))
        )
        sure = Confidence.HIGH if written or best.purpose == "docs" else Confidence.MEDIUM
        return Advice(
            best.command,
            (best.path, best.line),
            best.purpose,
            explain_command(best.command, self.tasks),
            self.alternatives(best.purpose, best.command),
            self.setup(best.purpose, best.command),
            _name_assumption(best, asked),
            self.files.looked_at,
            sure,
            best.detail or None,
        )

    def find_named_task(self) -> ProjectCommand | None:
        """The task whose name the request says: `typing` in "run the typing check", "integration tests"."""
        asked = self.asked
        spoken = {part for word in asked.words - word_list("common") for part in words_of(word)}
        scored = []
        for place, each in enumerate(self.commands):
            own = set(words_of(each.name)) - word_list("common")
            hits = len(own & spoken)
            same = asked.purpose in (None, each.purpose)
            # Of a purpose that was asked for, half of a name is not enough.
            enough = hits >= min(len(own), 2 if asked.purpose else 1)
            if hits and ((same and enough) or (not same and each.name in asked.words - word_list("common"))):
                scored.append((-hits, len(own), place, each))
        return min(scored, key=lambda each: each[:3])[3] if scored else None

    def alternatives(self, purpose: str, command: str) -> tuple[ProjectCommand, ...]:
        others = [each for each in self.commands if each.purpose == purpose and each.command != command]
        return tuple(others[:MOST_ALTERNATIVES])

    def setup(self, purpose: str, command: str) -> str | None:
        """What has to be installed before, if the repository says how."""
        program = command.split(" ", 1)[0]
        if purpose in ("install", "clean") or program in word_list("self_sufficient"):
            return None
        for each in self.commands:
            same_kind = (each.command.split(" ", 1)[0] in SCRIPT_PROGRAMS) == (program in SCRIPT_PROGRAMS)
            if each.purpose == "install" and same_kind:
                return each.command
        return None


def _advise_git(recipe: Recipe, paths: Sequence[str]) -> Advice:
    path = quote_word(paths[0]) if paths else "<file>"
    command = recipe.command.replace("<file>", path)
    others = [each.replace("<file>", path) for each in recipe.alternatives]
    return Advice(
        command,
        None,
        "other",
        explain_command(command, {}),
        tuple(ProjectCommand("other", each, "", 0) for each in others),
        assumed="the words in < > are for you to fill in" if "<" in command else None,
        confidence=Confidence.HIGH,
        note=recipe.note,
    )


def _find_nearest(paths: Sequence[str], commands: Sequence[ProjectCommand]) -> ProjectCommand | None:
    """Of the commands of a part of the repository the one whose part holds a path."""
    for path in paths:
        for each in commands:
            if folder_of(each.path) and path.startswith(f"{folder_of(each.path)}/"):
                return each
    return None


def _name_assumption(best: ProjectCommand, asked: Asked) -> str | None:
    """What the request left open, or the repository did not say."""
    folder = folder_of(best.path)
    if best.origin in ("convention", "configured") and not best.documented:
        return f"no file names a command for it: {best.detail or 'this is the usual one'}"
    if folder and not best.documented and not any(path.startswith(f"{folder}/") for path in asked.paths):
        return f"it is what {folder} has; no file names a command for the whole repository"
    return None

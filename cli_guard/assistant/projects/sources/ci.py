"""What CI runs: a hint where nothing nearer to people says how a thing is done."""

import re
from collections.abc import Iterator

from cli_guard.assistant.projects.files import Files
from cli_guard.assistant.projects.purposes import purpose_of_command
from cli_guard.assistant.projects.sources.found import Found
from cli_guard.reviewers.commands.extract import Unreadable, snippets
from cli_guard.reviewers.commands.extract.snippet import Snippet

CI = re.compile(
    r"\.(?:github|gitea|forgejo)/workflows/[^/]+\.ya?ml|\.gitlab-ci\.ya?ml|\.circleci/config\.ya?ml|\.travis\.ya?ml|"
    r"azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|\.cirrus\.ya?ml|\.drone\.ya?ml|\.woodpecker\.ya?ml|"
    r"appveyor\.ya?ml|\.appveyor\.ya?ml|\.buildkite/pipeline\.ya?ml|Jenkinsfile"
)
MOST_FILES, MOST_LINES = 20, 400
# What only the machine of the run fills in cannot be pasted.
FILLED_IN = re.compile(r"\$\{?\w|\$\(|\$\{\{|<<|>>|\\$")


def ci(files: Files) -> Iterator[Found]:
    """The commands of workflows and pipelines that serve a purpose and can be pasted."""
    paths = sorted(path for path in files.texts if CI.fullmatch(path))
    for path in paths[:MOST_FILES]:
        for found in _snippets(path, files.read(path)):
            if found.language not in ("sh", "mixed"):
                continue
            yield from _commands(path, found)


def _snippets(path: str, text: str) -> Iterator[Snippet]:
    try:
        yield from snippets(path, text)
    except Unreadable:
        return  # what stands in front of the part that cannot be read has been given


def _commands(path: str, found: Snippet) -> Iterator[Found]:
    offset = 0
    for line in found.text.split("\n")[:MOST_LINES]:
        command = line.strip()
        if 0 < len(command) <= 160 and not FILLED_IN.search(command) and not command.startswith("#"):
            purpose = purpose_of_command(command)
            if purpose not in ("other", "install", "release", "clean"):
                begin = offset + len(line) - len(line.lstrip())
                yield Found(command, path, found.line_at(begin), "CI runs it", "", "ci", purpose)
        offset += len(line) + 1

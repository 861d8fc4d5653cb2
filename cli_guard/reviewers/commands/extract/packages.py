"""Scripts of composer.json, whose entries may also be callbacks or names of other scripts."""

import re
from collections.abc import Iterator

from cli_guard.reviewers.commands.extract.nodes import Document, at, scalars
from cli_guard.reviewers.commands.extract.snippet import Snippet, Where, snippet

CALLBACK = re.compile(r"[\\\\\w]+::\w+$|@(?!php\b|composer\b)")


def composer(document: Document) -> Iterator[Snippet]:
    """The commands among the scripts; `@php` is the PHP that composer runs with."""
    for script in at(document.roots, "scripts", "*"):
        for each in scalars(script):
            if each.text.strip() and not CALLBACK.match(each.text):
                yield snippet([(line, text.removeprefix("@")) for line, text in each.pieces], Where.BUILD)

"""What a review looks like: one small renderer a format.

A format is a module with `render(review) -> str`; to add one, write it and name it here.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol, cast

from cli_guard.report.review import Review


class Renderer(Protocol):
    """What every format is: a review in, its text out."""

    def __call__(self, review: Review, /) -> str:
        """The whole report, with its final newline; empty when there is nothing to say."""


FORMATS: Mapping[str, str] = {
    "text": "cli_guard.report.text",
    "json": "cli_guard.report.as_json",
    "sarif": "cli_guard.report.sarif",
    "github": "cli_guard.report.github",
    "markdown": "cli_guard.report.markdown",
}


def renderer(name: str) -> Renderer:
    """The renderer of one of `FORMATS`, imported only now. KeyError: there is no such format."""
    return cast(Renderer, import_module(FORMATS[name]).render)

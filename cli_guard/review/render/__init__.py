"""What a review looks like: one small renderer a format.

A format is a module with `render(review) -> str`; to add one, write it and name it here.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol, cast

from cli_guard.review.render.review import Review


class Renderer(Protocol):
    """What every format is: a review in, its text out."""

    def __call__(self, review: Review, /) -> str:
        """The whole report, with its final newline; empty when there is nothing to say."""


FORMATS: Mapping[str, str] = {
    "text": "cli_guard.review.render.text",
    "json": "cli_guard.review.render.as_json",
    "sarif": "cli_guard.review.render.sarif",
    "github": "cli_guard.review.render.github",
    "markdown": "cli_guard.review.render.markdown",
}


def renderer(name: str) -> Renderer:
    """The renderer of one of `FORMATS`, imported only now. KeyError: there is no such format."""
    return cast(Renderer, import_module(FORMATS[name]).render)

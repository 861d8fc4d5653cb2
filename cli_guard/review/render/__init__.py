"""The output formats of a review: one renderer per format.

A format is a module with `render(review) -> str`; to add one, write it and list it here.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import cast

from cli_guard.review.render.review import Review

# Returns the whole report with a final newline; empty if there is nothing to report. A name or a line of a review may
# hold any byte: each goes through `printable`.
Renderer = Callable[[Review], str]
FORMATS: Mapping[str, str] = {
    "text": "cli_guard.review.render.text",
    "json": "cli_guard.review.render.as_json",
    "sarif": "cli_guard.review.render.sarif",
    "github": "cli_guard.review.render.github",
    "markdown": "cli_guard.review.render.markdown",
    "html": "cli_guard.review.render.html",
}


def renderer(name: str) -> Renderer:
    """Import the renderer of one of `FORMATS`. Raises KeyError for an unknown format."""
    return cast(Renderer, import_module(FORMATS[name]).render)

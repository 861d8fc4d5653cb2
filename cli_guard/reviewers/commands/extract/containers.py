"""Containers as compose files, Kubernetes manifests and build services describe them: an entry point, its words."""

import re
from collections.abc import Iterator

from cli_guard.reviewers.commands.extract.nodes import (
    Document,
    Items,
    Node,
    Scalar,
    Table,
    at,
    scalars,
    tables,
)
from cli_guard.reviewers.commands.extract.snippet import Snippet, Where, snippet
from cli_guard.reviewers.commands.extract.values import lines, word_pieces, words

# A doubled dollar is one that the file's own variables leave alone.
DOLLARS = re.compile(r"\$\$")


def compose(document: Document) -> Iterator[Snippet]:
    """What the services of a compose file start, and how they are asked whether they are well."""
    for service in at(document.roots, "services", "*"):
        if not isinstance(service, Table):
            continue
        found = [
            *_started(service.get("entrypoint"), service.get("command")),
            *_asked(*at([service], "healthcheck", "test")),
        ]
        for hook in (*at([service], "post_start", "[]"), *at([service], "pre_stop", "[]")):
            found += words(hook.get("command"), Where.SERVICE) if isinstance(hook, Table) else ()
        for each in found:
            yield each.substituted(DOLLARS, lambda _: "$")


def build_steps(document: Document) -> Iterator[Snippet]:
    """The steps of Cloud Build."""
    for each in manifest(document):
        yield each.substituted(DOLLARS, lambda _: "$")


def manifest(document: Document) -> Iterator[Snippet]:
    """The containers of a Kubernetes manifest, with their probes and hooks, and steps of its pipelines."""
    for table in tables(document.roots):
        if table.get("image") or table.get("name"):
            yield from _started(table.get("command") or table.get("entrypoint"), table.get("args"))
            yield from lines(table.get("script"), Where.SERVICE)
        for probe in at([table], "exec", "command"):
            yield from words(probe, Where.SERVICE)


def _started(first: Node | None, rest: Node | None) -> Iterator[Snippet]:
    pieces = word_pieces(first, rest)
    if any(text.strip() for _, text in pieces):
        yield snippet(pieces, Where.SERVICE)


def _asked(*tests: Node) -> Iterator[Snippet]:
    """The command of a health check, whose list begins with the way it is run."""
    for test in tests:
        if isinstance(test, Scalar):
            yield from words(test, Where.SERVICE)
            continue
        found = list(scalars(test))
        form = found[0].text if found else ""
        if form in ("CMD", "CMD-SHELL"):
            run = lines if form == "CMD-SHELL" else words
            yield from run(Items(list(found[1:])), Where.SERVICE)

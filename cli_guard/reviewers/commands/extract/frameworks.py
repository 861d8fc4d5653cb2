"""Hook frameworks: the local hooks of pre-commit and prek, which run what their entry says."""

from collections.abc import Iterator

from cli_guard.reviewers.commands.extract.nodes import Document, Node, Scalar, Table, at
from cli_guard.reviewers.commands.extract.snippet import Snippet, Where, snippet
from cli_guard.reviewers.commands.extract.values import word_pieces

# Their entry is a pattern, a message, the name of an image.
NO_COMMAND = ("pygrep", "fail", "docker_image", "docker")


def snippets(document: Document) -> Iterator[Snippet]:
    """The entries of a configuration's own hooks, or of the hooks that a repository offers."""
    for repo in at(document.roots, "repos", "[]"):
        if isinstance(repo, Table) and repo.text("repo") == "local":
            for hook in at([repo], "hooks", "[]"):
                yield from _hook(hook)
    for hook in at(document.roots, "[]"):
        yield from _hook(hook)


def _hook(hook: Node) -> Iterator[Snippet]:
    entry = hook.get("entry") if isinstance(hook, Table) and hook.text("language") not in NO_COMMAND else None
    if isinstance(hook, Table) and isinstance(entry, Scalar) and entry.text.strip():
        yield snippet(word_pieces(entry, hook.get("args")), Where.HOOK)

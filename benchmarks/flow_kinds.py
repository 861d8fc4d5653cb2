"""Print the syntax tree of a file, with what each node is to code that follows data: for a new flow language.

`?` is a kind that `rules/languages/shapes.toml` does not list: it is the union of what is in it.

    python -m benchmarks.flow_kinds src/Ping.scala
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cli_guard.code.languages import language_for
from cli_guard.code.syntax import Trees
from cli_guard.code.taint.grammar import language_named

if TYPE_CHECKING:
    from ast_grep_py import SgNode

SHOWN = 50


def list_kinds(language: str, text: str) -> Iterator[str]:
    """Yield a line for each named node, indented by its depth."""
    shapes = language_named(language).shapes

    def walk(node: "SgNode", depth: int) -> Iterator[str]:
        if node.is_named():
            first = node.text().split("\n", 1)[0][:SHOWN]
            kind = node.kind()
            yield f"{'  ' * depth}{kind}: {shapes.get(kind, '?')}  {first}"
        for child in node.children():
            yield from walk(child, depth + 1)

    return walk(Trees().root(language, text), 0)


def main() -> None:
    path = Path(sys.argv[1])
    text = path.read_text("utf-8")
    language = language_for(path.name, text.split("\n", 1)[0])
    if language is None:
        sys.exit(f"{path}: no language of rules/languages/files.toml has this ending")
    print("\n".join(list_kinds(language, text)))


if __name__ == "__main__":
    main()

"""The functions and classes of a source file: name, span, signature, documentation, visibility.

One extractor for each language, all returning the same `Symbol`s in the order of the file.
"""

from cli_guard.code.classify import unreadable
from cli_guard.code.symbols.golang import go_symbols
from cli_guard.code.symbols.java import java_symbols
from cli_guard.code.symbols.javascript import javascript_symbols, typescript_symbols
from cli_guard.code.symbols.model import Doc, Parameter, Symbol
from cli_guard.code.symbols.python import python_symbols
from cli_guard.code.symbols.rust import rust_symbols
from cli_guard.code.syntax import Trees

__all__ = ["LANGUAGES", "Doc", "Parameter", "Symbol", "symbols_of", "unreadable"]

EXTRACTORS = {
    "python": python_symbols,
    "javascript": javascript_symbols,
    "typescript": typescript_symbols,
    "tsx": typescript_symbols,
    "go": go_symbols,
    "java": java_symbols,
    "rust": rust_symbols,
}
LANGUAGES = frozenset(EXTRACTORS)


def symbols_of(trees: Trees, language: str, text: str) -> tuple[Symbol, ...]:
    """Return the symbols of `text`, outer before inner; `language` is one of `LANGUAGES`."""
    return trees.derive(
        "symbols", language, text, lambda root: tuple(EXTRACTORS[language](root))
    )

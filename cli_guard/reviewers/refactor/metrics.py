"""The one seam to lizard: complexity and length of one function at a time.

Lizard reads about 130,000 lines a second, so it gets only functions that may be over a limit: a function has no more
decisions than it has keywords and operators that make one.
"""

import re
import sys

from cli_guard.code.symbols import Symbol
from cli_guard.lazy import dataclass

DECISIONS = re.compile(
    r"\b(?:if|elif|for|foreach|while|and|or|except|catch|case|match|assert|select|switch|unless|until)\b"
    r"|&&|\|\||\?"
)
# Each match of DECISIONS holds one of these: counting them is faster, and never counts too few.
SIGNS = tuple(
    "if or and while except catch case match assert select switch unless until && || ?".split()
)
NAMES = {
    "python": "a.py",
    "javascript": "a.jsx",
    "typescript": "a.ts",
    "tsx": "a.tsx",
    "go": "a.go",
    "java": "a.java",
    "rust": "a.rs",
}


@dataclass(frozen=True, slots=True)
class Measure:
    """Cyclomatic complexity (independent paths), and length (lines of code without comments and blanks)."""

    complexity: int
    length: int


def code_of(symbol: Symbol, lines: list[str]) -> str:
    """Return a function's text without its docstring, blank lines and whole-line comments, which do not count."""
    first, last = (
        (symbol.doc.line, symbol.doc.end_line) if symbol.doc is not None else (0, 0)
    )
    if first <= symbol.head_end:
        first = last = 0  # a comment above it, or a docstring on the line of the head
    part = lines[symbol.top - 1 : symbol.end_line]
    kept = (
        line for number, line in enumerate(part, symbol.top) if not first <= number <= last
    )
    return "\n".join(
        line for line in kept if line.strip() and line.lstrip()[:2] not in ("//", "# ")
    )


def may_exceed(text: str, complexity: int, length: int) -> bool:
    """Return whether a function with this text may be over either limit."""
    if text.count("\n") + 1 > length:
        return True
    if len(text) <= 2 * complexity or sum(map(text.count, SIGNS)) < complexity:
        return False
    return len(DECISIONS.findall(text)) + 1 > complexity


def measure(language: str, symbol: Symbol, text: str) -> Measure | None:
    """Measure one function, `text` being its code; None if lizard does not find one, or fails."""
    if symbol.kind == "method" and language not in ("go", "python", "rust"):
        text = f"class X {{\n{text}\n}}"
    try:
        functions = _analyze(NAMES[language], text)
    except Exception:  # hostile text may break the tokenizer of any language in any way
        return None
    name = symbol.name
    own = [f for f in functions if re.split(r"::|[. ]", f[0])[-1] == name]
    if not own:
        return None
    _, complexity, length = max(own, key=lambda f: f[2])
    return Measure(complexity, length)


def _analyze(name: str, text: str) -> list[tuple[str, int, int]]:
    path = list(sys.path)
    try:
        # Importing lizard puts the folder of the running script at the head of sys.path; under `python -c`
        # that is the working directory, from which nothing must ever be imported.
        from lizard import FileInfoBuilder, analyze_file, get_reader_for
    finally:
        sys.path[:] = path
    # As `analyze_file.analyze_source_code`, without its message on stderr for text that nests too deep.
    context = FileInfoBuilder(name)
    reader = get_reader_for(name)(context)
    tokens = reader.generate_tokens(text)
    for processor in analyze_file.processors:
        tokens = processor(tokens, reader)
    for _ in reader(tokens, reader):
        pass
    return [
        (f.name, f.cyclomatic_complexity, f.nloc) for f in context.fileinfo.function_list
    ]

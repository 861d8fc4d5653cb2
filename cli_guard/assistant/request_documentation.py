"""What a request for documentation names: files, definitions by name or kind, and whether to repair."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from cli_guard.assistant.request_names import Names
from cli_guard.assistant.request_words import pattern, word_set
from cli_guard.code.languages import language_of
from cli_guard.code.symbols import LANGUAGES
from cli_guard.code.test_files import is_test_code
from cli_guard.lazy import frozen

LONGEST_REQUEST = 4_000
SHOWN = 4
PAGES = (".md", ".rst")
KINDS = {
    "function": pattern("all_functions"),
    "class": pattern("all_classes"),
    "module": pattern("all_modules"),
}
# `src/fixups.py` and `update_user` do not ask for a repair.
CODE = re.compile(r"[/_.()`:'\"]|[a-z][A-Z]")
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")


@frozen
class DocRequest:
    """What a request wants documented: `paths` are known files, `names` of definitions.

    `maybe` are words that may be names: they count only where a definition has them. `kinds` is empty for all;
    `modules` are named as such ("the signer module"); `prose` asks for text that no signature shows.
    """

    paths: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    maybe: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    update: bool = False
    private: bool = False
    everything: bool = False
    prose: bool = False
    modules: tuple[str, ...] = ()


def read_doc_request(request: str, found: Names) -> DocRequest:
    """Read what a request wants documented, by its first 4,000 characters; `found` is what it names."""
    text = " ".join(request[:LONGEST_REQUEST].split())
    paths, assumed = choose_sources(text, found)
    plain = " ".join(
        word for each in text.split() if not CODE.search(word := each.strip(".,:;!?"))
    )
    no_names = word_set("names", "no_definitions")
    named = [
        n
        for n in pattern("named").findall(plain)
        if n[0].isupper() or n.lower() not in no_names
    ]
    # `Store.c` may be a file of C, which is not documented here, and an attribute.
    missing = [*found.missing, *found.created, *found.outside]
    dotted = [
        n
        for n in missing
        if DOTTED.fullmatch(n) and not (find_language(n) or n.endswith(PAGES))
    ]
    names = [*found.symbols, *dotted, *named]
    maybe = [a or b for a, b in pattern("maybe_named").findall(plain)]
    kinds = frozenset(kind for kind, form in KINDS.items() if form.search(plain))
    readme = any(p.endswith(PAGES) for p in (*found.paths, *missing))
    return DocRequest(
        paths=tuple(dict.fromkeys(paths)),
        names=tuple(dict.fromkeys(n.removesuffix("()") for n in names)),
        maybe=tuple(
            dict.fromkeys(n for n in maybe if n.lower() not in no_names and n not in names)
        ),
        missing=tuple(path for path in missing if path not in dotted),
        assumed=tuple(assumed),
        kinds=kinds | {"method"} if "function" in kinds else kinds,
        update=bool(pattern("repairs").search(plain)),
        private=bool(pattern("private").search(plain)),
        modules=tuple(pattern("of_module").findall(text)),
        everything=bool(kinds - {"module"} or pattern("everything").search(plain)),
        prose=bool(pattern("prose").search(plain)) or readme,
    )


def choose_sources(text: str, found: Names) -> tuple[list[str], list[str]]:
    """Return the files that can be documented, the likeliest of several that a name could be; and what was assumed."""
    paths = [p for p in found.paths if find_language(p)]
    assumed = []
    for word, candidates in found.ambiguous:
        ranked = sorted(
            filter(find_language, candidates),
            key=lambda p: (is_test_code(p), p.count("/"), p),
        )
        paths += ranked[:1]
        assumed += [explain_choice(word, ranked)] if len(ranked) > 1 else []
    # A test is documented if it is named itself, not as a part of its folder.
    return [
        p for p in paths if not is_test_code(p) or PurePosixPath(p).name in text
    ] or paths, assumed


def find_language(path: str) -> str:
    """Find the language of a path, empty for one that is not documented here."""
    language = "rust" if path.endswith(".rs") else language_of(path)
    return language if language in LANGUAGES else ""


def explain_choice(name: str, candidates: Sequence[str]) -> str:
    """State which of several candidates a name is taken as."""
    rest = candidates[1 : 1 + SHOWN]
    more = f" and {len(candidates) - 1 - SHOWN} more" if len(candidates) > 1 + SHOWN else ""
    return f"{name} is taken as {candidates[0]}, not {', '.join(rest)}{more}"

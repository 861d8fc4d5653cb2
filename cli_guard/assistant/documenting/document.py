"""From a request to proposals: every public definition without documentation, or what the request names."""

from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

from cli_guard.assistant.documenting.forms import Forms
from cli_guard.assistant.documenting.model import Documentation, Proposal
from cli_guard.assistant.documenting.named import Found, find
from cli_guard.assistant.documenting.places import Edit, applied, holds
from cli_guard.assistant.documenting.proposing import expected, lacks_module_doc, module_proposed, proposed
from cli_guard.assistant.documenting.python_text import Form
from cli_guard.assistant.documenting.readme import readme_sections
from cli_guard.assistant.documenting.sources import LANGUAGES, Source
from cli_guard.assistant.documenting.updates import updated
from cli_guard.assistant.documenting.wanted import Wanted, read_request
from cli_guard.code.symbols import Symbol
from cli_guard.code.syntax import Trees
from cli_guard.git.unified import unified_diff
from cli_guard.model import Skipped
from cli_guard.secrets.redact import redact

MOST = 40


def document(
    request: str, texts: Mapping[str, str], *, allowed: Collection[str] | None = None
) -> Documentation:
    """Write the documentation that a request asks for, as proposals and a patch.

    `texts` are the files of a repository, path -> text; `allowed` the files and folders that may be looked at,
    all if None. What the request names and is not there comes back in `missing`; nothing is raised for it.
    """
    wanted = read_request(request)
    seen = texts if allowed is None else {p: texts[p] for p in texts if _within(p, allowed)}
    trees = Trees()
    if wanted.readme and not (wanted.symbols or _sources_named(wanted)):
        return _readme(wanted, seen, trees)
    found = find(wanted, seen, trees)
    if not (found.whole or found.single or found.missing or found.skipped):
        found.missing.append(
            "what is to be documented: name a file, a folder, a definition or a section of the README"
        )
    wholes = _outdated if wanted.update else _wholes
    forms = Forms(seen, trees)
    made = [*_singles(wanted, found, forms, seen), *wholes(wanted, found, forms, seen)]
    return _documentation(made, found, seen)


def _sources_named(wanted: Wanted) -> bool:
    return any(PurePosixPath(path).suffix in LANGUAGES for path in wanted.paths)


def _readme(wanted: Wanted, texts: Mapping[str, str], trees: Trees) -> Documentation:
    proposals, changes, missing, skipped = readme_sections(wanted, texts, trees)
    return _finished(proposals, changes, texts, Found(missing=missing, skipped=skipped))


def _within(path: str, allowed: Collection[str]) -> bool:
    return path in allowed or any(path.startswith(each.rstrip("/") + "/") for each in allowed if each)


Made = tuple[Source, list[tuple[Proposal, Edit]]]


def _singles(wanted: Wanted, found: Found, forms: Forms, texts: Mapping[str, str]) -> list[Made]:
    made: dict[str, Made] = {}
    named = [(source, each) for source, symbol in found.single for each in _with_members(source, symbol)]
    for source, symbol in named:
        if symbol.doc is not None:
            if _update(source, symbol, forms.of(source, wanted.style), made, found):
                continue
            found.skipped.append(
                Skipped(source.path, f"`{symbol.qualname}` is documented already, on line {symbol.doc.line}")
            )
            continue
        form = forms.of(source, wanted.style)
        pair = proposed(source, symbol, form)
        if pair is None:
            found.skipped.append(_no_place(source, symbol))
            continue
        made.setdefault(source.path, (source, []))[1].append(pair)
    return list(made.values())


def _no_place(source: Source, symbol: Symbol) -> Skipped:
    return Skipped(source.path, f"`{symbol.qualname}` has no line of its own for a docstring")


def _update(source: Source, symbol: Symbol, form: Form, made: dict[str, Made], found: Found) -> bool:
    """Put the documentation of a definition right; False if nothing in it is known to be wrong."""
    pair = updated(source, symbol, form)
    if isinstance(pair, Skipped):
        found.skipped.append(pair)
    elif pair is not None:
        made.setdefault(source.path, (source, []))[1].append(pair)
    return pair is not None


def _outdated(wanted: Wanted, found: Found, forms: Forms, texts: Mapping[str, str]) -> list[Made]:
    """The files that are asked for, their wrong comments put right."""
    made: dict[str, Made] = {}
    room = MOST
    for source in found.whole:
        form = forms.of(source, wanted.style)
        for symbol in source.symbols:
            if symbol.doc is None or symbol.quiet in ("nested", "overload"):
                continue
            if not room:
                reason = "more of it may be outdated: ask again when these are in"
                found.skipped.append(Skipped(source.path, reason, by_limit=True))
                break
            room -= _update(source, symbol, form, made, found)
        else:
            if source.path not in made:
                found.skipped.append(
                    Skipped(source.path, "no parameter in its documentation is known to be wrong")
                )
    return list(made.values())


def _with_members(source: Source, symbol: Symbol) -> list[Symbol]:
    """A definition by name; of a class, also the public methods that lack documentation."""
    if symbol.kind != "class":
        return [symbol]
    inside = [
        s
        for s in source.symbols
        if s.owner == symbol.name and s.is_function and s.doc is None and expected(s, Wanted())
    ]  # fmt: skip
    if source.language != "go":
        inside = [s for s in inside if s.qualname.rpartition(".")[0] == symbol.qualname]
    return [symbol, *inside[: MOST - 1]] if symbol.doc is None or not inside else inside[:MOST]


def _wholes(wanted: Wanted, found: Found, forms: Forms, texts: Mapping[str, str]) -> list[Made]:
    made: list[Made] = []
    room = MOST
    for source in found.whole:
        gaps = [s for s in source.symbols if s.doc is None and expected(s, wanted)]
        module = wanted.kinds <= {"module"} and lacks_module_doc(source, texts)
        if wanted.kinds == {"module"}:
            gaps = []
        if not gaps and not module:
            continue
        if not room:
            reason = f"{len(gaps) + module} more without documentation: ask for it alone"
            found.skipped.append(Skipped(source.path, reason, by_limit=True))
            continue
        form = forms.of(source, wanted.style)
        gone = 0
        whole = module_proposed(source, form) if module else None
        if module and whole is None:
            found.skipped.append(Skipped(source.path, "it defines nothing that its documentation could name"))
            gone += 1
        pairs = [whole] if whole is not None else []
        for symbol in gaps:
            if len(pairs) >= room:
                break
            pair = proposed(source, symbol, form)
            if pair is None:
                found.skipped.append(_no_place(source, symbol))
                gone += 1
            else:
                pairs.append(pair)
        room -= len(pairs)
        left = len(gaps) + module - len(pairs) - gone
        if left and not room:
            reason = f"{left} more without documentation: ask again when these are in"
            found.skipped.append(Skipped(source.path, reason, by_limit=True))
        made.append((source, pairs))
    if not made and found.whole:
        found.skipped += [
            Skipped(s.path, "nothing public in it lacks documentation") for s in found.whole[:MOST]
        ]
    return made


def _documentation(made: list[Made], found: Found, texts: Mapping[str, str]) -> Documentation:
    proposals: list[Proposal] = []
    changes: dict[str, str] = {}
    for source, pairs in made:
        kept = _kept(source, pairs, found)
        if kept:
            proposals += [proposal for proposal, _ in kept]
            changes[source.path] = applied(source, [edit for _, edit in kept])
    return _finished(proposals, changes, texts, found)


def _finished(
    proposals: list[Proposal], changes: dict[str, str], texts: Mapping[str, str], found: Found
) -> Documentation:
    patch = unified_diff({path: texts[path] for path in changes if path in texts}, changes)
    shown = redact(patch)
    if shown != patch:
        found.skipped.append(
            Skipped("", "a secret next to the changes is masked: the patch as it is shown does not apply")
        )
    return Documentation(
        proposals=tuple(proposals),
        patch=shown,
        changes=changes,
        missing=tuple(redact(line) for line in dict.fromkeys(found.missing)),
        assumed=redact("; ".join(dict.fromkeys(found.assumed))) or None,
        skipped=tuple(dict.fromkeys(found.skipped)),
    )


def _kept(source: Source, pairs: list[tuple[Proposal, Edit]], found: Found) -> list[tuple[Proposal, Edit]]:
    """The proposals that leave the code as it is; all of a file, or those that do so alone."""
    edits = [edit for _, edit in pairs]
    if holds(source, edits, applied(source, edits)):
        return pairs
    kept = []
    for proposal, edit in pairs:
        if holds(source, [edit], applied(source, [edit])):
            kept.append((proposal, edit))
        else:
            name = proposal.symbol or "the module"
            found.skipped.append(Skipped(source.path, f"`{name}`: documentation there would change the code"))
    return kept if holds(source, [e for _, e in kept], applied(source, [e for _, e in kept])) else []

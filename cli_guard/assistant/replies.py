"""The answer to each kind of request, line by line. Every line rests on what a tool of the run gave back."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from cli_guard.graph.state import Data, State

SHOWN = 5
LISTED = 20
PLACES = 4
NAMES = 3
# Words, not code: how many lines of them help to decide.
PROSE = ("mention", "documentation")
MENTIONS = 2
RISKS = 8
# Another place is shown if it is half as good as the best.
NEAR = 0.5
OTHERS = 3
# Lines of the less sure of two answers.
BOTH = 3
PATCH_LINES = 80


def result_of(state: State, tool: str) -> Data:
    """Return what a tool gave back, nothing where it did not run or failed."""
    return next(
        (r for r in state["tool_results"] if r["tool"] == tool and "error" not in r), {}
    )


def answer_question(state: State) -> Iterator[str]:
    """Yield where it is, what is there, how sure that is, how to check it."""
    found = result_of(state, "search_repository")
    places = found.get("places", [])
    explained = [
        line for result in state["tool_results"] for line in result.get("lines", ())
    ]
    yield from explained
    if found.get("uses"):
        yield from uses_lines(found["uses"])
    elif places and not explained:
        best = places[0]
        is_unsure = found["confidence"] == "low"
        lacks = found["absent"] or found["missing"]
        if is_unsure:
            yield f"Not sure; nearest{' (without ' + first_of(lacks, SHOWN) + ')' if lacks else ''}:"
        yield place_line(best)
        # What the line above says in full is not said twice.
        facts = [
            f
            for f in found["facts"]
            if f["path"] == best["path"] and f["value"] not in best["text"]
        ]
        yield from (f"  {fact_text(fact)}" for fact in facts[:SHOWN])
        if is_unsure:
            others = [each for each in places if each["path"] != best["path"]]
            yield from map(place_line, others[:2])
        else:
            yield f"Confidence: {found['confidence']} ({place_kind(best)})."
            near = [each for each in places[1:] if each["score"] >= NEAR * best["score"]]
            yield from (f"Also: {place_line(each)}" for each in near[:OTHERS])
    elif found.get("is_vague") and not explained:
        yield "Which part do you mean? The request names no file, function or message. For example:"
        for each in found["nearest"]:
            yield f"  explain {each['path']}"
            if each["symbol"]:
                yield f"  who calls {each['symbol']}?"
    elif found and not explained:
        yield not_found_line(found)
        yield from (f"Nearest: {place_line(each)}" for each in found["nearest"])
    yield from command_lines(state)


def uses_lines(used: Data) -> Iterator[str]:
    """Yield who uses a name, by file, with the function around each use; the tests apart, in short."""
    uses = used["uses"]
    files = count_of(len({each["path"] for each in uses}), "file")
    tests = f", {len(used['tests'])} in tests" if used["tests"] else ""
    yield f"{used['name']}: {count_of(len(uses), 'use')} in {files}{tests}."
    for each, holder in list(zip(uses, used["around"], strict=True))[:LISTED]:
        yield place_line(each) + (f"  (in {holder})" if holder else "")
    if len(uses) > LISTED:
        left = dict.fromkeys(each["path"] for each in uses[LISTED:])
        yield f"  and {len(uses) - LISTED} more: {first_of(list(left), LISTED)}"
    yield from (f"Defined: {place_line(each)}" for each in used["definitions"][:OTHERS])
    lines: dict[str, list[str]] = {}
    for each in used["tests"]:
        lines.setdefault(each["path"], []).append(str(each["line"]))
    shown = [f"{path}:{first_of(numbers, SHOWN)}" for path, numbers in lines.items()]
    if shown:
        yield f"Tests: {first_of(shown, LISTED)}"
    if not uses and used["definitions"]:
        yield "Nothing else here names it; a call by a computed name would not be seen."


def not_found_line(found: Data) -> str:
    """Return which words stand nowhere, or nowhere together, and in how many files of which kinds."""
    shown = [f"{number} {kind}" for kind, number in found["kinds"][:SHOWN]]
    files = count_of(found["looked_at"], "file") + (
        f" ({', '.join(shown)})" if shown else ""
    )
    if found["absent"]:
        return f"Not found: no {first_of(found['absent'], SHOWN)} in {files}."
    words = first_of(found["missing"] or found["terms"], SHOWN)
    return (
        f"Not found in {files}: no place there is about {words}."
        if words
        else f"Not found in {files}."
    )


def answer_both(state: State, answer: Callable[[State], Iterable[str]]) -> Iterator[str]:
    """Answer a request that may be a question about the code: both ways, the surer first, the other in short."""
    places = [
        place_line(each)
        for each in result_of(state, "search_repository").get("places", [])[:BOTH]
    ]
    lines = list(answer(state))
    asks_tests = state["task_type"] == "test_workflow"
    sure = "find_tests" if asks_tests else "advise_command"
    is_sure = result_of(state, sure).get("tests" if asks_tests else "command")
    if not places:
        yield from lines
    elif is_sure or state["task_type"] == "refactor_plan":
        yield from (
            *lines,
            "Not sure that a command or a plan is wanted; as a question about the code:",
            *places,
        )
    else:
        wanted = "running tests" if asks_tests else "a command"
        yield from (*places, f"Read as a question; if it is about {wanted}:", *lines[:BOTH])


def fact_text(fact: Data) -> str:
    """Return `line 6: DB_POOL_SIZE, environment variable, default "5"`."""
    value = fact["value"]
    shown = ""
    if fact["kind"] == "statement":
        return f"line {fact['line']}: {value}" + (
            f"  (in {fact['name']})" if fact["name"] else ""
        )
    if value:
        has_default = fact["kind"] in ("environment variable", "setting", "default")
        shown = f", default {value}" if has_default else f" = {value}"
    return f"line {fact['line']}: {fact['name']}, {fact['kind']}{shown}"


def place_line(place: Data) -> str:
    return f"{place['path']}:{place['line']}: {place['text']}"


def place_kind(place: Data) -> str:
    """Return what a place is: `definition of load_config`, `mention`."""
    named = place["symbol"] and place["kind"] == "definition"
    return f"definition of {place['symbol']}" if named else str(place["kind"])


def first_of(items: Sequence[str], most: int) -> str:
    """Join some items on one line, and say how many more there are."""
    return ", ".join(items[:most]) + (
        f" and {len(items) - most} more" if len(items) > most else ""
    )


def first_lines(lines: list[str], most: int, hint: str = "") -> Iterator[str]:
    """Yield some lines, and how many more there are."""
    yield from lines[:most]
    if len(lines) > most:
        yield f"  and {len(lines) - most} more{hint}"


def answer_command(state: State) -> Iterator[str]:
    """Yield the command, its verdict, and what each part of it means."""
    advice = result_of(state, "advise_command")
    if not advice.get("command"):
        read = ", ".join(advice.get("looked_at", [])[:LISTED]) or "the names of all files"
        yield f"No command for this is written down here; looked at {read}."
        return
    yield from command_lines(state)
    width = max((len(part["text"]) for part in advice["parts"]), default=0)
    yield from (
        f"  {part['text']:<{min(width, 24)}}  {part['meaning']}" for part in advice["parts"]
    )
    # A note that only repeats what stands above or below is none.
    said = [*(part["meaning"] for part in advice["parts"]), advice.get("assumed") or ""]
    if advice.get("note") and not any(advice["note"] in each for each in said):
        yield f"Note: {advice['note']}"
    if advice.get("setup"):
        yield f"Before that: {advice['setup']}"
    for other in advice["alternatives"]:
        yield f"Or: {other['command']}" + (
            f"  ({other['path']}:{other['line']})" if other["path"] else ""
        )
    if advice.get("assumed"):
        yield f"Assumed: {advice['assumed']}."


def command_lines(state: State) -> Iterator[str]:
    """Yield the command that was found, where it comes from, and its verdict."""
    suggested = result_of(state, "suggest_command")
    if not suggested:
        return
    source = result_of(state, "advise_command").get("source")
    origin = f"  ({source[0]}:{source[1]})" if source else ""
    asked = suggested["command"] in state["normalized_input"]
    yield f"{'The' if asked else 'Suggested'} command (not run): {suggested['command']}{origin}"
    yield f"  {suggested['verdict']}: {suggested['reason']}"


def answer_tests(state: State) -> Iterator[str]:
    """Yield the tests that cover it and why, the command, and what a fixture has recorded of them."""
    covering = result_of(state, "find_tests")
    yield from covering_lines(covering, LISTED)
    if left := covering.get("uncovered", []):
        yield f"No test found for: {first_of(left, SHOWN)}"
    if covering and not covering["tests"]:
        whole = f"; the whole suite: {covering['whole']}" if covering.get("whole") else ""
        yield f"No test was found for it; looked at {covering['looked_at']} files{whole}."
    if result_of(state, "advise_command"):
        yield from answer_command(state)
    else:
        yield from command_lines(state)
    simulated = result_of(state, "simulate_tests")
    if simulated:
        yield f"Simulated, nothing was run: {simulated['status']}."
        yield simulated["text"]


def covering_lines(covering: Data, most: int, *, names: bool = True) -> Iterator[str]:
    """Yield the tests of a search, strongest first, and their names."""
    shown = [
        f"{test['path']}: {test['reason']}"
        + (f" ({first_of(test['names'], NAMES)})" if test["names"] and names else "")
        for test in covering.get("tests", [])
    ]
    yield from first_lines(shown, most)


def answer_documentation(state: State) -> Iterator[str]:
    """Yield the proposed repairs as a patch, what lacks documentation, and what is left to a person."""
    made = result_of(state, "propose_documentation")
    yield from written_lines(state)
    yield from (f"Missing: {line}" for line in made.get("missing", []))
    by_hand = made.get("by_hand", [])
    yield from (f"Left to you: {line}" for line in by_hand)
    proposals = made.get("proposals", [])
    changed = [each for each in proposals if each["kind"] == "update"]
    bare = [each for each in proposals if each["kind"] != "update"]
    if not proposals and not by_hand:
        yield "Nothing to propose: what was named is documented, or is not there."
    if changed and not result_of(state, "write_file"):
        todo = " (fill in each TODO)" if any("TODO" in p["text"] for p in changed) else ""
        yield f"Proposed, {count_of(len(changed), 'place')}; nothing is written{todo}:"
    yield from first_lines([proposal_line(each) for each in changed], 2 * LISTED)
    if bare:
        yield f"Without documentation, {count_of(len(bare), 'place')} (a configured model drafts the words):"
    yield from first_lines([proposal_line(each) for each in bare], 2 * LISTED)
    if made.get("assumed"):
        yield f"Assumed: {made['assumed']}."
    if not result_of(state, "write_file"):
        yield from patch_lines(made)


def proposal_line(proposal: Data) -> str:
    name = proposal["symbol"] or proposal["kind"]
    note = f": {proposal['note']}" if proposal["note"] else ""
    return f"  {proposal['path']}:{proposal['line']} {name}{note}"


def answer_change(state: State) -> Iterator[str]:
    """Yield uses, steps, risks, tests and the patch of a change."""
    made = result_of(state, "plan_change")
    yield from written_lines(state)
    if not made:
        return
    if result_of(state, "write_file"):
        # The person who approved has seen the plan and the patch: what is left to do is new. What a model has done of
        # the plan, only that person can say.
        left = () if result_of(state, "propose_patch") else made["steps"]
        yield from (f"Next: {step_text(step)}" for step in left if not step["mechanical"])
        return
    yield made["summary"]
    if made["kind"] == "unknown":
        found = result_of(state, "search_repository")
        places = found.get("places") or found.get("nearest", ())
        yield from (f"Nearest: {place_line(each)}" for each in places[:SHOWN])
    yield from (f"Missing: {line}" for line in made["missing"])
    for group in made["usages"]:
        places = group["places"]
        yield f"{count_of(len(places), group['kind'])}:"
        lines = [f"  {path}:{line}: {text}" for path, line, text in places]
        yield from first_lines(lines, MENTIONS if group["kind"] in PROSE else PLACES)
    for number, step in enumerate(made["steps"], 1):
        yield f"{number}. {step_text(step)}" + (
            " [the patch does it]" if step["mechanical"] and made["patch"] else ""
        )
        yield from (f"  {place}" for place in step["places"])
    by_hand = [f"{path}:{line}: {why}" for path, line, why in made["by_hand"]]
    # What stands in the way is also what is left to a person: once is enough.
    yield from first_lines(
        [f"Risk: {risk}" for risk in made["risks"] if risk not in by_hand], RISKS
    )
    yield from first_lines([f"By hand: {place}" for place in by_hand], RISKS)
    if made.get("assumed"):
        yield f"Assumed: {made['assumed']}."
    yield from patch_lines(made)


def step_text(step: Data) -> str:
    """Return a step, and the files that it concerns, unless its places name them."""
    if step["places"]:
        return str(step["purpose"])
    paths = ", ".join(step["paths"][:SHOWN]) + (
        " ..." if len(step["paths"]) > SHOWN else ""
    )
    return str(step["purpose"]) + (f" ({paths})" if paths else "")


def patch_lines(made: Data) -> Iterator[str]:
    """Yield the patch as far as it fits."""
    yield from first_lines(made.get("patch", "").splitlines(), PATCH_LINES, ": see --patch")


def written_lines(state: State) -> Iterator[str]:
    """Yield what an approved run has written."""
    done = result_of(state, "write_file")
    if done:
        yield f"Written: {', '.join(done['paths'][:LISTED])}; `cli-guard undo` takes it back."


def count_of(number: int, what: str) -> str:
    """Return `1 call`, `3 uses`."""
    return f"{number} {what}" + ("" if number == 1 else "s")

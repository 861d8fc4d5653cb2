"""The terminal-style answers, grounded in what the tools gave back."""

import re

from cli_guard.graph.state import Data, State

SHOWN = 5
LISTED = 20


def review_text(state: State) -> str:
    """A change review in a few lines; the renderers of `cli_guard.report` show the whole of it."""
    judged = state["judged"]
    counts = {
        kind: sum(1 for each in judged if each["decision"] == kind) for kind in ("deny", "review", "advise")
    }
    head = f"{state['decision']}: {state['review_reason'] or 'no finding stands against it'}"
    told = ", ".join(f"{number} to {kind}" for kind, number in counts.items() if number)
    lines = [head + (f" ({told})" if told else "")]
    for each in judged[:SHOWN]:
        finding = each["finding"]
        place = f"{finding['path']}:{finding['line']}" if finding["line"] else finding["path"]
        lines.append(f"{each['decision']}: {place or 'message'}: {finding['message']} [{finding['rule']}]")
    if len(judged) > SHOWN:
        lines.append(f"and {len(judged) - SHOWN} more")
    return "\n".join((*lines, *blocked_lines(state), *skipped_lines(state)))


def answer_text(state: State) -> str:
    """The answer to a question: where it stands, what stands there, how to check it."""
    found: list[Data] = next(
        (r["matches"] for r in state["tool_results"] if r["tool"] == "search_repository"), []
    )
    read = [result["path"] for result in state["tool_results"] if result["tool"] == "read_file"]
    lines = []
    if not found:
        lines.append(f"Not found; looked at {searched(state)}.")
    else:
        best = found[0]
        lines.append(f"Best match: {best['path']}:{best['line']}: {best['text']}")
        names = variables(state, best["path"])
        if names:
            lines.append(f"Named there: {', '.join(names)}.")
        lines += [f"Also: {m['path']}:{m['line']}: {m['text']}" for m in found[1:SHOWN]]
    command = next((r["command"] for r in state["tool_results"] if r["tool"] == "suggest_command"), None)
    if command:
        lines.append(f"Suggested command (not run): {command}")
    if read:
        lines.append(f"Read: {', '.join(read)}.")
    return "\n".join((*lines, *blocked_lines(state), *skipped_lines(state)))


def searched(state: State) -> str:
    """The paths that were searched."""
    searches = (each["arguments"]["paths"] for each in state["plan"] if each["tool"] == "search_repository")
    paths: list[str] = next(searches, [])
    return ", ".join(paths[:LISTED]) + (f" and {len(paths) - LISTED} more" if len(paths) > LISTED else "")


def variables(state: State, path: str) -> list[str]:
    """The environment variables and constants that the best file names."""
    text = next((item["text"] for item in state["context_items"] if item["path"] == path), "")
    return list(dict.fromkeys(re.findall(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b", text)))[:SHOWN]


def blocked_lines(state: State) -> list[str]:
    """The paths that were asked for and are not allowed."""
    blocked = [each for each in state["blocked_actions"] if "path" in each]
    return [f"Not looked at: {each['path']}: {each['reason']}" for each in blocked[:SHOWN]]


def skipped_lines(state: State) -> list[str]:
    """What was not looked at, and why."""
    skipped = state["skipped"]
    lines = [f"Not reviewed: {each['path']}: {each['reason']}" for each in skipped[:SHOWN]]
    return lines + ([f"and {len(skipped) - SHOWN} more not reviewed"] if len(skipped) > SHOWN else [])

"""Format the answer for a terminal, from the results of the tools alone."""

from collections.abc import Callable, Iterable, Iterator

from cli_guard.graph.state import Data, State, ran_of

SHOWN = 5


def review_text(state: State) -> str:
    """Summarise a change review in a few lines; the renderers of `cli_guard.review.render` show all of it."""
    judged = state["judged"]
    counts = {
        kind: sum(1 for each in judged if each["decision"] == kind)
        for kind in ("deny", "review", "advise")
    }
    head = f"{state['decision']}: {state['review_reason'] or 'no finding denies it or needs review'}"
    counted = ", ".join(f"{number} to {kind}" for kind, number in counts.items() if number)
    lines = [head + (f" ({counted})" if counted else "")]
    for each in judged[:SHOWN]:
        finding = each["finding"]
        path = finding.path or "commit message"
        place = f"{path}:{finding.line}" if finding.line else path
        lines.append(
            f"{each['decision']}: {place or 'message'}: {finding.message} [{finding.rule}]"
        )
    if len(judged) > SHOWN:
        lines.append(f"and {len(judged) - SHOWN} more")
    return "\n".join((*lines, *blocked_lines(state), *skipped_lines(state)))


def answer_text(state: State, reply: Callable[[State], Iterable[str]]) -> str:
    """Format the answer to a request: what was found or proposed, the sources, and what a person has to do."""
    if ran_of(state):
        return "\n".join(ran_lines(state))
    called = [
        result for result in state["tool_results"] if result["tool"].startswith("mcp:")
    ]
    said = (
        [str(result["output"]) for result in called if "output" in result]
        if called
        else reply(state)
    )
    lines = [*said, *failed_lines(state), *blocked_lines(state), *skipped_lines(state)]
    assumed = state["wishes"].get("assumed")
    if assumed:
        lines.append(f"Assumed: {assumed}.")
    return "\n".join((*lines, *review_lines(state)))


def ran_lines(state: State) -> Iterator[str]:
    """Yield the result of a command. The person who approved it has already seen its purpose and its output."""
    ran = ran_of(state)
    code = ran["exit_code"]
    ended = f"exit code {code}" if code is not None and code >= 0 else "no exit code"
    yield f"Ran: {ran['command']}  (in {ran['folder']}): {ended} after {ran['duration']:.1f} s"
    if ran["problem"] and ran["problem"] != ended:
        yield f"Failed: {ran['problem']}"
    yield from (f"  {line}" for line in ran["failing_lines"])
    if ran["left_behind"]:
        several = (
            "process that it left behind was"
            if ran["left_behind"] == 1
            else "processes that it left behind were"
        )
        yield f"{ran['left_behind']} {several} ended."
    if ran["log"]:
        yield f"All of its output: {ran['log']}"
    left = [
        each
        for each in state["blocked_actions"]
        if each["tool"] not in ("read_file", "run_command")
    ]
    yield from (f"Left to you: {left_to_you(state, each)}." for each in left)


def failed_lines(state: State) -> list[str]:
    """List the tools that failed, each with its error."""
    return [
        f"{each['tool']}: {each['error']}"
        for each in state["tool_results"]
        if "error" in each
    ]


def blocked_lines(state: State) -> list[str]:
    """List the requested paths that are not allowed."""
    blocked = [
        each
        for each in state["blocked_actions"]
        if each["tool"] == "read_file" and "path" in each
    ]
    return [f"Not looked at: {each['path']}: {each['reason']}" for each in blocked[:SHOWN]]


def skipped_lines(state: State) -> list[str]:
    """List what was not read, each with the reason."""
    skipped = state["skipped"]
    what = "reviewed" if state["task_type"] == "change_review" else "looked at"
    lines = [f"Not {what}: {each.path}: {each.reason}" for each in skipped[:SHOWN]]
    return lines + (
        [f"and {len(skipped) - SHOWN} more not {what}"] if len(skipped) > SHOWN else []
    )


def left_to_you(state: State, action: Data) -> str:
    """Return what is left to a person; a command that the answer already shows is not repeated."""
    command = str(action.get("command") or action["tool"].replace("_", " "))
    above = any(
        r["tool"] == "suggest_command" and r.get("command") == command
        for r in state["tool_results"]
    )
    return "to run this command" if above else command


def lacks_patch(state: State) -> bool:
    """Return whether a change was asked for, and the answer is a plan without one that could be approved."""
    tools = {each["tool"] for each in state["blocked_actions"]}
    is_write = "write_file" in tools and tools <= {"read_file", "write_file"}
    has_patch = state["review_id"] or state["proposal"].get("patch")
    return state["status"] == "needs_review" and is_write and not has_patch


def review_lines(state: State) -> Iterable[str]:
    """Yield what needs a person, and the command that approves it."""
    if state["status"] != "needs_review":
        return
    if lacks_patch(state):
        yield "No patch: there is nothing to approve."
        return
    yield f"Needs review: {state['review_reason']}."
    ready = {each["tool"] for each in state["tool_requests"] if state["review_id"]}
    for each in state["blocked_actions"]:
        if each["tool"] not in ("read_file", "write_file", *ready) and not each[
            "tool"
        ].startswith("mcp:"):
            yield f"Left to you: {left_to_you(state, each)}."
    if state["review_id"]:
        yield f"To have exactly this done: cli-guard approve {state['review_id']} (or the same with --reject)"

"""Plans for a developer's request: first read, then act on what was read; a write is planned, and the gate stops it."""

import json
import re
from collections.abc import Callable, Iterable, Sequence

from cli_guard.assistant import replies
from cli_guard.assistant.request import (
    LEFT_TO_YOU,
    UserRequest,
    classify,
    leave_out_files,
)
from cli_guard.graph.context import Planned
from cli_guard.graph.state import Data, State
from cli_guard.model import Action

READ_FILES = 2
EXPLAINED = 3
# The purposes of commands that end by themselves, which a person may have run. The second row changes files.
CHECKS = frozenset(("test", "lint", "typecheck", "coverage", "benchmark"))
BUILDS = frozenset(("build", "docs", "format"))
# A word to fill in, or a secret that was taken out: such a command is not exact.
NOT_EXACT = re.compile(r"<[a-z]{1,30}>|\*{4}")
# Tools that answer one kind of question by themselves, and what for.
SPECIALISTS = {
    "read_history": "ask Git",
    "find_versions": "read what manifests state",
}


def request_of(state: State) -> UserRequest:
    """Return the request of a run by its words, as the assistant has read it before."""
    return classify(state["normalized_input"])


def read_action(tool: str, purpose: str, **arguments: object) -> Action:
    """Return a call of a tool that only reads."""
    return Action(tool, arguments, purpose=purpose)


def plan_call(name: str, arguments: str) -> Planned:
    """Plan a call of the tool of an MCP server, with its arguments in JSON."""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        return Planned((), failed=f"the arguments of {name} are no JSON object")
    return Planned((Action(name, given, risk="mcp", purpose="call the tool of a server"),))


def plan_answer(state: State, in_repository: bool) -> Planned:
    """Search for the words of the question and read the best files; then find the command if one was asked for."""
    if state["round"] > 1:
        return Planned(suggest_command(state))
    request = request_of(state)
    paths = state["requested_paths"]
    if not state["allowed_paths"]:
        reason = (
            "no path may be looked at: allow some"
            if state["restricted"]
            else "no file here holds text"
        )
        return Planned((), failed=reason)
    named = paths if state["wishes"].get("named") else []
    if named and not leave_out_files(request.topic, named):
        return Planned(
            tuple(
                read_action("explain", "see what it holds", name=p)
                for p in paths[:EXPLAINED]
            )
        )
    actions = [find_places(state, named)]
    actions += [
        read_action("read_file", "read what is there", path=path)
        for path in paths[:READ_FILES]
    ]
    if not set(state["wishes"].get("also", ())) & {"command_help", "test_workflow"}:
        return Planned(tuple(actions))
    found = find_tests_or_command(state) if request.mentions_tests else find_command(state)
    return Planned((*actions, found), last=False)


def plan_special(state: State, action: Action) -> Planned:
    """Ask a tool that knows one thing, such as Git's history; where it has no answer, plan as for any other request."""
    if state["round"] == 1:
        return Planned((action,), last=False)
    if replies.result_of(state, action.tool).get("lines"):
        return Planned(())
    otherwise, _ = KINDS[str(state["task_type"])]
    return otherwise({**state, "round": state["round"] - 1}, True)


def find_places(state: State, paths: Sequence[str] = ()) -> Action:
    """Return the call that searches for the words of a request, which may be a question."""
    query = request_of(state).topic
    purpose = "find where it stands"
    return read_action("search_repository", purpose, query=query, paths=list(paths))


def find_command(state: State) -> Action:
    """Return the call that finds the command for a request."""
    purpose = "find the command in the project's own files"
    return read_action("advise_command", purpose, request=state["normalized_input"])


def find_effect_command(state: State) -> tuple[Action, ...]:
    """Find the command of what is to be deployed or published after a change."""
    is_wanted = {*request_of(state).recorded} & {*LEFT_TO_YOU.values()}
    return (find_command(state),) if is_wanted else ()


def written_plan(state: State) -> Data:
    """Return the plan that a tool of this run has written, empty if none has."""
    return next((r for r in state["tool_results"] if "steps" in r), {})


def find_tests_or_command(state: State) -> Action:
    """Return the call that finds the tests of what is named; of nothing, the command that runs them all."""
    paths = state["requested_paths"]
    symbols = state["wishes"].get("symbols", [])
    if not paths and not symbols:
        return find_command(state)
    return read_action(
        "find_tests", "find the tests that cover it", paths=paths, symbols=symbols
    )


def found_command(state: State) -> str | None:
    """Return the command that a tool of this run has found."""
    found = (
        r.get("command")
        for r in state["tool_results"]
        if r["tool"] in ("find_tests", "advise_command")
    )
    return next((str(command) for command in found if command), None)


def suggest_command(state: State) -> tuple[Action, ...]:
    """Show the command that was found."""
    command = found_command(state)
    return (
        (read_action("suggest_command", "the command to run", command=command),)
        if command
        else ()
    )


def plan_command(state: State, in_repository: bool) -> Planned:
    """Find the command of this repository; show it with its verdict; run it, if that was ordered."""
    if state["round"] == 1:
        return Planned((find_command(state),), last=False)
    if state["round"] == 2:
        purpose = state["tool_results"][-1].get("purpose")
        ends = purpose in CHECKS or (
            purpose in BUILDS and not state["wishes"].get("forbids")
        )
        return Planned(
            suggest_command(state), last=not (ends and may_run(state, in_repository))
        )
    return Planned(run_and_record(state))


def plan_tests(state: State, in_repository: bool) -> Planned:
    """Find the tests and their command; simulate them in memory, or run them after an approval."""
    if state["round"] == 1:
        return Planned((find_tests_or_command(state),), last=False)
    if state["round"] > 2:
        return Planned(run_and_record(state))
    command = found_command(state)
    if command is None or in_repository:
        return Planned(suggest_command(state), last=not may_run(state, in_repository))
    simulated = read_action(
        "simulate_tests", "what the fixture has recorded", command=command
    )
    return Planned((*suggest_command(state), simulated))


def may_run(state: State, in_repository: bool) -> bool:
    """Return whether the command that was found is run here: ordered, exact, no server, in a repository."""
    command = found_command(state)
    if not (state["wishes"].get("runs") and in_repository and command) or NOT_EXACT.search(
        command
    ):
        return False
    from cli_guard.execution.processes.servers import find_expected_port

    return not find_expected_port(command)


def run_and_record(state: State) -> tuple[Action, ...]:
    """Run the command that was found, after an approval; and record what the request wants recorded then."""
    arguments: Data = {"command": found_command(state)}
    return (
        Action("run_command", arguments, risk="execute", purpose="run the command"),
        *record(state),
    )


def plan_documentation(state: State, in_repository: bool) -> Planned:
    """Propose the documentation as a patch; write it only if that was asked for."""
    if state["round"] > 1:
        return Planned((*write(state, required=False), *record(state)))
    last = not request_of(state).writes
    return Planned(
        (propose(state, "propose_documentation", "compare docstrings and signatures"),),
        last=last,
    )


def find_unnamed(state: State) -> tuple[Action, ...]:
    """Search for the words of a request whose plan has found nothing that it names."""
    is_unknown = written_plan(state).get("kind") == "unknown"
    is_searched = bool(replies.result_of(state, "search_repository"))
    return (find_places(state),) if is_unknown and not is_searched else ()


def plan_change(state: State, in_repository: bool) -> Planned:
    """Plan steps and, where it is mechanical, the patch; then the write and what the request wants recorded."""
    request = request_of(state)
    if state["round"] == 1:
        if request.recorded and request.only_recorded:
            return Planned(record(state))
        proposed = propose(state, "plan_change", "find what has to change")
        return Planned((proposed, *find_effect_command(state)), last=False)
    if searches := find_unnamed(state):
        return Planned(searches, last=False)
    # A plan is to be carried out one day, and a person decides when; a question only wants to know.
    is_plan = state["task_type"] == "refactor_plan"
    if is_plan and (state["wishes"].get("forbids") or request.is_question):
        return Planned((), failed=missing_names(state))
    required = is_plan or request.edits or not request.recorded
    actions = (*write(state, required=required), *record(state))
    return Planned(actions, failed=missing_names(state))


def propose(state: State, tool: str, purpose: str) -> Action:
    """Return the call of a tool that works out a proposal."""
    return read_action(tool, purpose, request=request_of(state).task)


def write(state: State, *, required: bool) -> tuple[Action, ...]:
    """Write what was proposed; by hand, if no patch could be made and the task is to write."""
    proposal = state["proposal"]
    if not proposal and not required:
        return ()
    steps = (
        step
        for result in state["tool_results"]
        for step in result.get("steps", ())
        if step.get("command") is None
    )
    paths = proposal.get("paths") or list(
        dict.fromkeys(path for step in steps for path in step["paths"])
    )
    arguments: Data = {"paths": paths, "patch": proposal.get("patch", "")}
    return (Action("write_file", arguments, risk="write", purpose="change the files"),)


def written_steps(state: State) -> tuple[Action, ...]:
    """Return the steps of the plan that a tool has written, in order, each as the action that it stands for."""
    actions = []
    for step in written_plan(state).get("steps", ()):
        purpose = step["purpose"]
        if step.get("command") is not None:
            run: Data = {"command": step["command"]} if step["command"] else {}
            actions.append(Action("run_command", run, risk="execute", purpose=purpose))
        elif step["paths"]:
            paths: Data = {"paths": list(step["paths"])}
            actions.append(Action("write_file", paths, risk="write", purpose=purpose))
    return tuple(actions)


def record(state: State) -> tuple[Action, ...]:
    """Make the commits, pushes and pull requests that the request asks for."""
    return tuple(effect_action(state, tool) for tool in request_of(state).recorded)


def effect_action(state: State, tool: str) -> Action:
    """Return the call of a tool with an effect outside the files; what is deployed or published names its command."""
    if tool.startswith("git_"):
        by_git: Data = {"content": "", "findings": 0}
        return Action(tool, by_git, risk="git", purpose="record the change")
    outside: Data = {"purpose": state["normalized_input"][:2_000]}
    command = replies.result_of(state, "advise_command").get("command")
    if tool in LEFT_TO_YOU.values() and command:
        outside["command"] = command
    return Action(tool, outside, risk="external", purpose=tool.replace("_", " "))


def plan_effect(state: State, in_repository: bool) -> Planned:
    """Find the command of the project that deploys or publishes; then leave it to a person, with all else wanted."""
    if state["round"] == 1:
        return Planned((find_command(state),), last=False)
    shown = suggest_command(state)
    # Shown before the gate stops at the rest.
    if state["round"] == 2 and shown:
        return Planned(shown, last=False)
    return Planned(record(state))


def missing_names(state: State) -> str | None:
    """Return why a plan fails: all that the request names is missing."""
    planned = written_plan(state)
    if (
        not planned.get("missing")
        or planned.get("usages")
        or planned.get("steps")
        or state["proposal"]
    ):
        return None
    return "; ".join(planned["missing"])


# Each kind of task: what plans its actions, and what answers with their results.
KINDS: dict[
    str, tuple[Callable[[State, bool], Planned], Callable[[State], Iterable[str]]]
] = {
    "repo_qna": (plan_answer, replies.answer_question),
    "doc_generation": (plan_documentation, replies.answer_documentation),
    "refactor_plan": (plan_change, replies.answer_change),
    "command_help": (plan_command, replies.answer_command),
    "test_workflow": (plan_tests, replies.answer_tests),
    "code_change": (plan_change, replies.answer_change),
    "unsupported": (plan_effect, replies.answer_command),
}

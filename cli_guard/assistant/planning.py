"""Plans for a developer's request: first read, then act on what was read; a write is planned, and the gate stops it."""

import json
import re
from collections.abc import Callable

from cli_guard.graph.context import Planned
from cli_guard.graph.state import Data, State
from cli_guard.model import Action

READ_FILES = 2
QUERY_CHARS = 2_000
SECOND_WISH = re.compile(r"[?.;]\s|,? and (?:suggest|show|give|recommend|tell|propose)\b")
CONCERNED = 50
LEAST_WORDS = 3
OUTLINES = 3
# What is left of a question about a file as such, once its name is taken out.
ABOUT_A_FILE = re.compile(
    r"(?:(?:please|explain|describe|summari[sz]e|show|tell|give|me|us|what|how|does|do|is|are|was|in|of|the|this|these"
    r"|that|file|files|module|script|say|says|hold|contain|contains|for|about|work|works|overview|summary|purpose|a|an"
    r"|it|and|can|you)\W*(?:\s|$))*",
    re.IGNORECASE,
)
# What a request may ask for beside a change of files, and the tool that stands for it.
RECORDED = (
    (re.compile(r"\bcommit(?:s|ted|ting)?\b", re.IGNORECASE), "git_commit", {"content": "", "findings": 0}),
    (re.compile(r"\bpush(?:es|ed|ing)?\b", re.IGNORECASE), "git_push", {"content": "", "findings": 0}),
    (re.compile(r"\b(?:pull|merge) requests?\b|\bPRs?\b"), "open_pull_request", None),
)
# "mcp:git.git_status {...}", with or without a verb before it.
SERVER_TOOL = re.compile(r"(?:\w+ ){0,3}(mcp:[\w-]{1,64}\.[^\s{}]{1,128})\s*(\{.*\})?")
INTO = re.compile(r"\b(?:write|put|insert)\b.{1,200}\binto\b", re.IGNORECASE)
# What else a request says beside what is to be changed: that nothing be written, or what comes after.
NO_EDITS = re.compile(
    r",?\s+(?:but|and)?\s*(?:without|do not|don't|not)\s+(?:yet )?(?:chang|edit|writ|touch|modif|apply)\w*\b.{0,40}$",
    re.IGNORECASE,
)
AFTERWARDS = re.compile(
    r",?\s+(?:and|then|and then)\s+(?:commit|push|open|create|make|send|submit)\b.{0,120}$", re.IGNORECASE
)
# "commit my changes and push": nothing is to be changed before.
ONLY_RECORDED = re.compile(
    r"(?:please |now |can you )?(?:commit|push|open (?:a |the )?(?:pull request|merge request|pr))\b"
    r"(?: (?:and|then|push|commit|it|this|them|everything|all|my|the|these|staged|changes?|files?|work|branch|to|"
    r"origin|open|a|main|master|upstream|pull request|merge request|pr|please|now|for me)\b,?)*[.!]*",
    re.IGNORECASE,
)
# What a person may have run: it ends by itself. The second row changes files.
CHECKS = frozenset(("test", "lint", "typecheck", "coverage", "benchmark"))
BUILDS = frozenset(("build", "docs", "format"))
# A word to fill in, and a secret that was taken out: neither is what somebody wants run.
NOT_EXACT = re.compile(r"<[a-z]{1,30}>|\*{4}")
ABOUT_TESTS = re.compile(r"\btests?\b", re.IGNORECASE)


def topic_of(request: str) -> str:
    """What a request is about, without the second wish behind it ("... and suggest a test command")."""
    return SECOND_WISH.split(request, maxsplit=1)[0][:QUERY_CHARS]


def plan_call(name: str, arguments: str) -> Planned:
    """The tool of an MCP server that a request names, with its arguments in JSON."""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        return Planned((), failed=f"the arguments of {name} are no JSON object")
    return Planned((Action(name, given, risk="mcp", purpose="call the tool of a server"),))


def plan_answer(state: State, in_repository: bool) -> Planned:
    """Search for the words of the question and read the best files; then the command that was asked for as well."""
    if state["round"] > 1:
        return Planned(suggestion(state))
    request, paths = state["normalized_input"], state["requested_paths"]
    if not state["allowed_paths"]:
        reason = "no path may be looked at: allow some" if state["restricted"] else "no file here holds text"
        return Planned((), failed=reason)
    if state["wishes"].get("named") and ABOUT_A_FILE.fullmatch(without_names(topic_of(request), paths)):
        outlines = (
            Action("outline_file", {"path": p}, purpose="see what it holds") for p in paths[:OUTLINES]
        )
        return Planned(tuple(outlines))
    query: Data = {"query": topic_of(request), "paths": []}
    if state["wishes"].get("named"):
        # The name of a file says where to look, not what for.
        query = {"query": without_paths(query["query"], paths), "paths": paths}
    actions = [Action("search_repository", query, purpose="find where it stands")]
    actions += [
        Action("read_file", {"path": path}, purpose="read what is there") for path in paths[:READ_FILES]
    ]
    also = set(state["wishes"].get("also", ()))
    if not also & {"command_help", "test_workflow"}:
        return Planned(tuple(actions))
    return Planned((*actions, wanted_command(state)), last=False)


def without_paths(question: str, paths: list[str]) -> str:
    """A question without the files that it names; all of it, if nothing else is left."""
    left = without_names(question, paths)
    return left if len(left.split()) > LEAST_WORDS else question


def without_names(question: str, paths: list[str]) -> str:
    """A question without the names of some files."""
    names = {name for path in paths for name in (path, path.rsplit("/", 1)[-1])}
    return " ".join(word for word in question.split() if word.strip("`'\"(),.:;?!") not in names)


def wanted_command(state: State) -> Action:
    """What finds the command that a request asks for: the tests of what it names, or whatever else it wants."""
    request = state["normalized_input"]
    named = bool(state["requested_paths"] or state["wishes"].get("symbols"))
    if ABOUT_TESTS.search(request) and named:
        arguments: Data = {"paths": state["requested_paths"], "symbols": state["wishes"].get("symbols", [])}
        return Action("find_tests", arguments, purpose="find the tests that cover it")
    return Action(
        "advise_command", {"request": request}, purpose="find the command in the project's own files"
    )


def suggestion(state: State) -> tuple[Action, ...]:
    """The command that was found, as text."""
    command = found_command(state)
    return (Action("suggest_command", {"command": command}, purpose="the command to run"),) if command else ()


def found_command(state: State) -> str | None:
    """The command that a tool of this run has found."""
    commands = (
        r.get("command") for r in state["tool_results"] if r["tool"] in ("find_tests", "advise_command")
    )
    return next((str(command) for command in commands if command), None)


def plan_command(state: State, in_repository: bool) -> Planned:
    """Which command of this repository does it; then the engine's word on it; and running it, if that was ordered."""
    if state["round"] == 1:
        request: Data = {"request": state["normalized_input"]}
        action = Action("advise_command", request, purpose="find the command in the project's own files")
        return Planned((action,), last=False)
    if state["round"] == 2:
        purpose = state["tool_results"][-1].get("purpose")
        ends = purpose in CHECKS or (purpose in BUILDS and not state["wishes"].get("forbids"))
        return Planned(suggestion(state), last=not (ends and runs(state, in_repository)))
    return Planned(running(state))


def runs(state: State, in_repository: bool) -> bool:
    """Is the command that was found one to run here: ordered, exact, no server, and in a repository?"""
    command = found_command(state)
    wanted = state["wishes"].get("runs") and in_repository
    if not wanted or not command or NOT_EXACT.search(command):
        return False
    from cli_guard.execution.processes.ports import expected_port

    return expected_port(command) is None


def running(state: State) -> tuple[Action, ...]:
    """The command that was found, run after a person's yes; and whatever the request wants recorded then."""
    arguments: Data = {"command": found_command(state)}
    return (Action("run_command", arguments, risk="execute", purpose="run the command"), *recording(state))


def plan_tests(state: State, in_repository: bool) -> Planned:
    """Which tests cover it; their command; and running them: acted out in memory, after a person's yes elsewhere."""
    if state["round"] == 1:
        return Planned((tests_or_command(state),), last=False)
    command = found_command(state)
    if state["round"] == 2:
        if command is None or in_repository:
            return Planned(suggestion(state), last=not runs(state, in_repository))
        simulated = Action("simulate_tests", {"command": command}, purpose="what the fixture has recorded")
        return Planned((*suggestion(state), simulated))
    return Planned(running(state))


def tests_or_command(state: State) -> Action:
    """The tests of what is named; of nothing in particular, the command that runs them all."""
    paths = state["requested_paths"]
    symbols = state["wishes"].get("symbols", [])
    if paths or symbols:
        arguments: Data = {"paths": paths, "symbols": symbols}
        return Action("find_tests", arguments, purpose="find the tests that cover it")
    request: Data = {"request": state["normalized_input"]}
    return Action("advise_command", request, purpose="find how this project runs its tests")


def plan_documentation(state: State, in_repository: bool) -> Planned:
    """The documentation as a patch; writing it only if that was asked for."""
    writes = bool(state["wishes"].get("writes") or INTO.search(state["normalized_input"]))
    writes = writes and not state["wishes"].get("forbids")
    if state["round"] > 1:
        return Planned((*writing(state, required=False), *recording(state)))
    return Planned(
        (proposing(state, "propose_documentation", "compare docstrings and signatures"),), last=not writes
    )


def plan_refactoring(state: State, in_repository: bool) -> Planned:
    """Usages, steps and risks; the tests that cover them; then the patch, unless no file is to be changed."""
    # Who asks for a plan wants it carried out one day, and a person decides when; a question only wants to know.
    writes = not state["wishes"].get("forbids") and not state["normalized_input"].endswith("?")
    if state["round"] == 1:
        return Planned((proposing(state, "plan_refactoring", "find every use"),), last=False)
    if state["round"] == 2:
        paths = concerned(state)
        arguments: Data = {"paths": paths}
        tests = (Action("find_tests", arguments, purpose="find the tests that cover it"),) if paths else ()
        return Planned(tests, last=not writes, failed=nothing_there(state))
    return Planned((*writing(state, required=True), *recording(state)))


def concerned(state: State) -> list[str]:
    """The files of a plan that are there: those that its patch changes, or else those of code that uses the subject."""
    planned = state["tool_results"][-1]
    groups = [
        group
        for group in planned.get("usages", ())
        if group["kind"] in ("definition", "import", "call", "use")
    ]
    used = [place[0] for group in groups for place in group["places"]]
    paths = dict.fromkeys(state["proposal"].get("paths") or used)
    known = set(state["allowed_paths"])
    return [path for path in paths if path in known][:CONCERNED]


def plan_change(state: State, in_repository: bool) -> Planned:
    """Steps and, where it is mechanical, the patch; then the write and whatever the request wants recorded."""
    recorded = recording(state)
    if state["round"] == 1:
        if recorded and ONLY_RECORDED.fullmatch(state["normalized_input"]):
            return Planned(recording(state, state["normalized_input"]))
        return Planned((proposing(state, "plan_change", "find what has to change"),), last=False)
    return Planned((*writing(state, required=not recorded), *recorded), failed=nothing_there(state))


def proposing(state: State, tool: str, purpose: str) -> Action:
    """The tool that works out a proposal."""
    request = NO_EDITS.sub("", state["normalized_input"])
    if state["wishes"].get("effect"):
        request = AFTERWARDS.sub("", request)
    return Action(tool, {"request": request or state["normalized_input"]}, purpose=purpose)


def writing(state: State, *, required: bool) -> tuple[Action, ...]:
    """The write of what was proposed; by hand, if no patch could be made and the task is to write."""
    proposal = state["proposal"]
    if not proposal and not required:
        return ()
    steps = (step for result in state["tool_results"] for step in result.get("steps", ()))
    paths = proposal.get("paths") or list(dict.fromkeys(path for step in steps for path in step["paths"]))
    arguments: Data = {"paths": paths, "patch": proposal.get("patch", "")}
    return (Action("write_file", arguments, risk="write", purpose="change the files"),)


def recording(state: State, said: str = "") -> tuple[Action, ...]:
    """The commits, pushes and pull requests that a request wants, as far as the words go that say so."""
    actions = []
    for words, tool, arguments in RECORDED:
        if words.search(said or state["wishes"].get("effect", "")):
            purpose = state["normalized_input"][:2_000]
            given: Data = {"purpose": purpose} if arguments is None else dict(arguments)
            actions.append(Action(tool, given, risk="git", purpose="record the change"))
    return tuple(actions)


def nothing_there(state: State) -> str | None:
    """Why a plan fails: all that the request names is missing."""
    planned = next((r for r in state["tool_results"] if r["tool"] in ("plan_refactoring", "plan_change")), {})
    if not planned.get("missing") or planned.get("usages") or planned.get("steps") or state["proposal"]:
        return None
    return "; ".join(planned["missing"])


PLANS: dict[str, Callable[[State, bool], Planned]] = {
    "repo_qna": plan_answer,
    "doc_generation": plan_documentation,
    "refactor_plan": plan_refactoring,
    "command_help": plan_command,
    "test_workflow": plan_tests,
    "code_change": plan_change,
}

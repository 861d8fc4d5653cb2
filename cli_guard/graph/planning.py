"""Plans: which tools a task needs next. Pure: a state and a subject in, actions out."""

from cli_guard.graph.context import Context
from cli_guard.graph.state import State
from cli_guard.model import Action
from cli_guard.reviewers.subject import Subject
from cli_guard.tools.reading import QUERY_CHARS

MESSAGE_ONLY = "commit-msg"
PUSH_EVENTS = ("pre-push", "range")

LATER = {
    "doc_generation": "writing documentation on request",
    "refactor_plan": "planning a refactoring on request",
    "command_help": "help with commands",
    "test_workflow": "planning test runs",
    "code_change": "changing code",
}


def plan(state: State, context: Context) -> list[Action]:
    """The next actions of the task; none when it is done."""
    if state["task_type"] == "change_review":
        assert context.subject is not None  # noqa: S101 - prepare_task failed without one
        if state["round"] == 1:
            return plan_reviewers(context.subject, state["requested_paths"])
        return [plan_recording(context.subject, state)] if state["round"] == 2 else []
    return plan_answer(state) if state["round"] == 1 else []


def plan_reviewers(subject: Subject, paths: list[str]) -> list[Action]:
    """The reviewers that this change gives something to do."""
    names = []
    if subject.event == MESSAGE_ONLY:
        names = ["secrets", "message"]
    else:
        names = ["secrets"]
        if paths:
            names += ["code", "commands", "docs", "refactor", "policy"]
        if subject.message or subject.history:
            names.append("message")
        if subject.pushed:
            names.append("push")
    return [
        Action(
            f"review_{name}",
            {"paths": [] if subject.event == MESSAGE_ONLY else paths},
            purpose=f"find {name} risks",
        )
        for name in names
    ]


def plan_recording(subject: Subject, state: State) -> Action:
    """What Git will do once the hook lets it."""
    tool = "git_push" if subject.event in PUSH_EVENTS else "git_commit"
    arguments = {"content": subject.changes.identity, "findings": len(state["findings"])}
    return Action(tool, arguments, risk="git", purpose="let Git record what was reviewed")


def plan_answer(state: State) -> list[Action]:
    """Search for the words of the question, then read the best file."""
    paths = state["requested_paths"]
    if not (paths or state["allowed_paths"]):
        return []
    query: dict[str, object] = {
        "query": state["normalized_input"][:QUERY_CHARS],
        "paths": paths or state["allowed_paths"],
    }
    actions = [Action("search_repository", query, purpose="find where the words stand")]
    actions += [Action("read_file", {"path": path}, purpose="read what is there") for path in paths[:2]]
    command = suggested_command(state)
    if command:
        actions.append(Action("suggest_command", {"command": command}, purpose="how to verify it"))
    return actions


def suggested_command(state: State) -> str | None:
    """A test command, when the request asks for one and the repository tells which."""
    if not {"command", "test", "tests", "verify"} & set(state["normalized_input"].lower().split()):
        return None
    paths = state["allowed_paths"]
    stems = {path.rsplit("/", 1)[-1].removesuffix(".py") for path in state["requested_paths"]}
    tests = [p for p in paths if p.rsplit("/", 1)[-1] in {f"test_{stem}.py" for stem in stems}]
    if tests:
        return "pytest " + " ".join(tests)
    files = {path.rsplit("/", 1)[-1] for path in paths}
    known = (
        ("pyproject.toml", "pytest"),
        ("package.json", "npm test"),
        ("Makefile", "make test"),
        ("go.mod", "go test ./..."),
    )
    return next((command for file, command in known if file in files), None)

"""The assistant that answers by rules: what the graph is given for a developer's request, without model or network."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from cli_guard.assistant.explaining import read_explained
from cli_guard.assistant.history_request import read_history_request
from cli_guard.assistant.planning import (
    KINDS,
    SPECIALISTS,
    find_places,
    plan_call,
    plan_special,
    read_action,
    request_of,
    written_steps,
)
from cli_guard.assistant.replies import answer_both, result_of
from cli_guard.assistant.request import (
    find_unreadable,
    leave_out_files,
    read_request,
)
from cli_guard.assistant.request_command import read_command_request
from cli_guard.assistant.request_question import find_versioned, parse_question
from cli_guard.graph.context import Context, Planned, Reading
from cli_guard.graph.state import State, TaskType, question_of
from cli_guard.lazy import dataclass

if TYPE_CHECKING:
    from cli_guard.assistant.retrieval import SearchResult
    from cli_guard.assistant.sandbox.model import CommandWorld
    from cli_guard.graph.tools.tool import Tool, World

ANSWERED_FROM = 5
LEAST_WORDS = 3
# Tasks whose tools find by themselves what they look at.
SELF_SERVING = ("command_help", "test_workflow", "unsupported")


def is_about_definition(request: str) -> bool:
    """Return whether a request asks what a name with a capital is: `Find` is a function, and the program is `find`."""
    thing = read_explained(request)
    return thing is not None and thing[0][:1].isupper() and thing[0].isidentifier()


@dataclass
class LocalAssistant:
    """Implements `cli_guard.graph.context.Assistant` for one run.

    `shell` is the world of the run tool over a repository; without one the files of the run are all there is.
    """

    shell: "CommandWorld | None" = None
    _found: "dict[tuple[str, ...], SearchResult]" = field(default_factory=dict)

    @cached_property
    def tools(self) -> "Mapping[str, Tool]":
        """Return the tools by name."""
        from cli_guard.assistant.tools import tools_of

        return tools_of(self)

    def read(self, request: str, paths: Collection[str], kind: TaskType | None) -> Reading:
        """Read a request; a question about Git itself is one for a command, whatever else its words say."""
        said = read_request(request, paths)
        names = said.names
        if kind is None and not said.server_call and read_history_request(request, names):
            past = {
                "paths": list(names.paths),
                "symbols": list(names.symbols),
                "also": [],
                "asks": "read_history",
            }
            return Reading("repo_qna", "the recorded history", past)
        named = list(dict.fromkeys((*names.paths, *names.missing, *names.outside)))
        wishes: dict[str, object] = {
            "paths": named,
            "symbols": list(names.symbols),
            "also": [],
        }
        if said.server_call:
            wishes = {}
        elif said.is_about_git:
            # The commands for that are a closed list, and none of them throws anything away.
            return Reading("command_help", "Git itself", wishes)
        wishes |= {
            "writes": said.writes,
            "forbids": said.forbids,
            "runs": said.runs,
            "also": list(said.also),
            "search": said.searches,
            "assumed": said.assumed,
        }
        answered = said.kind
        if said.kind == "command_help" and is_about_definition(request):
            answered = "repo_qna"
        if answered == "command_help" and read_command_request(request).explain:
            # What a command names need not be there.
            wishes["paths"] = []
        elif question_of(request) != request:
            # Nor need the files of a message that is pasted: it is from another machine.
            wishes["paths"] = list(names.paths)
        elif answered == "repo_qna" and (thing := read_explained(request)):
            folder = f"{thing[0].removeprefix('./').rstrip('/')}/"
            is_inside = all(each.startswith(folder) for each in named)
            if is_inside or named == list(names.paths)[:1]:
                wishes["explain"], wishes["near"] = thing
        if said.kind == "repo_qna" and find_versioned(request):
            wishes["asks"] = "find_versions"
        decided_by = "the caller" if kind else ", ".join(said.decided_by)
        # Another kind named by the caller does not get around what the words ask for.
        refused = said.refusal and not find_unreadable(request)
        is_effect = said.kind == "unsupported"
        wanted: TaskType = "unsupported" if refused or is_effect else kind or answered
        return Reading(wanted, decided_by, wishes, said.refusal)

    def select_paths(self, state: State, context: Context) -> Sequence[str]:
        """Return the files with the best matches for a request that names none."""
        request = request_of(state)
        if state["task_type"] in SELF_SERVING or request.server_call:
            return ()
        places = self.find(context.world(state), request.topic).places
        return list(dict.fromkeys(place.path for place in places))[:ANSWERED_FROM]

    def plan(self, state: State, context: Context) -> Planned:
        """Return the next actions: first read, then act on what was read."""
        called = request_of(state).server_call
        if called:
            return plan_call(*called)
        wishes = state["wishes"]
        if tool := wishes.get("asks"):
            text = state["normalized_input"]
            return plan_special(state, read_action(tool, SPECIALISTS[tool], request=text))
        if name := wishes.get("explain"):
            asked = read_action("explain", "explain it", name=name, near=wishes["near"])
            return plan_special(state, asked)
        make_plan, _ = KINDS[str(state["task_type"])]
        planned = make_plan(state, self.shell is not None)
        if planned.last and not planned.failed:
            planned = replace(planned, steps=written_steps(state))
        if state["wishes"].get("search") and state["round"] == 1 and state["allowed_paths"]:
            return replace(planned, actions=(find_places(state), *planned.actions))
        return planned

    def reply(self, state: State) -> Iterable[str]:
        """Yield the lines of the answer; in a chat those are the model's."""
        if state["wishes"].get("chat"):
            return ()
        for tool in (*SPECIALISTS, "explain"):
            if lines := result_of(state, tool).get("lines"):
                return list(lines)
        _, answer = KINDS[str(state["task_type"])]
        return (
            answer_both(state, answer) if state["wishes"].get("search") else answer(state)
        )

    def find(
        self, world: "World", question: str, paths: Sequence[str] = ()
    ) -> "SearchResult":
        """Search for the words of a question in some files, each question once; in all where these have no answer."""
        from cli_guard.assistant.retrieval import find

        if "use" in parse_question(question).kinds:
            # A path that is named is what is used, not where.
            paths = ()
        key = (question, *paths)
        if key not in self._found:
            # The name of a file says where to look, not what for, unless too little is left without it.
            without = leave_out_files(question, paths) if paths else ""
            query = without if len(without.split()) > LEAST_WORDS else question
            self._found[key] = find(query, world.snapshot, allowed=paths or None)
            if paths and self._found[key].confidence == "none":
                self._found[key] = self.find(world, question)
        return self._found[key]

    def shell_for(self, world: "World") -> "CommandWorld":
        """Return the world of the run tool, narrowed to the paths that the caller allowed."""
        from cli_guard.assistant.sandbox.model import CommandWorld
        from cli_guard.repository.snapshot import Snapshot

        if not self.shell:
            return CommandWorld(Snapshot.of(world.snapshot))
        if world.allowed is None:
            return self.shell
        # History and memory would show the other paths.
        narrowed = self.shell.snapshot.only(set(world.allowed))
        return replace(self.shell, snapshot=narrowed, repository=None, memory=None)

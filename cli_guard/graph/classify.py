"""Which kind of task a request is: scored words, the first kind with the most points."""

import re

from cli_guard.graph.state import TaskType

# What must never be turned into a command: the requirement's "unsupported tasks".
UNSUPPORTED = re.compile(
    r"\b(deploy\w*|publish|release to|roll ?out|exfiltrat\w*|steal|dump (all )?(secrets|credentials|passwords)"
    r"|(extract|print|show|read|send)\w* (me )?(the |all |our )?(\w+ )?(secrets|credentials|passwords|api keys?|tokens)"
    r"|drop (the )?(database|table)|delete (everything|all files)|rm -rf|wipe|force.push)\b",
    re.IGNORECASE,
)

WORDS: dict[TaskType, str] = {
    "change_review": r"review|audit|check (?:this|my|the) (?:change|diff|commit)s?|look over",
    "doc_generation": r"document|documentation|docstrings?|javadoc|jsdoc|write docs|readme section",
    "refactor_plan": r"refactor\w*|rename|extract|split|move .+ to|migrate|from \w+ to \w+|deprecated",
    "test_workflow": r"run (?:the |my |all )?tests?|which tests|tests? cover\w*|test suite|coverage",
    "command_help": r"(?:which|what) command|command (?:to|for)|how (?:do|can) (?:i|we) (?:run|build|install|start)",
    "code_change": r"add|implement|fix|change|edit|write|create|update|remove|delete|replace|commit|push",
    "repo_qna": r"where|what|which|who|how|why|explain|describe|find|list|summari[sz]e|does|is|are",
}


def classify(request: str) -> tuple[TaskType, str]:
    """The kind of a request, and the words that told."""
    risky = UNSUPPORTED.search(request)
    if risky:
        return "unsupported", risky.group(0)
    first = re.match(r"\W*(where|what|which|who|how|why|explain|describe|find)\b", request, re.IGNORECASE)
    for kind, words in WORDS.items():
        found = re.search(rf"\b(?:{words})\b", request, re.IGNORECASE)
        # A question about the repository stays one, whatever verb it holds further on.
        if found and not (kind == "code_change" and first):
            return kind, found.group(0)
    return "repo_qna", "nothing else fits"

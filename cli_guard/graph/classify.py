"""Which kind of task a request is: scored words, the first kind with the most points."""

import re

from cli_guard.graph.state import TaskType

# What must never be turned into a command: the requirement's "unsupported tasks".
CREDENTIALS = re.compile(
    r"\b(exfiltrat\w*|steal|dump (all )?(secrets|credentials|passwords)"
    r"|(extract|print|show|read|send)\w* (me )?(the |all |our )?(\w+ )?"
    r"(secrets|credentials|passwords|api keys?|tokens))\b",
    re.IGNORECASE,
)
OPERATIONS = re.compile(
    r"\b(deploy\w*|publish|release to|roll ?out"
    r"|drop (the )?(database|table)|delete (everything|all files)|rm -rf|wipe|force.push)\b",
    re.IGNORECASE,
)
QUESTION = re.compile(r"\W*(where|what|which|who|how|why|explain|describe|find)\b", re.IGNORECASE)
# What a question about the repository is not, whatever verb it holds further on.
WISHES = ("change_review", "doc_generation", "refactor_plan", "code_change")

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
    question = QUESTION.match(request)
    # "Where is the deployment configured?" is for reading; nobody asks to be shown credentials for that.
    risky = CREDENTIALS.search(request) or (None if question else OPERATIONS.search(request))
    if risky:
        return "unsupported", risky.group(0)
    for kind, words in WORDS.items():
        found = re.search(rf"\b(?:{words})\b", request, re.IGNORECASE)
        if found and not (question and kind in WISHES):
            return kind, found.group(0)
    return "repo_qna", "nothing else fits"

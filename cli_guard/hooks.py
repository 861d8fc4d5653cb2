"""One row for each event that is reviewed: the hooks that Git calls, then what a person or CI asks for.

Whoever treats events differently asks the row. Every run loads this file, so it imports nothing.
"""

# What an event asks for.
STAGED = "staged"
MESSAGE = "message"
PUSH = "push"
PREPARATION = "preparation"
ARRIVAL = "arrival"
RANGE = "range"
WORKTREE = "worktree"

# Who calls: Git in a work tree, Git in a bare repository that is pushed to, or a person.
GIT = "git"
SERVER = "server"
PERSON = "person"


class Event:
    """A moment at which something is reviewed.

    `request` is what is asked for, `summary` the help of its command. What is found again at the same `place` is not
    fixed. `again` is what to do once more after an approval. `checks` is the stage of the repository's checks that
    run. `framework_id` is its id in .pre-commit-hooks.yaml, "" if frameworks do not run it. Its `script` is in the
    folder hooks/. `module` has its command if cli/hook.py does not.
    """

    def __init__(
        self,
        name: str,
        request: str,
        caller: str = PERSON,
        summary: str = "",
        *,
        place: str = "",
        again: str = "do that again",
        checks: str = "",
        framework_id: str = "",
        script: str = "review",
        module: str = "",
    ) -> None:
        self.name = name
        self.request = request
        self.caller = caller
        self.summary = summary
        self.place = place
        self.again = again
        self.checks = checks
        self.framework_id = framework_id
        self.script = script
        self.module = module

    @property
    def is_hook(self) -> bool:
        """Return whether Git calls, not a person."""
        return self.caller != PERSON

    @property
    def is_before_commit(self) -> bool:
        """Return whether Git calls before it asks for the message of a commit."""
        return self.is_hook and self.request == STAGED

    @property
    def is_of_commit(self) -> bool:
        """Return whether Git calls while it makes a commit."""
        return self.is_hook and self.request in (STAGED, MESSAGE)

    @property
    def is_push(self) -> bool:
        """Return whether Git calls with the refs of a push on standard input."""
        return self.request in (PUSH, ARRIVAL)

    @property
    def may_be_approved(self) -> bool:
        """Return whether an approval can be bound to what is reviewed: what is recorded next, or a range."""
        return self.request in (STAGED, MESSAGE, PUSH, RANGE)

    @property
    def has_commits(self) -> bool:
        """Return whether it is about the commits that a branch adds."""
        return self.is_push or self.request == RANGE


EVENTS = (
    Event(
        "pre-commit",
        STAGED,
        GIT,
        "Review what is about to be committed.",
        place="index",
        again="commit again",
        checks="pre-commit",
        framework_id="cli-guard",
    ),
    Event(
        "pre-merge-commit",
        STAGED,
        GIT,
        "Review what a merge commit adds.",
        place="index",
        again="commit again",
        checks="pre-commit",
        framework_id="cli-guard-merge",
    ),
    Event(
        "commit-msg",
        MESSAGE,
        GIT,
        "Review a commit message.",
        place="message",
        again="commit again",
        framework_id="cli-guard-commit-msg",
    ),
    Event(
        "pre-push",
        PUSH,
        GIT,
        "Review what is about to be pushed. Git's lines are read from standard input.",
        place="push",
        again="push again",
        checks="pre-push",
        framework_id="cli-guard-pre-push",
    ),
    # In the background, from Git 2.22 on.
    Event(
        "post-index-change",
        PREPARATION,
        GIT,
        "Prepare the review of what is staged.",
        script="post-index-change",
    ),
    Event("pre-receive", ARRIVAL, SERVER, module="cli_guard.cli.pre_receive"),
    Event("staged", STAGED, place="index", again="commit again"),
    Event("worktree", WORKTREE, place="index"),
    Event("range", RANGE, again="push refs/notes/cli-guard"),
    Event("verify", RANGE),
)
BY_NAME = {each.name: each for each in EVENTS}
GIT_HOOKS = tuple(each for each in EVENTS if each.is_hook)
WORK_TREE_HOOKS = tuple(each for each in EVENTS if each.caller == GIT)
# What reviews all that a repository records, whoever runs it.
REVIEW_HOOKS = tuple(each for each in EVENTS if each.framework_id)


def event_of(name: object) -> Event:
    """Return the row of an event by its name, as a report or a log has it; one of its own for any other."""
    return BY_NAME.get(str(name)) or Event(str(name), "")


def find_hook(argv: "list[str]") -> "Event | None":
    """Return the hook of Git that a command line runs, None for any other command."""
    if argv[:1] != ["hook"]:
        return None
    event = event_of("".join(argv[1:2]))
    return event if event.is_hook else None

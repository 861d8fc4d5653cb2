"""After a commit: a summary of it, and questions worth asking. Nothing here can change a verdict."""

import datetime
import re
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace

from pydantic import BaseModel, Field

from cli_guard.errors import CliGuardError
from cli_guard.hooks import MESSAGE, event_of
from cli_guard.llm.answers import clean, parse_answer
from cli_guard.llm.gateway import Gateway
from cli_guard.llm.ledger import Ledger
from cli_guard.llm.prompts import (
    CHANGES_CHARS,
    fence,
    is_private,
    show_changes,
    system,
    user,
)
from cli_guard.llm.providers import ModelError
from cli_guard.llm.routing import ChangedFile, route_change
from cli_guard.model import ChangeSet, Decision, Kind
from cli_guard.policy.language_model import ModelSection
from cli_guard.repository.protocol import Repository
from cli_guard.review.load import gather
from cli_guard.review.render.review import Review
from cli_guard.review.request import Commit
from cli_guard.review.run import run
from cli_guard.reviewers.cache import Cache
from cli_guard.runtime import Invocation
from cli_guard.state.advice import Advice, AdviceStore, Question
from cli_guard.state.audit import AuditLog, Entry
from cli_guard.state.files import lock

MOST = 3
LINE_CHARS = 240
QUESTION_CHARS = 160
FILE_CHARS = 8_000
# A commit is recorded within milliseconds of its last hook, unless others follow; of several in a row only the last
# is asked about.
QUIET_SECONDS = 1.0
RECORDED_SECONDS = 10.0
TASK = f"""\
Below is a commit that has been made. A line that begins with +12 is the added line 12 of its file, one with -7 the
removed line 7. Answer with JSON: {{"summary": [text], "questions": [{{"path", "line", "text"}}]}}.
summary: at most {MOST} short lines that say what the change does.
questions: at most {MOST} that a careful reviewer would ask the author, about behaviour, edge cases or callers; none if
there is nothing worth asking. Each names one added line by its path and number, has at most {QUESTION_CHARS} characters
and ends with a question mark. Do not say whether the change is good or may be merged, and do not tell anybody to run
anything."""
# A verdict, which is not the model's to give, or something to run, to open or to switch off.
BARRED = re.compile(
    r"https?://|--no-verify|\blgtm\b|\bsafe to \w+|^\W*(?:approved|safe)\b|\bno (?:review|approval) (?:is )?need"
    r"|\b(?:changes?|commit|patch|diff|code|it|this|everything|all)\b[^.?]{0,40}\b(?:is|are|was|were|been|looks?)\s"
    r"(?:\w+\s)?(?:approved|accepted|safe|fine|good|correct|reviewed|verified|harmless)\b"
    r"|(?:^|[.;:!,]\s+|\b(?:please|now|you|we|to)\s+(?:should\s+|must\s+|can\s+|could\s+)?)"
    r"(?:run|execute|install|paste|download|curl|sudo|disable|ignore|delete)\b",
    re.IGNORECASE,
)


class Said(BaseModel):
    """The answer of the model, unchecked."""

    summary: list[str] = Field(max_length=50)
    questions: list[Question] = Field(max_length=50)


def advise_after_hook(
    repository: Repository, config: ModelSection, invocation: Invocation
) -> None:
    """Advise on the commit whose hook has just allowed it, once it is recorded. Raises CliGuardError, OSError."""
    last = last_entry(repository)
    # A hook that SKIP has switched off has allowed nothing.
    if (
        event_of(last.get("event")).request != MESSAGE
        or last.get("decision") != Decision.ALLOW
    ):
        return
    begun = datetime.datetime.fromisoformat(str(last["at"])).timestamp()
    until = time.monotonic() + RECORDED_SECONDS
    while time.monotonic() < until:
        time.sleep(QUIET_SECONDS)
        commit = (
            repository.git.optional("rev-parse", "--quiet", "--verify", "HEAD") or "none"
        )
        # The dates in a commit are from before its hooks, or the user's own: whatever they say, its file is new.
        with suppress(FileNotFoundError):
            if (
                repository.common_dir / "objects" / commit[:2] / commit[2:]
            ).stat().st_mtime >= begun:
                advise(repository, commit, config, invocation)
                return


def last_entry(repository: Repository) -> Entry:
    """Return the last entry of the audit log, empty for none. Raises OSError."""
    return next(iter(deque(AuditLog(repository.state_folder).entries(), maxlen=1)), {})


def advise(
    repository: Repository,
    commit: str,
    config: ModelSection,
    invocation: Invocation,
    on_ask: Callable[[], None] = lambda: None,
) -> Advice | None:
    """Return the advice on a commit: what is stored for its content, or the model's, which is stored then.

    None if it has no lines that may be sent. `on_ask` is called before the model is. Raises CliGuardError, OSError.
    """
    store = AdviceStore(repository.state_folder)
    with ExitStack() as stack:
        gathered = stack.enter_context(gather(Commit(commit), repository, invocation))
        changes = gathered.subject.changes
        try:
            stack.enter_context(lock(store.folder / changes.identity[:2]))
        except CliGuardError:
            raise ModelError("it is being asked at this moment: try again later") from None
        if found := store.read(changes.identity):
            # An amend of the message alone makes another commit of the same content.
            return (
                found
                if found.commit == commit
                else store.keep(replace(found, commit=commit))
            )
        sendable = [
            each
            for each in changes
            if each.kind is Kind.TEXT and each.hunks and not is_private(each, config)
        ]
        if not sendable:
            return None
        shown, left_out = show_changes(
            sendable, gathered.subject.contents, CHANGES_CHARS, FILE_CHARS
        )
        left_out += len(changes.files) - len(sendable)
        on_ask()
        review, _ = run(
            gathered, None, invocation.now.date(), Cache(repository.state_folder)
        )
        gateway = Gateway(
            config, invocation.env, Ledger(config, invocation.env, invocation.now)
        )
        content = user(fence((changes.message or "")[:2_000], "commit message"), *shown)
        files = [
            ChangedFile(each.path, len(each.added), len(each.removed)) for each in changes
        ]
        rules = [each.finding.rule for each in review.findings]
        route = route_change(
            changes.message or "", files, rules, "Summarize this change.", config.routing
        )
        reply = gateway.ask(
            [system(TASK), content], route.tier, purpose="summary", schema=Said
        )
        said = parse_answer(reply.text, Said)
        summary = "\n".join(list(filter(None, map(show_harmless, said.summary)))[:MOST])
        asked = check_questions(said, changes, config, review)
        at = invocation.now.isoformat(timespec="seconds")
        return store.keep(
            Advice(changes.identity, commit, at, reply.model, summary, asked, left_out)
        )


def check_questions(
    said: Said, changes: ChangeSet, config: ModelSection, review: Review
) -> tuple[Question, ...]:
    """Return the questions about added lines that may be sent, without what a finding says already."""
    added = {each.path: each.added for each in changes if not config.is_private(each.path)}
    found = [each.finding for each in review.findings]

    def is_known(asked: Question) -> bool:
        spans = (
            (each.line or 0, each.end_line or each.line or 0)
            for each in found
            if each.path == asked.path
        )
        return any(first <= asked.line <= last for first, last in spans)

    kept = {
        text: Question(each.path, each.line, text)
        for each in said.questions
        if (text := show_harmless(each.text)).endswith("?") and len(text) <= QUESTION_CHARS
        if each.line in added.get(each.path, ()) and not is_known(each)
    }
    return tuple(kept.values())[:MOST]


def show_harmless(text: str) -> str:
    """Return a text of the model on one line, "" if it gives a verdict or tells somebody to run something."""
    shown = clean(" ".join(text.split()))[:LINE_CHARS]
    return "" if BARRED.search(shown) else shown

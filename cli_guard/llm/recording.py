"""Words for commit messages and pull requests: a model reads the draft and the diff, and what it writes is checked."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from cli_guard.assistant.drafting import CONVENTIONAL, SUBJECT_CHARS, MessageDraft
from cli_guard.assistant.sentences import KnownNames, list_dropped, problem_with
from cli_guard.graph.state import Data
from cli_guard.lazy import dataclass
from cli_guard.llm.answers import parse_answer
from cli_guard.llm.prompts import (
    CHANGES_CHARS,
    fence,
    is_private,
    show_changes,
    system,
    user,
)
from cli_guard.llm.providers import ModelError
from cli_guard.model import FileChange
from cli_guard.repository.message import recorded_message
from cli_guard.reviewers import message
from cli_guard.reviewers.review_input import ReviewInput

if TYPE_CHECKING:
    from cli_guard.llm.guest import Guest

# About 8,000 tokens of diff, unless the context of the model is smaller.
BODY_LINES = 12
# What a host or a program obeys in a message: trailers, and issues that it closes.
TRAILER = re.compile(
    r"[\s>*-]*(?:[a-z]+(?:-[a-z]+)+|cc|bug|issue|refs?|link|fix(?:es)?|closes?|resolves?)\s*[:#]"
    r"|\s*BREAKING[ -]CHANGE",
    re.I,
)
ISSUE = re.compile(r"(?:#|\bGH-)\d+", re.I)
TASK = f"""Write the message of a change for Git, from its diff and a draft that was made without reading it. A
line of the diff that begins with +12 is the added line 12 of its file, one with -7 the removed line 7.
Answer with JSON alone: {{"subject": text, "body": [line, ...]}}. The subject: imperative, at most {SUBJECT_CHARS}
characters, no period at its end, in the form of the draft (a type such as "fix: " if it has one). The body: at most
{BODY_LINES} lines, none for a small change; what changes for the user or the reader, and why where the diff shows it.
Name only files and names that are in the diff. No trailers, issue numbers, addresses or mentions."""


class DraftedMessage(BaseModel):
    """A worded message."""

    subject: str
    body: list[str] = Field(default_factory=list)


@dataclass
class ModelMessageWriter:
    """Words the messages of one request; implements `cli_guard.assistant.recording.MessageWriter`."""

    guest: "Guest"
    dropped: list[str] = field(default_factory=list)

    def write(self, draft: MessageDraft, subject: ReviewInput) -> MessageDraft:
        """Return a draft in the model's words, or as it was."""
        changes = [each for each in subject.changes if not each.read_as]
        shown = [each for each in changes if not is_private(each, self.guest.config)]
        if shown and not self.guest.failure:
            try:
                return self.word(draft, subject, shown, is_whole=len(shown) == len(changes))
            except ModelError as error:
                self.guest.failure = str(error)
        return draft

    def word(
        self,
        draft: MessageDraft,
        subject: ReviewInput,
        changes: Sequence[FileChange],
        *,
        is_whole: bool,
    ) -> MessageDraft:
        """Ask for a message and check it. Raises ModelError."""
        drafted = "\n".join((draft.subject, *draft.body))
        # A draft names what is in private files, too.
        parts = (
            [f"The draft:\n{fence(drafted, 'draft')}"]
            if is_whole
            else [f"The style: {subject.style}"]
        )
        room = min(CHANGES_CHARS, 2 * (self.guest.config.context_tokens or CHANGES_CHARS))
        parts += show_changes(changes, subject.contents, room, room)[0]
        reply = self.guest.ask(
            [system(TASK), user(*parts)], purpose="message", schema=DraftedMessage
        )
        said = parse_answer(reply.text, DraftedMessage)
        known = KnownNames("\n".join(parts))
        title = said.subject.strip().removesuffix(".")
        body: list[str] = []
        for line in said.body[:BODY_LINES]:
            hang = "  " if line.startswith("- ") else ""
            problem = find_problem(line, drafted, known)
            wrapped = (
                []
                if problem
                else textwrap.wrap(line, SUBJECT_CHARS, subsequent_indent=hang) or [""]
            )
            if any(map(TRAILER.match, wrapped)):
                problem = "a trailer where a long line is broken"
                wrapped = []
            self.dropped += [problem] if problem else []
            body += wrapped
        self.dropped += ["more lines than were asked for"] * len(said.body[BODY_LINES:])
        problem = find_problem(title, drafted, known) or judge_subject(
            title, draft, subject
        )
        if problem:
            self.dropped.append(f"the subject: {problem}")
            return draft
        breaks = body and breaks_rule((title, "", *body), subject)
        self.dropped += [f"the body: {breaks}"] if breaks else []
        return MessageDraft(title, () if breaks else tuple(body))

    def report(self) -> tuple[list[str], list[Data]]:
        """Return the lines about the model for an answer, and the entries for the action log."""
        return list(
            filter(None, (list_dropped(self.dropped), self.guest.summary()))
        ), self.guest.drain_log()


def find_problem(line: str, drafted: str, known: KnownNames) -> str:
    """Return why a line of a message cannot be taken, "" if it can."""
    if TRAILER.match(line):
        return "a trailer"
    if any(each not in drafted for each in ISSUE.findall(line)):
        return "an issue that the draft does not name"
    return problem_with(line, known)


def judge_subject(title: str, draft: MessageDraft, subject: ReviewInput) -> str:
    """Return what is wrong with the form of a subject, "" if nothing."""
    form = CONVENTIONAL.match(title)
    wanted = CONVENTIONAL.match(draft.subject)
    if not title or len(title) > SUBJECT_CHARS:
        return f"empty, or longer than {SUBJECT_CHARS} characters"
    # A program reads `!` as a new major version.
    if bool(form) != bool(wanted) or (form and form[2] and not (wanted and wanted[2])):
        return "another form than that of the draft"
    return breaks_rule((title,), subject)


def breaks_rule(lines: Sequence[str], subject: ReviewInput) -> str:
    """Return the first rule for messages that some lines break, "" for none."""
    made = recorded_message("\n".join(lines))
    if made.kind != "plain":
        return f"the form of a {made.kind} commit"
    found = message.review(replace(subject, message=made, history=())).findings
    return found[0].rule if found else ""

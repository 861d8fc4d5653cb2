"""The message of a commit, read from the file that Git passes to the commit-msg hook.

The hook runs before Git cleans the message up, so the file still holds comments and, under `git commit -v`,
the whole diff. What is cut here is what Git cuts afterwards: git-commit(1), `--cleanup`.
"""

import re
from dataclasses import replace

from cli_guard.model import CommitMessage

COMMENT_CHARS = "#;@!$%^&|:"
"""The characters that Git tries if `core.commentChar` is `auto`, in order."""

_SCISSORS = rb" -{24} >8 -{24}[ \t\r]*$"
_AUTO_SCISSORS = re.compile(rb"(?m)^([#;@!$%^&|:])" + _SCISSORS)
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK = " \t\r\n"
_KEEPS_COMMENTS = ("whitespace", "verbatim", "scissors")

_FIXUP = re.compile(r"(?:fixup|squash|amend)! ")
_REVERT = re.compile(r'(?:Revert|Reapply) (?:"|[0-9a-f]{7,64}\b)')
_MERGE = re.compile(
    r"Merge (?:(?:remote(?:-tracking)? )?branch(?:es)?|tags?|commits?|pull request|changes from topic) "
    r"|Merge (?:\"|'|[a-z+]{2,10}://|[0-9a-f]{7,64} into |\S+ into \S+$)"
    r"|Merged (?:in \S+ \(pull request|PR \d+: )"
)


def cleanup_mode(configured: str | None, *, edited: bool) -> str:
    """Return the clean-up mode in force: strip, whitespace, verbatim or scissors.

    `configured` is `commit.cleanup`. `edited` is whether an editor was opened; Git sets GIT_EDITOR to
    `:` if not. Hooks do not see a `--cleanup` on the command line.
    """
    if configured in ("strip", "whitespace", "verbatim"):
        return configured
    if configured == "scissors":
        return "scissors" if edited else "whitespace"
    return "strip" if edited else "whitespace"


def parse_message(
    raw: bytes, *, comment_char: str = "#", cleanup: str = "default"
) -> CommitMessage:
    """Parse the message as Git will record it.

    `comment_char` is `core.commentString` or `core.commentChar`, "auto" included. `cleanup` is one of Git's
    modes; "default" strips comments, as after an editor. All below the scissors line is cut, and kept in `cut`: a
    hook cannot know whether `-v` put a diff there, or `-m` the line. Bytes that are not UTF-8 become U+FFFD. An
    empty message has the subject "".
    """
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    comment = (
        _auto_comment_char(raw) if comment_char.lower() == "auto" else comment_char or "#"
    )
    above, below = _cut_scissors(raw, comment)
    lines = above.decode("utf-8", "replace").split("\n")
    cut: list[str] = []
    if comment and cleanup not in _KEEPS_COMMENTS:
        cut = [line for line in lines if line.startswith(comment)]
        lines = [line for line in lines if not line.startswith(comment)]
    message = _message(lines if cleanup == "verbatim" else _strip_blanks(lines))
    return replace(message, cut=(*cut, *below.decode("utf-8", "replace").splitlines()))


def recorded_message(text: str) -> CommitMessage:
    """Parse the message of an existing commit, which Git has already cleaned up."""
    return _message(_SURROGATE.sub("\ufffd", text).split("\n"))


def _message(lines: list[str]) -> CommitMessage:
    lines = [line.rstrip(_BLANK) for line in lines]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        return CommitMessage(subject="")
    return CommitMessage(subject=lines[0], body=tuple(lines[1:]), kind=_kind(lines))


def _kind(lines: list[str]) -> str:
    subject = lines[0]
    if _FIXUP.match(subject):
        return "fixup"
    if _MERGE.match(subject):
        return "merge"
    if _REVERT.match(subject) or any(
        line.startswith("This reverts commit ") for line in lines[1:50]
    ):
        return "revert"
    return "plain"


def _auto_comment_char(raw: bytes) -> str:
    """Find the character that Git picked: it starts the scissors line or the last line, Git's own help text.

    Empty if there is neither: then Git wrote no comments and will find none.
    """
    scissors = _AUTO_SCISSORS.search(raw)
    if scissors:
        return scissors[1].decode("ascii")
    last = raw.rstrip().rpartition(b"\n")[2].decode("utf-8", "replace")
    is_comment = last[:1] in COMMENT_CHARS and last[1:2] in ("", " ", "\t")
    return last[:1] if last and is_comment else ""


def _cut_scissors(raw: bytes, comment: str) -> tuple[bytes, bytes]:
    known = re.escape(comment.encode("utf-8", "surrogateescape")) if comment else b"#"
    match = re.search(rb"(?m)^(?:" + known + rb"|[#;@!$%^&|:])" + _SCISSORS, raw)
    return (raw[: match.start()], raw[match.end() :]) if match else (raw, b"")


def _strip_blanks(lines: list[str]) -> list[str]:
    """Do what `git stripspace` does: no blanks at the ends of lines, no two empty lines in a row."""
    kept: list[str] = []
    for line in lines:
        stripped = line.rstrip(_BLANK)
        if stripped or (kept and kept[-1]):
            kept.append(stripped)
    return kept

"""Judge secrets by the whole file: what only moved, what is shown as an example, keys of which a few lines are new."""

import re
from collections.abc import Collection, Iterator, Sequence

from cli_guard.model import Contents, FileChange
from cli_guard.reviewers.secret_words import SearchedText
from cli_guard.secrets import SecretHit
from cli_guard.secrets.added import AddedText, core
from cli_guard.secrets.examples import find_shown, weaken
from cli_guard.secrets.keyblocks import MARKS, find_blocks
from cli_guard.secrets.values import is_dummy

# It begins behind the end of a line, which is found faster than its start.
BASE64_LINE = (
    r"(?m)\n[ \t\"'`+,#*/]{0,16}[A-Za-z0-9+/]{40,100}={0,2}(?:\\n)?[ \t\r\"'`+,;)]{0,8}$"
)


def weigh_places(
    contents: Contents,
    change: FileChange,
    added: AddedText,
    hits: Sequence[SecretHit],
    *,
    is_new: bool = True,
) -> Sequence[SecretHit]:
    """Leave out what only moved within the file; what the file shows as an example is advice.

    A private key is so only where all that is recorded is read, and nothing `is_new`.
    """
    moved = {core(line) for line in change.removed.values()} if hits else set()
    hits = [
        hit for hit in hits if not moved or not added.lines_of(hit.start, hit.end) <= moved
    ]
    text = None if all(hit.proven for hit in hits) else contents.new(change)
    whole = added if text is None else AddedText.of_file(text)
    places = {hit: added.offset_in(whole, hit.start) for hit in hits}
    shown = find_shown(whole.text, change.path, places.values())
    made_up = {
        hit for hit in hits if places[hit] in shown and hit.generic and is_dummy(hit.value)
    }
    hits = [hit for hit in hits if hit not in made_up]
    return [
        weaken(hit, is_new=is_new) if places[hit] in shown and not hit.proven else hit
        for hit in hits
    ]


def partial_blocks(
    contents: Contents,
    change: FileChange,
    added: AddedText,
    known: Collection[int | None],
    commit: str | None,
) -> Iterator[SearchedText]:
    """Yield each private key of which the change adds only some lines, in the whole file.

    `known` are the lines where keys were found that begin in an added one. The file of a commit in the history is known
    if the commit names its blob.
    """
    signs = any(sign in added.text for sign in ("PRIVATE KEY", "Private-Lines"))
    if (commit is not None and change.new_blob is None) or not (
        signs or re.search(BASE64_LINE, f"\n{added.text}")
    ):
        return
    text = contents.new(change)
    if text is None or not any(mark in text.lower() for mark in MARKS):
        return
    whole = AddedText.of_file(text)
    for hit in find_blocks(text):
        first = whole.line(hit.start)
        last = whole.line(hit.end - 1)
        if first is None or last is None or first in known:
            continue
        if change.touches(first, last):
            yield SearchedText(change.path, text, (hit,), whole.line, commit)

"""Compare what bash did with what the judge named."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from bash_oracle.judged import HOME, Judged, Word
from bash_oracle.runner import Ran


class Sort(StrEnum):
    """What differs, the worst first."""

    DENIED = "a denied command ran"
    PROGRAM = "a program ran that was not named"
    OPTION = "an unknown word was an option"
    WORDS = "a command ran with other words"
    FILE = "a file was written that was not named"


@dataclass(frozen=True)
class Difference:
    """One thing that bash did and the judge did not name; `what` are the words, or the file."""

    sort: Sort
    what: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.sort}: {' '.join(map(repr, self.what))}"


DENIED = (("git", "commit", "--no-verify"), ("rm", "-rf", "/"))
# A word that looks like an option does nothing in these.
WITHOUT_OPTIONS = ("echo", ":", "true", "false", "test", "[")
# Programs that take no option behind their first operand.
OPTIONS_FIRST = ("printf",)
SAFE_FILES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")


def compare(judged: Judged, ran: Ran) -> Iterator[Difference]:
    """Yield what bash did and the judge did not name."""
    for words in ran.commands:
        if any(match(command, words, strict=True) for command in judged.commands):
            continue
        bare = words[1:] if words[:1] == ("exec",) else words
        if bare[:3] in DENIED:
            yield Difference(Sort.DENIED, words)
        elif any(match(command, words, strict=False) for command in judged.commands):
            yield Difference(Sort.OPTION, words)
        elif any(
            match(command[:1], words[:1], strict=False) for command in judged.commands
        ):
            yield Difference(Sort.WORDS, words)
        elif words[:1] != ("[",):
            # The judge may read `[ ... ]` as a part of the language.
            yield Difference(Sort.PROGRAM, words)
    for path in ran.wrote:
        if path not in judged.files and path not in SAFE_FILES and not judged.any_file:
            yield Difference(Sort.FILE, (path,))


def match(command: tuple[Word, ...], words: tuple[str, ...], *, strict: bool) -> bool:
    """Return whether the words are those of a command: each literal equal, each unknown no option (if `strict`).

    It follows all places in the command where the words so far may have led, each with whether a `--` has ended the
    options on the way there, like a nondeterministic automaton.
    """
    ended = bool(words) and words[0] in WITHOUT_OPTIONS
    places = skip(command, {(0, ended)})
    for number, word in enumerate(words):
        looks_like_option = strict and number > 0 and word.startswith("-") and word != "-"
        first_operand = (
            number > 0 and not word.startswith("-") and words[0] in OPTIONS_FIRST
        )
        after = set()
        for place, ended in places:
            if place == len(command) or not fits_word(
                command[place], word, looks_like_option and not ended
            ):
                continue
            ends = ended or first_operand or command[place].text == "--"
            after.add((place + 1, ends))
            if command[place].many:
                after.add((place, ends))
        places = skip(command, after)
    return any(place == len(command) for place, _ in places)


def skip(command: tuple[Word, ...], places: set[tuple[int, bool]]) -> set[tuple[int, bool]]:
    """Add the places behind words that may be absent."""
    found = set(places)
    for at, word in enumerate(command):
        for place, ended in list(found):
            if place == at and (word.many or word.may_miss):
                found.add((at + 1, ended))
    return found


def fits_word(named: Word, word: str, is_option: bool) -> bool:
    if named.text is not None:
        # The judge keeps the home folder as `~`.
        return named.text in (word, word.replace(HOME, "~"))
    if is_option and not named.start and not named.may_be_option:
        return False
    return named.many or word.startswith(named.start)

"""Reads options as getopt_long(3) does: letters in bunches, long names, values attached or apart."""

from collections.abc import Mapping
from dataclasses import dataclass, field


class BadOption(Exception):
    """A word that is no option of the command: what GNU says of it."""


@dataclass
class Words:
    """`letters` in the order given, `values` by letter, and the operands."""

    letters: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    operands: list[str] = field(default_factory=list)

    def has(self, *letters: str) -> bool:
        """Is one of them given?"""
        return any(letter in self.letters for letter in letters)

    def last(self, letters: str) -> str:
        """The last given of some that exclude each other, "" for none."""
        return next((letter for letter in reversed(self.letters) if letter in letters), "")


def read_words(arguments: tuple[str, ...], letters: str, long: Mapping[str, str]) -> Words:
    """The words of a call. `letters` as in getopt(3) (`x:` takes a value), `long` name -> letter. Raises BadOption."""
    found = Words()
    takes = {letter for letter, sign in zip(letters, letters[1:] + " ", strict=True) if sign == ":"}
    waiting = list(arguments)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            found.operands += waiting
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            letter = long.get(name)
            if letter is None:
                raise BadOption(f"unrecognized option '{word}'")
            found.letters.append(letter)
            if equals:
                found.values[letter] = value
            continue
        if not word.startswith("-") or word == "-":
            found.operands.append(word)
            continue
        bunch = word[1:]
        while bunch:
            letter, bunch = bunch[0], bunch[1:]
            if letter == ":" or letter not in letters:
                raise BadOption(f"invalid option -- '{letter}'")
            found.letters.append(letter)
            if letter in takes:
                if not bunch and not waiting:
                    raise BadOption(f"option requires an argument -- '{letter}'")
                found.values[letter] = bunch or waiting.pop(0)
                bunch = ""
    return found

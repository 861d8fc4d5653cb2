"""The output of a program as lines of plain text: what a terminal would act on is taken out."""

import re

# What is shown of one line.
SHOWN_OF_A_LINE = 200

# Control sequences (ECMA-48, 5.4 and 8.3; xterm's ctlseqs for OSC). One that is not ended reaches to the end of its
# line at most, so that it hides no other.
_ESCAPE = re.compile(
    r"\x1b(?:"
    r"\[(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
    r"|[ -/]*[0-~]"
    r")?"
)
# Those that move the cursor to another line or to the first column; J and K (erase) do so in practice where they erase
# more than what is right of the cursor.
_MOVES = frozenset("ABEFGHfd")
_ERASES = frozenset("JK")
_RETURN = "\r"


def plain(text: str) -> str:
    """`text` without control sequences; where one moves the cursor back stands a CR. Lines keep their numbers."""
    return _ESCAPE.sub(_without, text) if "\x1b" in text else text


def pieces(line: str) -> tuple[str, ...]:
    """What was written to one line of a terminal, one over the other; `line` is plain.

    These are the stages of a progress bar, and the error among them. Empty stages are left out.
    """
    if _RETURN not in line:
        return (line.rstrip(),) if line else ()
    stages = (stage.rstrip() for stage in line.split(_RETURN))
    return tuple(stage for stage in stages if stage)


def clip_line(line: str) -> str:
    """The last stage of a plain line, cut to `SHOWN_OF_A_LINE` characters, the cut shown."""
    return cut(line.rstrip().rpartition(_RETURN)[2])


def cut(text: str) -> str:
    """`text` in at most `SHOWN_OF_A_LINE` characters, the cut shown."""
    return text if len(text) <= SHOWN_OF_A_LINE else text[: SHOWN_OF_A_LINE - 3] + "..."


def _without(match: re.Match[str]) -> str:
    final = match["final"]
    if final in _MOVES or (final in _ERASES and match["parameters"] not in ("", "0")):
        return _RETURN
    return " " if final == "C" else ""

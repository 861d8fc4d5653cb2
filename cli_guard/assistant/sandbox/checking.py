"""Finds what bash would refuse before it runs anything: an error of syntax, in bash's words where they are known."""

import re

from cli_guard.assistant.sandbox.grammar import Refused, Scanner

LONE = re.compile("[\ud800-\udfff]")


def syntax_error(text: str) -> str | None:
    """The first error of syntax in a command, as `line N: what is wrong`; None for text that bash would run."""
    if LONE.search(text):
        return "line 1: the text is not UTF-8: write such a byte as $'\\xNN'"
    try:
        Scanner(text).program()
    except Refused as refused:
        return str(refused)
    except RecursionError:
        return "line 1: the text is nested too deep"
    return None

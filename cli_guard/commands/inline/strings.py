"""Perl, Ruby, PHP and JavaScript: only names and strings are read; the code is reviewed, its strings judged as shell.

A string that is denied as a shell command denies the code, whatever the code does with it. Strings passed to a function
that deletes, writes or reads files are judged as paths. Only the plain text filters of Perl, which print lines or
replace text in them, are harmless.
"""

import re
from collections.abc import Iterator

from cli_guard.commands.inline.computing import only_computes
from cli_guard.commands.inline.model import (
    COMPUTES,
    Act,
    environment,
    unescape,
    unknown,
)
from cli_guard.commands.model import EffectKind
from cli_guard.commands.programs import table

# A string of any of the four: in quotes, between backticks, or with a letter in front (`qw(...)`, `%x{...}`).
STRING = re.compile(
    r"""'(?P<single>(?:[^'\\]|\\.)*)'
    |"(?P<double>(?:[^"\\]|\\.)*)"
    |`(?P<command>(?:[^`\\]|\\.)*)`
    |(?:%[qQwWxiI]?|\bq[qwx]?\s*)(?:\((?P<round>[^()]*)\)|\[(?P<square>[^][]*)\]|\{(?P<curly>[^{}]*)\}|<(?P<angle>[^<>]*)>)
    |(?:%[qQwWxiI]|\bq[qwx]?\s*)(?P<mark>[|/!])(?P<marked>.*?)(?P=mark)""",
    re.VERBOSE | re.DOTALL,
)
JOINS = ("", ".", "+")
SEPARATES = (",", "=>")
# The function that a string is the first argument of.
CALLED = re.compile(r"(\w+(?:(?:\.|::|->)\w+)*)[\s(\[]*\Z")
KINDS = {
    EffectKind.DELETE: re.compile(
        r"(?:(?:unlink|rmdir|rm)(?:Sync)?|rmtree|remove_tree|rm(?:_r)?f?|remove_(?:dir|entry|entry_secure|file))\Z"
        r"|(?:File|Dir)(?:\.|::)delete\Z"
    ),
    EffectKind.WRITE: re.compile(
        r"(?:write|binwrite|file_put_contents|touch|(?:writeFile|appendFile|mkdir|chmod)(?:Sync)?)\Z"
    ),
    EffectKind.READ: re.compile(
        r"(?:File|IO)(?:\.|::)(?:(?:bin)?read(?:lines)?|foreach)\Z|(?:load_file|file_get_contents|readfile|file|readFile(?:Sync)?)\Z"
    ),
}
ADDRESS = re.compile(r"(?:https?|ftp)://", re.IGNORECASE)
FETCHED_CODE = re.compile(
    r"\b(?:(?:eval|assert)\b[^;\n]*\b(?:open|file_get_contents|Net::HTTP|fetch)\b[^;\n]*|(?:include|require)(?:_once)?[\s(]*)"
    r"['\"](?:https?|ftp)://|\bfetch\b[^\n]*\beval\b"
)
STARTS_PROGRAMS = re.compile(r"exec|spawn|system|popen|child_process|Bun\.\$|`")
ENVIRONMENT = re.compile(r"\bprocess\.env\b(?!\.|\[)")

# `$1[...]` and `$1->[...]` would run the code in the brackets.
GROUP = r"\$(?:\d+|&)(?![\w\[{]|->)"
COLUMN = r"\$F\[-?\d+\](?![\[{]|->)"
REGEX = r"/(?:[^/\\\n@$(]|\\(?!\(\?)[^\n]|\((?!\?\??\{)|\$(?=[/|)]))*/"
REPLACED = rf"(?:[^/\\\n@$]|\\[^\n$]|{GROUP})*/"
PRINTED = rf"(?:\$[_.]|{GROUP}|{COLUMN}|\"(?:[^\"\\@$%`]|\\[^\n$]|{GROUP}|{COLUMN})*\")"
FILTER = rf"(?:s{REGEX}{REPLACED}[gimsx]*|(?:tr|y)(?:/[^/\\\n]*){{2}}/[cdsr]*|print(?: {PRINTED}(?:, ?{PRINTED})*)?)"
FILTERS = re.compile(
    rf"(?:\s*{FILTER}(?: (?:if|unless) (?:{REGEX}[ims]*|\$\. ?(?:[<>]|==) ?\d+))?\s*(?:;|\Z))+\s*\Z"
)


def acts(code: str, language: str) -> Iterator[Act]:
    """Return what the strings of a program would do if they were run; nothing for a text filter of Perl."""
    if language == "perl" and FILTERS.match(code):
        return
    computes = only_computes(language, code)
    yield unknown(
        COMPUTES if computes else "runs code that is not analysed beyond its strings"
    )
    if FETCHED_CODE.search(code):
        yield Act(EffectKind.EXEC, None, "runs code that it fetches", remote=True)
    if ENVIRONMENT.search(code):
        yield environment()
    starts_programs = STARTS_PROGRAMS.search(code) is not None
    found = list(calls(code))
    # A command may also be built from strings at several positions.
    yield Act(
        EffectKind.EXEC, None, suspect="".join(word for _, words in found for word in words)
    )
    for function, words in found:
        for kind, names in KINDS.items():
            if names.search(function):
                yield from (Act(kind, word) for word in words)
        for text in dict.fromkeys((" ".join(words), *words)):
            if starts_programs and table(text.split(" ")[0]):
                yield Act(EffectKind.EXEC, None, "", text)
            yield Act(EffectKind.EXEC, None, suspect=text)
            if ADDRESS.match(text):
                yield Act(EffectKind.NETWORK_OUT, text)


def calls(code: str) -> Iterator[tuple[str, list[str]]]:
    """Yield adjacent string arguments with the name of their function."""
    function = ""
    words = list[str]()
    end = 0
    for found in STRING.finditer(code):
        between = code[end : found.start()].strip()
        text = unquote(found)
        end = found.end()
        texts = text.split() if found[0].startswith(("%w", "%W", "qw")) else [text]
        if words and between in JOINS:
            words[-1] += text
        elif words and between.rstrip("[ ") in SEPARATES:
            words += texts
        else:
            if words:
                yield function, words
            name = CALLED.search(code, max(0, found.start() - 80), found.start())
            function = name[1] if name else ""
            words = texts
    if words:
        yield function, words


def unquote(found: re.Match[str]) -> str:
    """Return the text of a string, interpolations as written."""
    text = next(
        each
        for name, each in found.groupdict().items()
        if each is not None and name != "mark"
    )
    return text if found["single"] is not None else unescape(text)

"""Whether code of Node.js, Ruby or Perl only computes, prints and reads, as far as the names in it tell.

The code is split into tokens; what a text inserts counts as code. Each name that is called has to be listed, in
`rules/words/computing.toml`, or be a function of the code itself, and no name may be one that reaches further. What is
called without a name asks. This is no proof, as the verdict says: a name may hold a function that the text does not
show. So it counts in a trusted work tree alone, which may run scripts of its own in any case.
"""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from cli_guard.commands.effects.places import is_credential
from cli_guard.commands.inline.awk import END, Token
from cli_guard.commands.inline.model import NotUnderstood
from cli_guard.rules import tables

COMMON = r"""(?P<space>\s+|{comment})
    |(?P<string>{double})
    |(?P<symbol>{symbol})
    |(?P<variable>{variable})
    |(?P<number>\d[\w.]*)
    |(?P<name>[A-Za-z_][\w]*{ending})
    |(?P<mark>=>|->|::|\?\.|&\.|\.\.\.?|==+|!=+|<=>|<=|>=|=~|!~|[-+*/%&|^]=|\*\*|&&|\|\||[-+*/%^!~<>=?:;,.(){{}}\[\]&|])"""
NEVER = r"(?!)"
HASH = r"\#(?!\{)[^\n]*"
TOKENS = {
    "node": COMMON.format(
        comment=r"//[^\n]*|/\*.*?\*/",
        double=r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`""",
        symbol=NEVER,
        variable=NEVER,
        ending="",
    ),
    "ruby": COMMON.format(
        comment=r"\#[^\n]*",
        double=r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\#]|\\.|\#(?!\{)|\#\{[^{}]*\})*"|%[wi]\[[^\[\]#]*\]|%[wi]\([^()#]*\)""",
        symbol=r"(?<!:):[A-Za-z_]\w*[?!]?",
        variable=r"\$(?:\w+|[!~&.,;/])|@@?[A-Za-z_]\w*",
        ending="[?!]?(?!=[^=~>])|[A-Za-z_]\\w*",
    ),
    "perl": COMMON.format(
        comment=r"\#[^\n]*",
        double=r"""(?<!\w)'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|qw\([^()]*\)|qw\[[^][]*\]""",
        symbol=NEVER,
        variable=r"\$\#?(?:\w+|[&.,;/!@0])|[@%](?:\w+)",
        ending="",
    ),
}
READERS = {name: re.compile(form, re.VERBOSE | re.DOTALL) for name, form in TOKENS.items()}
# A regular expression; in JavaScript "/" in brackets does not end it.
BODY = r"/(?:[^/\\\n]|\\.)*/"
REGEX = {
    "node": re.compile(
        r"/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[dgimsuvy]*", re.DOTALL
    ),
    "ruby": re.compile(rf"{BODY}[imxo]*", re.DOTALL),
    "perl": re.compile(rf"{BODY}[gimsxo]*", re.DOTALL),
}
# `m/x/`, `s/x/y/`: but for the code `e`.
PERL_REGEX = re.compile(
    rf"(?<!\w)(?:(?:m|qr){BODY}|(?:s|tr|y){BODY}(?:[^/\\\n]|\\.)*/)[gimsxorcd]*(?!\w)",
    re.DOTALL,
)
# What ends or begins a text or a comment in a way that is not read here.
UNREAD = {
    "node": re.compile(r"<!--|-->|[\r\u2028\u2029]"),
    "ruby": re.compile(
        r"(?m)^=[A-Za-z]|__END__|(?<!\w)\?['\"`/#%]|<<[~-]?['\"`A-Za-z_]|:[/%'`]|(?:\.|::|\bdef\s*)/"
    ),
    "perl": re.compile(r"(?m)^=[A-Za-z]|__(?:END|DATA)__"),
}
# Behind these a "/" begins a regular expression, and behind any other name it may divide or not.
BEFORE_REGEX = frozenset(
    "return typeof case in if unless and or not while until when split grep print puts p".split()
)
CONDITION = re.compile(r"\b(?:if|while|for|with)\b")
INSERTED = {"node": re.compile(r"\$\{([^{}`]*)\}"), "ruby": re.compile(r"#\{([^{}]*)\}")}
# What Perl inserts into a text, and an index of it that runs nothing; a block, and code in a pattern.
VARIABLE = re.compile(r"[@$]\$*\w+")
INDEX = re.compile(r"(?:->)?(?:\[[\w$.-]*\]|\{[\w$.-]*\})")
OPENS_INDEX = re.compile(r"(?:->)?[\[{]")
RUNS_IN_TEXT = re.compile(r"[@$]#?\{|\(\?\??\{")
OPERANDS = ("name", "number", "string", "variable", "regex")
# A pattern of files whose names end plainly.
PLAIN_FILES = re.compile(r"(?![/~])(?!.*\.\.)(?:.*/)?[\w*-]*\.(\w+)")
READING = re.compile(r"(?:read|readlines|readFileSync|foreach|load_file)\Z")


def only_computes(language: str, code: str) -> bool:
    """Return whether the names in some code tell that it only computes, prints and reads files that it names."""
    if language not in TOKENS:
        return False
    try:
        tokens = list(split_code(language, code))
    except NotUnderstood:
        return False
    return CodeNames(language, tokens).all_harmless()


def split_code(language: str, code: str) -> Iterator[Token]:
    """Split code into tokens, with the code that its texts insert in brackets. Raises NotUnderstood."""
    if UNREAD[language].search(code):
        raise NotUnderstood("text that is not read")
    at = 0
    before = END
    last = END
    while at < len(code):
        found = READERS[language].match(code, at)
        kind = str(found.lastgroup) if found else ""
        if language == "perl" and last.text not in ("->", "{"):
            whole = PERL_REGEX.match(code, at)
            found = whole or found
            kind = "regex" if whole else kind
        if kind == "mark" and code[at] == "%" and language == "ruby":
            check_modulo(code, at, last)
        divides = kind != "mark" or code[at] != "/"
        if not divides and begins_regex(language, code, at, before, last):
            found = REGEX[language].match(code, at)
            kind = "regex"
        if not found:
            raise NotUnderstood(f"not understood at character {at}")
        at = found.end()
        if kind == "space":
            continue
        text = found[0]
        if kind in ("string", "regex"):
            yield from read_inserted(language, text, last)
        before = last
        last = Token(kind, text[1:-1] if kind == "string" else text)
        yield last


def check_modulo(code: str, at: int, last: Token) -> None:
    """Raise NotUnderstood where a "%" may begin a text of Ruby."""
    is_operand = last.kind in OPERANDS or last.text in (")", "]")
    if not is_operand or not re.match(r"%=?\s", code[at:]):
        raise NotUnderstood("a modulo or a text")


def begins_regex(language: str, code: str, at: int, before: Token, last: Token) -> bool:
    """Return whether a "/" begins a regular expression and does not divide. Raises NotUnderstood if both may be."""
    doubled = last.text in ("+", "-") and before.text == last.text
    ends_block = last.text == "}" or (
        last.text == ")" and language == "node" and CONDITION.search(code)
    )
    is_member = before.text in (".", "?.", "&.", "->")
    if last.kind == "name" and not is_member and last.text in BEFORE_REGEX:
        return True
    # `x /y` may be a call in Ruby, `time /2` is a division in Perl, `of` may be a variable.
    is_call = language == "ruby" and code[at - 1] == " " and code[at + 1 : at + 2] != " "
    is_word = last.kind == "name" and (
        language == "perl"
        or is_call
        or last.text in tables.words("computing")["node"]["words"]
    )
    if doubled or ends_block or is_word:
        raise NotUnderstood("a regular expression or a division")
    return last.kind not in OPERANDS and last.text not in (")", "]")


def read_inserted(language: str, text: str, last: Token) -> Iterator[Token]:
    """Yield the code that a text inserts. Raises NotUnderstood."""
    if language == "perl":
        if text[0] != "'" and (RUNS_IN_TEXT.search(text) or runs_index(text)):
            raise NotUnderstood("a text that runs code")
        return
    is_open = text[0] == "`" if language == "node" else text[0] in '"/'
    if text[0] == "`" and (last.kind == "name" or last.text in (")", "]")):
        raise NotUnderstood("a text that is handed to a function")
    rest = INSERTED[language].sub("", text)
    if is_open and ("${" if language == "node" else "#{") in rest:
        raise NotUnderstood("a text with nested code")
    for inner in INSERTED[language].findall(text) if is_open else ():
        yield from (Token("mark", ","), Token("mark", "("))
        yield from split_code(language, inner)
        yield from (Token("mark", ")"), Token("mark", ","))


def runs_index(text: str) -> bool:
    """Return whether a variable that Perl inserts has an index that is more than a name or a number."""
    for found in VARIABLE.finditer(text):
        at = found.end()
        while index := INDEX.match(text, at):
            at = index.end()
        if OPENS_INDEX.match(text, at):
            return True
    return False


class CodeNames:
    """The tokens of a piece of code, and the lists of its language."""

    def __init__(self, language: str, tokens: list[Token]) -> None:
        self.language = language
        self.tokens = tokens
        self.lists = {
            key: frozenset(each)
            for key, each in tables.words("computing")[language].items()
        }
        self.reaches = tables.words("computing")["reaches"]
        self.defined = set(self.find_defined())
        self.file_modules = {"fs", "File", "Dir", *self.find_file_modules()}

    def at(self, index: int) -> Token:
        return self.tokens[index] if 0 <= index < len(self.tokens) else END

    def find_defined(self) -> Iterator[str]:
        """Yield the names of the functions, and in Ruby of the variables, of the code."""
        for index, token in enumerate(self.tokens):
            before = self.at(index - 1)
            after = self.at(index + 1)
            if token.kind != "name":
                continue
            if before.text in ("function", "def"):
                yield token.text
            elif self.language == "node" and after.text == "=":
                value = [self.at(index + each) for each in (2, 3)]
                if value[0].text in ("(", "async", "function") or value[1].text == "=>":
                    yield token.text
            elif self.language == "ruby" and (
                after.text in ("=", "+=", "||", "-=", "in")
                or before.text == "|"
                or after.text == "|"
                or (before.text == "," and after.text == ",")
                or (before.text == "for")
                or (before.text in ("(", ",") and after.text in (",", ")"))
            ):
                yield token.text

    def find_file_modules(self) -> Iterator[str]:
        """Yield the names that `fs` of Node.js is given."""
        for index, token in enumerate(self.tokens):
            if token.kind == "string" and token.text in ("fs", "node:fs"):
                if self.at(index - 1).text == "from":
                    yield self.at(index - 2).text
                elif self.at(index - 3).text == "=":
                    yield self.at(index - 4).text

    def all_harmless(self) -> bool:
        return (
            all(self.is_harmless(index, token) for index, token in enumerate(self.tokens))
            and self.reads_plainly()
        )

    def is_harmless(self, index: int, token: Token) -> bool:
        text = token.text
        before = self.at(index - 1).text
        after = self.at(index + 1).text
        if token.kind in ("string", "symbol", "variable"):
            word = text.lstrip(":$@%")
            named = (
                not self.is_reaching(word) or before == "require" or not word.isidentifier()
            )
            if text == "@ARGV" or (text == "$ARGV" and after == "["):
                # What a loop over the input opens, which may be a command.
                return False
            calls = token.kind == "symbol" and before == "&"
            return (
                named
                and word not in ("ENV", "INC")
                and not (calls and word not in self.lists["members"])
            )
        if token.kind == "name":
            return self.is_harmless_name(index, text)
        if text == "(":
            return before not in ("]", "->", ".", "&") and (
                before != ")" or self.language != "node" or self.at(index - 2).text == "}"
            )
        if self.language == "perl":
            is_glob = text == "<" and self.at(index - 1).kind not in OPERANDS
            is_called = (
                text in "&*"
                and self.at(index - 1).kind not in (*OPERANDS, "symbol")
                and before not in (")", "]", "}")
                and self.at(index + 1).kind in ("name", "variable")
            )
            return not is_called and text != "::" and (not is_glob or after == "STDIN")
        return text != "::"

    def is_harmless_name(self, index: int, name: str) -> bool:
        before = self.at(index - 1).text
        after = self.at(index + 1).text
        lists = self.lists
        if self.language == "perl":
            is_key = (before == "{" and after == "}") or after == "=>"
            return before != "->" and (
                is_key or name in lists["words"] | lists["functions"]
            )
        if name == "require" or (name == "from" and self.at(index + 1).kind == "string"):
            return self.loads_harmless(index + 1 + (after == "("))
        if name == "import" and self.at(index + 1).text != "(":
            return True
        is_member = before in (".", "?.", "&.")
        if name in lists["files"]:
            # What reads files is called, and by its own name.
            is_named = before in ("{", ",") and after in ("}", ",")
            return after == "(" or is_named or (self.language == "ruby" and is_member)
        if self.language == "ruby" and self.at(index - 2).text in ("File", "Dir"):
            return False
        if name in self.file_modules:
            return after in (".", "[") or (
                self.language == "node" and after in ("=", "from")
            )
        if is_member and name in lists["members"]:
            return self.hands_on_harmless(index, name)
        if name == "write" and self.at(index - 2).text == "stdout":
            return True
        if self.is_reaching(name):
            return False
        if is_member:
            return self.language == "node" and after != "("
        is_key = after == ":" and (before in ("{", ",", "(") or self.language == "ruby")
        if name in lists["words"] or is_key:
            return True
        if self.language == "ruby":
            return name in lists["functions"] | lists["objects"] | self.defined
        if name == "process":
            return after == "." and self.at(index + 2).text in lists["process"]
        if name in lists["others"]:
            return False
        if before == "new" or after == "(":
            return (
                name
                in lists["functions"] | lists["objects"] | self.defined | lists["words"]
            )
        return True

    def hands_on_harmless(self, index: int, name: str) -> bool:
        """Return whether a listed method that calls what it gets gets a function that is written there, or named."""
        if self.language != "node" or name not in self.lists["calling"]:
            return True
        given = self.at(index + 2)
        behind = self.at(index + 3).text
        if given.text == "(":
            depth = 0
            for end in range(index + 2, len(self.tokens)):
                depth += (self.at(end).text == "(") - (self.at(end).text == ")")
                if not depth:
                    return self.at(end + 1).text == "=>"
        own = self.lists["functions"] | self.lists["objects"] | self.defined
        return (
            behind == "=>"
            or given.text in (")", "function", "async")
            or (given.text in own and behind in (")", ","))
            or (given.text == "console" and behind == ".")
        )

    def loads_harmless(self, index: int) -> bool:
        """Return whether the text at an index names a module that only computes, data of the project, or files by name.

        The functions of `fs` are called by their names: `fs` itself is called nothing else, and handed to nobody.
        """
        given = self.at(index)
        name = given.text.removeprefix("node:")
        if given.kind != "string":
            return False
        if name != "fs" or self.at(index - 1).text == "from":
            is_data = name.startswith("./") and name.endswith(".json") and ".." not in name
            return name in self.lists["modules"] or (is_data and self.language == "node")
        if self.at(index + 2).text == ".":
            return True
        # `const fs = require("fs")`, `const { statSync } = require("fs")`
        named = self.at(index - 4)
        return self.at(index - 3).text == "=" and (
            named.kind == "name"
            or (named.text == "}" and Token("mark", "...") not in self.tokens)
        )

    def is_reaching(self, name: str) -> bool:
        return any(fnmatchcase(name.lower(), form) for form in self.reaches)

    def reads_plainly(self) -> bool:
        """Return whether files are read by a name that is written out, or found by a plain pattern."""
        patterns = [
            self.at(index + 1 + (self.at(index + 1).text in "[(")).text
            for index, token in enumerate(self.tokens)
            if token.text == "Dir" or (token.text == "glob" and token.kind == "name")
            if self.at(index + 1).text != "."
        ]
        plain = bool(patterns) and all(
            (found := PLAIN_FILES.fullmatch(each)) and not is_credential(f"x.{found[1]}")
            for each in patterns
        )
        return plain or all(
            self.reads_named(index + 1)
            for index, token in enumerate(self.tokens)
            if token.kind == "name"
            and READING.match(token.text)
            and (self.language == "node" or self.at(index - 2).text in ("File", "YAML"))
            and self.at(index + 1).text not in ("}", ",")
        )

    def reads_named(self, index: int) -> bool:
        """Return whether the first argument of a call is a text that is written out, or standard input."""
        index += self.at(index).text == "("
        given = self.at(index)
        behind = self.at(index + 1).text
        whole = given.kind == "string" and not re.search(r"[$#]\{", given.text)
        return (whole or given.text == "0") and behind in (
            ",",
            ")",
            ".",
            ";",
            "}",
            "]",
            END.text,
        )

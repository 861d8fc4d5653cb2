"""What the words of a command mean: by tables of the programs developers use, by the engine's, else honestly."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from cli_guard.assistant.projects.model import Part
from cli_guard.assistant.projects.purposes import read
from cli_guard.rules import tables as engine

FILES = ("words-tools", "words-builds", "words-shell")
OPERATOR = re.compile(r"\d?(?:>>|>&|<<<|<<-?|>\||[<>])&?\d?|&&|\|\||\|&|;;|[|;&()]|\n")
PLACEHOLDER = re.compile(r"<[a-z]{1,30}>")
TOKEN = re.compile(
    rf"""{PLACEHOLDER.pattern}|{OPERATOR.pattern}"""
    r"""|(?:\\.|'[^']*'?|"(?:\\.|[^"\\])*"?|\$\([^()]*\)|\$|[^\s;&|<>()'"\\$]|\\$)+"""
)
OPERATORS = {
    "&&": "and then, if that succeeds",
    "||": "or, if that fails",
    "|": "and gives its output to the next program",
    "|&": "and gives its output and errors to the next program",
    ";": "and then",
    "\n": "and then",
    "&": "in the background",
    ">": "writes the output to a file, replacing it",
    ">>": "adds the output to a file",
    "<": "reads the input from a file",
    "2>": "writes the errors to a file",
    "2>&1": "sends the errors where the output goes",
    "<<<": "reads this text as input",
    "(": "begins a shell of its own",
    ")": "ends it",
}
JOINING = frozenset({"&&", "||", "|", "|&", ";", "\n", "&", "(", ")"})
VARIABLE = re.compile(r"[A-Za-z_]\w*=")
# Programs that run what follows: its first word that is no option is a program again.
RUNNERS = frozenset("sudo npx bunx pnpx uvx env time exec command xargs nohup".split())
RUNNING_COMMANDS = frozenset(
    (
        "uv run",
        "poetry run",
        "pdm run",
        "pipenv run",
        "rye run",
        "bundle exec",
        "pnpm exec",
        "yarn exec",
        "npm exec",
        "pnpm dlx",
        "yarn dlx",
    )
)
TASK_RUNNERS = ("make", "just", "task", "inv", "rake")
SCRIPT_RUNNERS = ("npm", "yarn", "pnpm", "bun")
UNDEFINED = "no file that we read defines it"
MOST_WORDS, LONGEST = 80, 4_000


@dataclass(frozen=True, slots=True)
class Words:
    """The table of one program or sub-command. `options` maps a name to (does a value follow?, meaning)."""

    does: str
    operand: str = "an operand"
    commands: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, tuple[bool, str]] = field(default_factory=dict)


@cache
def words() -> Mapping[str, Words]:
    """Every table by its name, read once."""
    return {name: _words(data) for file in FILES for name, data in read(file).items()}


def _words(data: Mapping[str, Any]) -> Words:
    commands = dict(
        line.split(" = ", 1) for line in data.get("commands", "").strip().split("\n") if " = " in line
    )
    options: dict[str, tuple[bool, str]] = {}
    for line in data.get("options", "").strip().split("\n"):
        names, found, meaning = line.partition(" = ")
        if not found:
            continue
        given = names.split()
        takes = not given[-1].startswith("-")
        options.update({name: (takes, meaning) for name in given if name.startswith("-")})
    return Words(data["does"], data.get("operand", "an operand"), commands, options)


def explained(command: str, defined: Mapping[str, str] | None = None) -> tuple[Part, ...]:
    """Every word of a command with its meaning, in order.

    `defined` says what a task of this repository is: `make check` -> "defined in Makefile:12: ...". At most 80 words
    of the first 4,000 characters; a last part says so if there are more.
    """
    tokens = [match.group() for match in TOKEN.finditer(command[:LONGEST])]
    found = _commands(tokens[:MOST_WORDS], defined or {})
    parts = [Part(p.text, "for you to fill in") if PLACEHOLDER.fullmatch(p.text) else p for p in found]
    if len(tokens) > MOST_WORDS or len(command) > LONGEST:
        parts.append(Part("...", "more words, which are not explained"))
    return tuple(parts)


def _commands(tokens: Sequence[str], defined: Mapping[str, str]) -> Iterator[Part]:
    """The parts of a command line: of each simple command in it, and what stands between them."""
    waiting: list[str] = []
    redirected = False
    for each in tokens:
        operator = OPERATOR.fullmatch(each)
        if redirected and not operator:
            yield Part(each, "that file")
            redirected = False
        elif operator:
            yield from _Reading(waiting, defined).parts()
            waiting = []
            yield Part("line end" if each == "\n" else each, OPERATORS.get(each, "an operator of the shell"))
            redirected = each not in JOINING and each[-1] in "<>|"
        else:
            waiting.append(each)
    yield from _Reading(waiting, defined).parts()


class _Reading:
    """One simple command, read from the left: whose table counts may change with each word."""

    def __init__(self, tokens: Sequence[str], defined: Mapping[str, str]) -> None:
        self.tokens = list(tokens)
        self.defined = defined
        self.program = ""
        self.sub = ""

    def parts(self) -> Iterator[Part]:
        """The parts of the command."""
        while self.tokens and VARIABLE.match(self.tokens[0]):
            yield Part(self.tokens.pop(0), "sets a variable of the environment for this command")
        if self.tokens:
            yield from self.named(self.tokens.pop(0))
        while self.tokens:
            yield from self.one(self.tokens.pop(0))

    def named(self, word: str) -> Iterator[Part]:
        """The program."""
        name = word.rsplit("/", 1)[-1].strip("'\"")
        self.program = read("programs")["names"].get(name, re.sub(r"^(python|pip)[\d.]+$", r"\1", name))
        self.sub = ""
        whole = " ".join([word, *self.tokens])
        if word in self.defined and not self.tokens:
            yield Part(word, self.defined[word])
        elif self.program in words():
            meaning = words()[self.program].does
            yield Part(
                word,
                f"{meaning}; {self.defined[whole]}"
                if whole in self.defined and self.program != "make" and len(self.tokens) == 0
                else meaning,
            )
        elif "/" in word or word.endswith((".py", ".sh", ".js")):
            yield Part(word, self.defined.get(whole, "a script of the repository"))
        elif engine.exists(self.program) or self.program in engine.other_names():
            yield Part(word, "a program that the engine knows")
        else:
            yield Part(word, self.defined.get(whole, "a program that we have no table of"))

    @property
    def table(self) -> Words:
        """The table that counts now: that of the sub-command, else of the program."""
        return words().get(f"{self.program} {self.sub}") or words().get(self.program) or Words("")

    def one(self, word: str) -> Iterator[Part]:
        """An option with its value, a sub-command, a task, or an operand."""
        if word == "--":
            yield Part(word, "what follows are operands, or words for what is run")
        elif word.startswith("-") and len(word) > 1 and not re.match(r"-\d+$", word):
            yield from self.option(word)
        elif self._is_program(word):
            yield from self.named(word)
        else:
            yield Part(word, self.operand(word))

    def _is_program(self, word: str) -> bool:
        if self.program in RUNNERS or f"{self.program} {self.sub}" in RUNNING_COMMANDS:
            return not VARIABLE.match(word) and (
                word.rsplit("/", 1)[-1] in words() or self.program in RUNNERS
            )
        return (
            self.program in ("yarn", "pnpm", "bun", "hatch")
            and word in words()
            and word not in self.table.commands
        )

    def operand(self, word: str) -> str:
        """What a word that is no option means."""
        task = f"{self.program} {word}" if not self.sub else f"{self.program} {self.sub} {word}"
        if task in self.defined:
            self.sub = self.sub or word
            return self.defined[task]
        table = words().get(self.program, Words(""))
        if not self.sub and (word in table.commands or f"{self.program} {word}" in words()):
            self.sub = word
            own = words().get(f"{self.program} {word}")
            return own.does if own else table.commands[word]
        if self.program == "python" and word.endswith("manage.py"):
            self.program = "python manage.py"
            return words()[self.program].does
        inner = words().get(f"{self.program} {self.sub}")
        if inner and word in inner.commands:
            return inner.commands[word]
        if self.program == "git":
            return _revision(word) or self.table.operand
        if self.program in TASK_RUNNERS or (self.sub == "run" and self.program in SCRIPT_RUNNERS):
            named = "a script" if self.sub else self.table.operand
            return f"{named}; {UNDEFINED}"
        return self.table.operand

    def option(self, word: str) -> Iterator[Part]:
        """An option, and its value where one follows."""
        name, attached, value = word.partition("=")
        known = self.table.options.get(name) or words().get(self.program, Words("")).options.get(name)
        if known is None and not name.startswith("--") and len(name) > 2:
            short = self.table.options.get(name[:2]) or words().get(self.program, Words("")).options.get(
                name[:2]
            )
            if short and short[0]:
                yield Part(word, f"{short[1]}: {name[2:]}{attached}{value}")
                return
            letters = [self.table.options.get(f"-{letter}") for letter in name[1:]]
            if all(letters) and not name[1:].isdigit():
                yield Part(word, "; ".join(letter[1] for letter in letters if letter))
                return
        if known is None:
            yield from self.unknown(word, name, bool(attached))
            return
        takes, meaning = known
        if self.program == "python" and name == "-m" and self.tokens:
            module = self.tokens.pop(0)
            yield Part(word, meaning)
            yield from self.named(module)
        elif takes and not attached and self.tokens and not self._flag_here(name):
            yield Part(f"{word} {self.tokens.pop(0)}", meaning)
        else:
            yield Part(word, meaning)

    def _flag_here(self, name: str) -> bool:
        return (
            (name in ("--cov", "-j", "--jobs", "--depth") and self.tokens[0].startswith("-"))
            or (self.program == "coverage" and self.sub == "report" and name == "-m")
            or (self.program == "pytest" and name == "--cov")
            or (self.program == "make" and name in ("-j", "--jobs") and not self.tokens[0].isdigit())
        )

    def unknown(self, word: str, name: str, attached: bool) -> Iterator[Part]:
        """An option that we have no words for: the engine's table may know whether a value follows."""
        whose = f"{self.program} {self.sub}".strip()
        takes = _engine_says(self.program, self.sub, name)
        if takes is None:
            yield Part(word, f"an option of {whose} that we have no words for")
        elif takes and not attached and self.tokens:
            yield Part(f"{word} {self.tokens.pop(0)}", f"an option of {whose} with its value")
        else:
            yield Part(word, f"an option of {whose}")


def _revision(word: str) -> str:
    """What a name of a commit means (gitrevisions(7)), empty if it is a plain word."""
    back = re.fullmatch(r"(HEAD|@|[\w./-]+)[~](\d*)", word)
    if back:
        count = int((back[2] or "1")[:6])
        return f"the commit {'one' if count == 1 else count} before {back[1]}"
    if re.fullmatch(r"[\w./@-]+\^", word):
        return f"the parent of {word[:-1]}"
    found = re.fullmatch(r"([\w./~^-]+)(\.{2,3})([\w./~^-]*)", word)
    if found and not word.startswith("."):
        return f"the commits of {found[3] or 'HEAD'} that {found[1]} does not have"
    return {"HEAD": "the commit you are on", "@": "the commit you are on"}.get(word, "")


@cache
def _engine_says(program: str, sub: str, option: str) -> bool | None:
    """Does a value follow the option, by the engine's tables? None if they do not list it."""
    for name in (f"{program}-{sub}", program):
        if not engine.exists(name):
            continue
        data = engine.read(name)
        blocks = [
            data,
            *(each for each in data.get("command", ()) if not sub or sub in each["name"].split(" | ")),
        ]
        for block in blocks:
            if option in block.get("values", "").split():
                return True
            if option in [flag.removesuffix("[=]") for flag in block.get("flags", "").split()]:
                return False
        for fact in data.get("fact", ()):
            if option in fact.get("options", "").split():
                return "takes" in fact
    return None

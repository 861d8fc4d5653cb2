"""Scripts to try: corners, real commands, scripts by a grammar, and all of them with small damage.

The same seed gives the same scripts.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from bash_oracle.corners import list_corners

ROOT = Path(__file__).parents[2]
REAL = (ROOT / "../shared/cases/real_commands.jsonl", Path("/work/shared/cases/real_commands.jsonl"))
# Each is denied, or would be a question, when it runs.
PAYLOADS = ("git commit --no-verify -qm x", "rm -rf /", "git\tcommit --no-verify -qm x")
COMMANDS = (
    *("ls", "ls -la", "cat", "cat -n", "echo", "echo -n", "grep -n foo", "grep -r x", "rg foo", "rg -l x", "git status"),
    *("git log --oneline", "git diff", "git show HEAD", "head -n 2", "tail -3", "sort", "wc -l", "true", "false"),
    *("printf '%s\\n'", "test -f", "[ -f a.txt ]", "pwd", "uniq", "cut -d: -f1", "date", "stat", "file", "diff a.txt"),
)
PLACES = ("a.txt", "b.py", "sub/c.txt", "README.md", "sub", ".", "x1", "'with space.md'")
EXPANSIONS = (
    *("$x", '"$x"', "${x}", '"${x}"', "$1", '"$@"', "$?", "$#", "${x:-a}", '"${y:-a b}"', "${x%.*}", "${x##*/}", "$HOME"),
    *("$(pwd)", '"$(pwd)"', "$(cat a.txt)", '"$(cat a.txt)"', "`pwd`", "$((1+1))", "${PIPESTATUS[0]}", "${x/a/b}"),
    *("$(ls)", "$(rg -l x)", "$(wc -l < a.txt)", "${x,,}", "${x:0:1}", "${#x}", "${x[0]}", '"${x[@]}"', "${!x}", "$$"),
)
GLOBS = ("*", "*.txt", "?.py", "[ab]*", "./*", "sub/*", "{a,b}.txt", "~", "~/x", "a{1..2}", '"*"', "\\*", "-- *", "*a*")
REDIRECTS = (
    *("2>/dev/null", ">/dev/null", "> /dev/null 2>&1", "2>&1", "&>/dev/null", "< a.txt", "<<< 'x y'", '<<< "$x"'),
    *(">|/dev/null", "<>a.txt", ">&2", "3>&1", "2>&-", "> out.txt", ">> out.txt", ">out.txt 2>&1", "{n}>/dev/null"),
)
JOINTS = ("; ", "\n", " && ", " || ", " | ", " & ", "\n\n", " ;", " |& ", " |\n", " && \\\n", "\n# it's a comment\n")
DELIMITERS = ("E", "'E'", '"E"', "\\E", "EOF", "'EOF'", "E'O'F", '"E F"', "-E", "$E", "E;", "''", "E\\ F", "$'E'", "E)")
NEAR_ENDS = ("{} ", " {}", "\t{}", "{};", "{} #", "{}|cat", "{} &", "{}{}", "{}\r", "{}\\", "\\{}", "{})", "'{}'", "{}\t")
# What a small damage puts into a script.
BITS = (
    *("'", '"', "\\", "`", "$", "$(", ")", "(", "{", "}", "#", " #", ";", ";;", "&", "|", "<", ">", "<<E\n", "\nE\n", "\n"),
    *("\\\n", " ", "\t", "\r", "\r\n", "\v", "\f", "\u00a0", "!", "*", "?", "[", "]", "~", "=", "+=", "-", "--", "$'", '$"'),
    *("${", "$((", "))", "[[ ", " ]]", "<(", ">(", "<<<", "<<'E'\n", "<<-E\n", "2>", ">&", "&>", "in ", "do ", "done", "fi"),
    *("esac", "case x in x) ", "if ", "then ", "time ", "! ", "coproc ", "function f ", "f() ", "x=", "x+=(", ")", "a[0]="),
    *("''", '""', "${x@P}", "$_", "$-", "{a,b}", "\u2028", "\x7f", "\x01", "é", "set -f;", "set -k\n", "shopt -s extglob\n"),
    *("IFS=:;", "'$(PAYLOAD)'", "`PAYLOAD`", '"', "'", "\\'", '\\"', "\\`", "\\$(", "'\\''", ";&", "|&", "<&-", "0", "1>"),
)


class Maker:
    """Scripts by a grammar."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.depth = 0

    def pick(self, choices: tuple[str, ...]) -> str:
        return self.rng.choice(choices)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def text(self) -> str:
        """Return text that does harm where bash takes it for code."""
        text = self.pick(
            (
                "$(PAYLOAD)",
                "`PAYLOAD`",
                "a[$(PAYLOAD)]",
                "; PAYLOAD",
                "\nPAYLOAD\n",
                "' ; PAYLOAD; '",
                '" ; PAYLOAD; "',
                ") ; PAYLOAD",
                "}; PAYLOAD",
                "# PAYLOAD",
                "E\nPAYLOAD",
                "PAYLOAD",
                "a b",
                "it's",
                "",
                "-x",
                "*",
                "é ü",
                "a\\b",
                "a\\\\",
            )
        )
        return fill(text, self.rng)

    def quoted(self) -> str:
        """Return such text as a word, quoted in one of bash's ways."""
        text = self.text()
        way = self.rng.randrange(6)
        if way < 2:
            return "'" + text.replace("'", "'\\''") + "'"
        if way == 2:
            return '"' + "".join("\\" + each if each in '\\"$`' else each for each in text) + '"'
        if way == 3:
            return "$'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
        if way == 4:
            return "".join("'\n'" if each == "\n" else "\\" + each for each in text) or "''"
        half = len(text) // 2
        first = text[:half].replace("'", "")
        return f"'{first}'" + '"' + "".join("\\" + each if each in '\\"$`' else each for each in text[half:]) + '"'

    def word(self) -> str:
        way = self.rng.randrange(12)
        if way < 4:
            return self.pick(PLACES)
        if way < 7:
            return self.quoted()
        if way < 9:
            return self.pick(EXPANSIONS)
        if way == 9:
            return self.pick(GLOBS)
        if way == 10 and self.depth < 3:
            return self.substitution()
        return self.pick(PLACES) + self.quoted()

    def substitution(self) -> str:
        self.depth += 1
        inner = self.line()
        self.depth -= 1
        form = self.pick(("$({})", '"$({})"', "$( {} )", "$({}\n)", "<({})", "`{}`", "${{y:-$({})}}", '"a $({}) b"'))
        if form[0] == "`":
            inner = inner.replace("\\", "\\\\").replace("`", "\\`")
        return form.replace("{{", "{").replace("}}", "}").replace("{}", inner)

    def command(self) -> str:
        parts = [self.pick(COMMANDS)]
        parts += [self.word() for _ in range(self.rng.choice((0, 1, 1, 2, 3)))]
        if self.chance(0.2):
            parts.insert(self.rng.randint(0, len(parts)), self.pick(REDIRECTS))
        if self.chance(0.08):
            parts.insert(0, f"{self.pick(('x', 'y', 'LC_ALL', 'NODE_ENV', 'IFS'))}={self.word()}")
        if self.chance(0.05):
            parts.append("# " + self.text().replace("\n", " "))
            parts.append("\n" + self.pick(COMMANDS))
        return self.pick((" ", " ", " ", " ", "  ", "\t", " \\\n")).join(parts)

    def assignment(self) -> str:
        name = self.pick(("x", "y", "z", "q", "w", "OPTIND", "SECONDS", "PS4", "a[0]", "x[1]"))
        setter = self.pick(
            (
                "{n}={w}",
                "{n}={w}",
                "{n}={w}",
                "{n}+={w}",
                "{n}=({w} {w})",
                "declare {n}={w}",
                "declare -i {n}={w}",
                "export {n}={w}",
                "read {n} <<< {w}",
                "read -r {n} < a.txt",
                "printf -v {n} %s {w}",
                ": ${{{n}:={w}}}",
                "set -- {w} {w}",
                "local {n}={w}",
                "declare -n {n}=x",
                "mapfile -t {n} <<< {w}",
                "unset {n}",
                "IFS={w}",
                "{n}=$(cat a.txt)",
            )
        )
        while "{w}" in setter:
            setter = setter.replace("{w}", self.word(), 1)
        return setter.replace("{n}", name).replace("{{", "{").replace("}}", "}")

    def evaluation(self) -> str:
        """Return a place where bash evaluates a variable."""
        form = self.pick(
            (
                *("echo $(({v}))", "echo $[{v}]", "(({v}))", "let {v}", "[[ {v} -eq 0 ]]", "[[ ${v} -gt 1 ]]", "echo ${{!{v}}}"),
                *("z=([${v}]=1)", "z[{v}]=1", "echo ${{z[{v}]}}", "echo ${{{v}@P}}", "echo ${{q:{v}:1}}", "[ -v ${v} ]"),
                *("declare -i q=${v}", "q+=${v}", "printf -v ${v} x", "unset ${v}", "eval ${v}", "test ${v} -eq 1"),
                *("for {v} in ${v}; do ls ${v}; done", "case ${v} in a*) ls;; *) cat a.txt;; esac", "[ ${v} -gt 1 ] && ls"),
                *("rg ${v}", 'rg "${v}"', 'rg foo -- "${v}"', "head -n ${v}", "ls ${v}", "git log ${v}", 'echo "${v}"'),
            )
        )
        return form.replace("{v}", self.pick(("x", "y", "z", "q", "w"))).replace("{{", "{").replace("}}", "}")

    def compound(self) -> str:
        self.depth += 1
        one, other = self.line(), self.line()
        self.depth -= 1
        form = self.pick(
            (
                "if {a}; then {b}; fi",
                "if {a}; then {b}; else ls; fi",
                "for f in {w} {w}; do {a}; echo $f; done",
                "for f in *; do rg foo \"$f\"; {a}; done",
                "while {a}; do {b}; break; done",
                "until {a}; do {b}; break; done",
                "while read -r x; do {a}; break; done < a.txt",
                "case {w} in a*) {a};; *) {b};; esac",
                "case {w} in {w}) {a};; (x|{w}) {b};; esac",
                "{ {a}; {b}; }",
                "({a}; {b})",
                "({a})",
                "f() { {a}; }; f {w}",
                "function f { {a}; }; f",
                "! {a}",
                "time {a}",
                "[[ {w} == {w} ]] && {a}",
                "[[ -n {w} ]] || {a}",
                "{a} | while read -r x; do echo \"$x\"; done",
                "{ {a}; } 2>/dev/null",
                "select f in {w}; do {a}; break; done <<< 1",
                "trap {w} EXIT; {a}",
                "coproc {a}",
                "{a} & wait",
                "rg -l x | xargs {a}",
            )
        )
        while "{w}" in form:
            form = form.replace("{w}", self.word(), 1)
        return form.replace("{a}", one, 1).replace("{b}", other, 1)

    def here_document(self) -> str:
        delimiter = self.pick(DELIMITERS)
        end = delimiter
        for mark in ("$'", "'", '"', "\\"):
            end = end.replace(mark, "")
        lines = []
        for _ in range(self.rng.randint(0, 3)):
            lines.append(self.pick((self.text(), "plain", "$x", "it's", '"', "a\\", self.pick(NEAR_ENDS).replace("{}", end))))
        last = end
        if self.chance(0.3):
            last = self.pick(NEAR_ENDS).replace("{}", end)
        if self.chance(0.05):
            lines.append("")
        else:
            lines.append(last)
        operator = self.pick(("<<", "<<", "<<-", "<< "))
        after = self.pick(("", "", "", " | cat", " && ls", "; ls", " 2>/dev/null", " # x", " <<F"))
        lines += ["F"] if after == " <<F" else []
        body = "\n".join(lines)
        text = f"{self.pick(('cat', 'sort', 'grep x', 'head -n 1'))} {operator}{delimiter}{after}\n{body}"
        return self.pick((text, text, text, f"x=$({text}\n)", f"echo \"$({text}\n)\"", f"({text}\n)")) + "\n" + self.quoted_line()

    def quoted_line(self) -> str:
        return self.pick(("echo ", "x=", "ls ", "grep ")) + self.quoted()

    def line(self) -> str:
        way = self.rng.randrange(20)
        if self.depth > 3 or way < 9:
            return self.command()
        if way < 12:
            return self.command() + self.pick(JOINTS) + self.command()
        if way < 14:
            return self.compound()
        if way < 16:
            return self.here_document()
        if way < 18:
            return self.assignment() + self.pick((";", "\n")) + self.evaluation()
        return self.assignment() + "; " + self.command()

    def script(self) -> str:
        lines = [self.line() for _ in range(self.rng.choice((1, 1, 2, 2, 3)))]
        return self.pick(JOINTS[:2]).join(lines)


def damage(script: str, rng: random.Random) -> str:
    """Put a bit in, take one out or double one, in one to three places."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randint(0, len(script))
        way = rng.randrange(5)
        if way < 3:
            script = script[:at] + rng.choice(BITS) + script[at:]
        elif way == 3:
            script = script[:at] + script[at + rng.randint(1, 3) :]
        else:
            script = script[:at] + script[at : at + rng.randint(1, 8)] + script[at:]
    return script


def read_real() -> list[str]:
    """Return commands that agents ran; none where the file is not at hand."""
    found = next((path for path in REAL if path.exists()), None)
    rows = map(json.loads, found.read_text("utf-8").splitlines()) if found else ()
    return [row["command"] for row in rows if "command" in row]


def read_labelled() -> list[str]:
    files = sorted((ROOT / "fixtures/commands").glob("*.jsonl"))
    return [json.loads(line)["command"] for file in files for line in file.read_text("utf-8").splitlines()]


def list_seeds(more: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Return the corners, each twice in a row so that it meets both trees, real commands and `more`."""
    corners = [(kind, fill(script)) for kind, script in list_corners() for _ in range(2)]
    return [*corners, *(("real", script) for script in (*read_real(), *more))]


def make_scripts(seed: int, count: int, more: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield new scripts, each with its kind; `more` are scripts to damage, too."""
    rng = random.Random(seed)
    corners = list_corners()
    labelled = read_labelled()
    others = [*read_real(), *more] or labelled
    sources: list[tuple[int, Callable[[], tuple[str, str]]]] = [
        (8, lambda: ("grammar", Maker(rng).script())),
        (4, lambda: ("grammar, damaged", damage(Maker(rng).script(), rng))),
        (5, lambda: damage_corner(rng.choice(corners), rng)),
        (1, lambda: ("labelled, damaged", damage(rng.choice(labelled), rng))),
        (1, lambda: ("real, damaged", damage(rng.choice(others), rng))),
    ]
    weights = [weight for weight, _ in sources]
    for _ in range(count):
        kind, script = rng.choices(sources, weights)[0][1]()
        yield kind, fill(script, rng)


def damage_corner(corner: tuple[str, str], rng: random.Random) -> tuple[str, str]:
    """Damage a corner, or put it among other commands."""
    kind, script = corner
    if rng.random() < 0.6:
        script = damage(script, rng)
    if rng.random() < 0.4:
        parts = [script, Maker(rng).line()]
        rng.shuffle(parts)
        script = rng.choice(("\n", "\n", "; ", " && ")).join(parts)
    return f"{kind}, damaged", script


def fill(script: str, rng: random.Random | None = None) -> str:
    """Put a command that is denied in the place of each `PAYLOAD`."""
    payload = rng.choice(PAYLOADS) if rng and rng.random() < 0.5 else PAYLOADS[0]
    return script.replace("PAYLOAD", payload).replace("\0", "")

r"""Scripts by a grammar that likes the corners of bash.

In the forms below `{w}` is a word, `{n}` and `{v}` the name of a variable, `{a}` and `{b}` are commands.
"""

import random
from collections.abc import Sequence

# Each is denied when it runs.
PAYLOADS = ("git commit --no-verify -qm x", "rm -rf /", "git\tcommit --no-verify -qm x")

COMMANDS = r"""
ls|ls -la|cat|cat -n|echo|echo -n|grep -n foo|grep -r x|rg foo|rg -l x|git status|git log --oneline|git diff
git show HEAD|head -n 2|tail -3|sort|wc -l|true|false|printf '%s\n'|test -f|[ -f a.txt ]|pwd|uniq|cut -d: -f1|stat|file
diff a.txt
"""
PLACES = "a.txt|b.py|sub/c.txt|README.md|sub|.|x1|'with space.md'"
EXPANSIONS = r"""
$x|"$x"|${x}|"${x}"|$1|"$@"|$?|$#|${x:-a}|"${y:-a b}"|${x%.*}|${x##*/}|$HOME|$(pwd)|"$(pwd)"|$(cat a.txt)|"$(cat a.txt)"
`pwd`|$((1+1))|${PIPESTATUS[0]}|${x/a/b}|$(ls)|$(rg -l x)|$(wc -l < a.txt)|${x,,}|${x:0:1}|${#x}|${x[0]}|"${x[@]}"|${!x}
$$|$_|$-|$@|"$*"|${x+b}|"${x:=c}"|$(rg -l x <<< "$y")|${@:2}
"""
GLOBS = r'*|*.txt|?.py|[ab]*|./*|sub/*|{a,b}.txt|~|~/x|a{1..2}|"*"|\*|-- *|*a*|[!a]*|[[:alpha:]]*|**'
REDIRECTS = r"""
2>/dev/null|>/dev/null|> /dev/null 2>&1|2>&1|&>/dev/null|< a.txt|<<< 'x y'|<<< "$x"|>/dev/null|<>a.txt|>&2|3>&1|2>&-
> out.txt|>> out.txt|>out.txt 2>&1|{n}>/dev/null|>>/dev/null
"""
# What the judge allows as often as not.
TAME_EXPANSIONS = (
    '$x|"$x"|"${x}"|$?|$#|"$(pwd)"|"$(cat a.txt)"|-- $(cat a.txt)|-- *|./*|*.txt'
)
TAME_REDIRECTS = (
    "2>/dev/null|>/dev/null|> /dev/null 2>&1|2>&1|&>/dev/null|< a.txt|<<< 'x y'|>&2"
)

SETTERS = r"""
{n}={w}
{n}={w}
{n}={w}
{n}+={w}
{n}=({w} {w})
declare {n}={w}
declare -i {n}={w}
export {n}={w}
read {n} <<< {w}
read -r {n} < a.txt
printf -v {n} %s {w}
: ${{n}:={w}}
set -- {w} {w}
local {n}={w}
declare -n {n}=x
mapfile -t {n} <<< {w}
unset {n}
IFS={w}
{n}=$(cat a.txt)
{n}=1
{n}=$(({v} + 1))
for {n} in {w}; do :; done
"""
# Places where bash evaluates a variable, or hands it to a program.
EVALUATIONS = r"""
echo $(({v}))
echo $(( {v} * 2 ))
echo $[{v}]
(({v}))
let {v}
[[ {v} -eq 0 ]]
[[ ${v} -gt 1 ]]
echo ${!{v}}
z=([${v}]=1)
z[{v}]=1
echo ${z[{v}]}
echo ${{v}@P}
echo ${q:{v}:1}
[ -v ${v} ]
declare -i q=${v}
q+=${v}
printf -v ${v} x
unset ${v}
eval ${v}
test ${v} -eq 1
for {v} in ${v}; do ls ${v}; done
case ${v} in a*) ls;; *) cat a.txt;; esac
[ ${v} -gt 1 ] && ls
rg ${v}
rg "${v}"
rg foo -- "${v}"
head -n ${v}
ls ${v}
git log ${v}
echo "${v}"
"""
TAME_EVALUATIONS = r"""
ls -- $x
echo "$y" $x
for x in $y b; do echo "$x"; done
head -- "$x"
"""
COMPOUNDS = r"""
if {a}; then {b}; fi
if {a}; then {b}; else ls; fi
for f in {w} {w}; do {a}; echo $f; done
for f in *; do rg foo "$f"; {a}; done
while {a}; do {b}; break; done
until {a}; do {b}; break; done
while read -r x; do {a}; break; done < a.txt
case {w} in a*) {a};; *) {b};; esac
case {w} in {w}) {a};; (x|{w}) {b};; esac
{ {a}; {b}; }
({a}; {b})
({a})
f() { {a}; }; f {w}
function f { {a}; }; f
! {a}
time {a}
[[ {w} == {w} ]] && {a}
[[ -n {w} ]] || {a}
{a} | while read -r x; do echo "$x"; done
{ {a}; } 2>/dev/null
select f in {w}; do {a}; break; done <<< 1
trap {w} EXIT; {a}
coproc {a}
{a} & wait
rg -l x | xargs {a}
"""
SUBSTITUTIONS = """
$({a})
"$({a})"
$( {a} )
$({a}⏎)
<({a})
`{a}`
${y:-$({a})}
"a $({a}) b"
"""
JOINTS = (
    "; ",
    "\n",
    " && ",
    " || ",
    " | ",
    " & ",
    "\n\n",
    " ;",
    " |& ",
    " |\n",
    " && \\\n",
    "\n# it's a comment\n",
)

# Text that does harm where bash takes it for code.
TEXTS = r"""
$(PAYLOAD)
`PAYLOAD`
a[$(PAYLOAD)]
; PAYLOAD
⏎PAYLOAD⏎
' ; PAYLOAD; '
" ; PAYLOAD; "
) ; PAYLOAD
}; PAYLOAD
# PAYLOAD
E⏎PAYLOAD
PAYLOAD
a b
it's

-x
*
é ü
a\b
a\\
"""
DELIMITERS = r"E|'E'|\"E\"|\E|EOF|'EOF'|E'O'F|\"E F\"|-E|$E|E;|''|E\ F|$'E'|E)".replace(
    '\\"', '"'
)
# What stands where the end of a here-document might be; `_` is its delimiter.
NEAR_ENDS = (
    "_ ",
    " _",
    "\t_",
    "_;",
    "_ #",
    "_|cat",
    "_ &",
    "__",
    "_\r",
    "_\\",
    "\\_",
    "_)",
    "'_'",
    "_\t",
)


def split_lines(text: str) -> list[str]:
    return [each.replace("⏎", "\n") for each in text.strip("\n").split("\n")]


def split_words(text: str) -> list[str]:
    """Return words that bars and line ends separate; a bar is no part of any."""
    return [each for line in split_lines(text) for each in line.split("|")]


def fill_payload(script: str, rng: random.Random | None = None) -> str:
    """Put a command that is denied in the place of each `PAYLOAD`."""
    payload = rng.choice(PAYLOADS) if rng and rng.random() < 0.5 else PAYLOADS[0]
    return script.replace("PAYLOAD", payload)


def quote_single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def quote_double(text: str) -> str:
    return '"' + "".join("\\" + each if each in '\\"$`' else each for each in text) + '"'


def quote_dollar(text: str) -> str:
    return "$'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def escape(text: str) -> str:
    return "".join("'\n'" if each == "\n" else "\\" + each for each in text) or "''"


class Maker:
    """Scripts by the grammar. `is_tame`: of what the judge may well allow."""

    def __init__(self, rng: random.Random, *, is_tame: bool = False) -> None:
        self.rng = rng
        self.is_tame = is_tame
        self.depth = 0
        self.expansions = split_words(TAME_EXPANSIONS if is_tame else EXPANSIONS)
        self.globs = split_words(TAME_EXPANSIONS if is_tame else GLOBS)
        self.redirects = split_words(TAME_REDIRECTS if is_tame else REDIRECTS)
        self.setters = ["x={w}", "y={w}"] if is_tame else split_lines(SETTERS)
        self.evaluations = split_lines(TAME_EVALUATIONS if is_tame else EVALUATIONS)

    def pick(self, choices: Sequence[str]) -> str:
        return self.rng.choice(choices)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def script(self) -> str:
        lines = [self.line() for _ in range(self.rng.choice((1, 1, 2, 2, 3)))]
        return self.pick(JOINTS[:2]).join(lines)

    def line(self) -> str:
        way = self.rng.randrange(20)
        if self.depth > 3 or way < 9:
            return self.command()
        if way < 12:
            return self.command() + self.pick(JOINTS) + self.command()
        if way < 14:
            return self.fill(self.pick(split_lines(COMPOUNDS)))
        if way < 16:
            return self.here_document()
        setter = self.fill(self.pick(self.setters))
        if way < 18:
            return setter + self.pick((";", "\n")) + self.fill(self.pick(self.evaluations))
        return setter + "; " + self.command()

    def fill(self, form: str) -> str:
        """Fill a form from left to right; what is filled in is not looked at again."""
        names = ("x", "y", "z", "q", "w")
        if "{n}" in form:
            form = form.replace(
                "{n}", self.pick((*names, "OPTIND", "SECONDS", "PS4", "a[0]", "x[1]"))
            )
        form = form.replace("{v}", self.pick(names))
        done = ""
        self.depth += 1
        while form:
            place = form[:3]
            if place in ("{w}", "{a}", "{b}"):
                done += self.word() if place == "{w}" else self.line()
                form = form[3:]
            else:
                done += form[0]
                form = form[1:]
        self.depth -= 1
        return done

    def command(self) -> str:
        parts = [self.pick(split_words(COMMANDS))]
        parts += [self.word() for _ in range(self.rng.choice((0, 1, 1, 2, 3)))]
        if self.chance(0.2):
            parts.insert(self.rng.randint(0, len(parts)), self.pick(self.redirects))
        if not self.is_tame and self.chance(0.08):
            parts.insert(
                0, f"{self.pick(('x', 'y', 'LC_ALL', 'NODE_ENV', 'IFS'))}={self.word()}"
            )
        if self.chance(0.05):
            parts.append("# " + self.text().replace("\n", " ") + "\n")
            parts.append(self.pick(split_words(COMMANDS)))
        return self.pick((" ", " ", " ", " ", " ", "  ", "\t", " \\\n")).join(parts)

    def word(self) -> str:
        way = self.rng.randrange(12)
        if way < 4:
            return self.pick(PLACES.split("|"))
        if way < 7:
            return self.quoted()
        if way < 9:
            return self.pick(self.expansions)
        if way == 9:
            return self.pick(self.globs)
        if way == 10 and self.depth < 3:
            return self.substitution()
        return self.pick(PLACES.split("|")) + self.quoted()

    def substitution(self) -> str:
        form = self.pick(split_lines(SUBSTITUTIONS))
        if not form.startswith("`"):
            return self.fill(form)
        inner = self.fill("{a}")
        return "`" + inner.replace("\\", "\\\\").replace("`", "\\`") + "`"

    def text(self) -> str:
        return fill_payload(self.pick(split_lines(TEXTS)), self.rng)

    def quoted(self) -> str:
        """Return text as a word, quoted in one of bash's ways."""
        text = self.text()
        way = self.rng.randrange(6)
        if way < 2:
            return quote_single(text)
        if way < 5:
            return (quote_double, quote_dollar, escape)[way - 2](text)
        half = len(text) // 2
        return quote_single(text[:half]) + quote_double(text[half:])

    def here_document(self) -> str:
        """Return one whose end is not always where it seems to be, and text behind it that is quoted."""
        delimiter = self.pick(DELIMITERS.split("|"))
        end = delimiter
        for mark in ("$'", "'", '"', "\\"):
            end = end.replace(mark, "")
        lines = []
        for _ in range(self.rng.randint(0, 3)):
            near = self.pick(NEAR_ENDS).replace("_", end)
            lines.append(self.pick((self.text(), "plain", "$x", "it's", '"', "a\\", near)))
        lines.append(self.pick(NEAR_ENDS).replace("_", end) if self.chance(0.3) else end)
        if self.chance(0.05):
            lines.pop()
        after = self.pick(
            ("", "", "", " | cat", " && ls", "; ls", " 2>/dev/null", " # x", " <<F")
        )
        if after == " <<F":
            lines.append("F")
        start = self.pick(("cat", "sort", "grep x", "head -n 1")) + self.pick(
            (" <<", " <<", " <<-", " << ")
        )
        text = f"{start}{delimiter}{after}\n" + "\n".join(lines)
        text = self.pick(
            (text, text, text, f"x=$({text}\n)", f'echo "$({text}\n)"', f"({text}\n)")
        )
        return text + "\n" + self.pick(("echo ", "x=", "ls ", "grep ")) + self.quoted()

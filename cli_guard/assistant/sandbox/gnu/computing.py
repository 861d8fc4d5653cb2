"""`bc`: numbers of any size with a scale, cut and not rounded, as POSIX has it (XCU, bc).

Expressions, assignments and `if`-less programs, which is what stands in a command; no functions of one's own.
"""

import math
import re
from dataclasses import dataclass, field

from cli_guard.assistant.sandbox.commands.model import Answer, Call, CommandFailure
from cli_guard.assistant.sandbox.gnu.series import evaluated

TOKEN = re.compile(
    r"\s*(?:([0-9A-F]+\.?[0-9A-F]*|\.[0-9A-F]+)|([a-z_]\w*)|(\+\+|--|[<>=!]=|[-+*/%^]=|&&|\|\||[-+*/%^()<>=!;\n]))"
)
COMMENT = re.compile(r"/\*.*?\*/|#[^\n]*", re.DOTALL)
# Python refuses to print longer numbers (sys.set_int_max_str_digits).
MOST_DIGITS = 4_000
LINE_WIDTH = 68
LIBRARY_SCALE = 20
DEEPEST = 100
DIGITS = "0123456789ABCDEF"
LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("<", ">", "<=", ">=", "==", "!="),
    ("+", "-"),
    ("*", "/", "%"),
)


class BadProgram(Exception):
    """What bc says of a program it cannot run."""


@dataclass(frozen=True, slots=True)
class Number:
    """`digits` divided by ten to the power of `scale`."""

    digits: int
    scale: int = 0

    def at(self, scale: int) -> "Number":
        """The same number with another scale, cut towards zero."""
        if scale >= self.scale:
            return Number(self.digits * 10 ** (scale - self.scale), scale)
        return Number(quotient(self.digits, 10 ** (self.scale - scale)), scale)

    def __str__(self) -> str:
        """As bc prints it: no zero in front of the point."""
        if not self.digits:
            return "0"
        sign, text = "-" if self.digits < 0 else "", str(abs(self.digits)).rjust(self.scale + 1, "0")
        whole, part = text[: len(text) - self.scale], text[len(text) - self.scale :]
        return sign + whole.lstrip("0") + (f".{part}" if part else "")


def quotient(a: int, b: int) -> int:
    """Integer division cut towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@dataclass
class Machine:
    """A running bc."""

    tokens: list[str]
    at: int = 0
    depth: int = 0
    ended: bool = False
    values: dict[str, Number] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    @property
    def scale(self) -> int:
        """The scale in force."""
        return max(0, min(MOST_DIGITS, self.value("scale").at(0).digits))

    def value(self, name: str) -> Number:
        """The value of a variable; the bases are ten until they are set."""
        return self.values.get(name, Number(10 if name in ("ibase", "obase") else 0))

    def peek(self) -> str:
        """The next token, "" behind the last."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        """The next token, if it is one of those."""
        token = self.peek()
        if token and token in wanted:
            self.at += 1
            return token
        return ""

    def run(self) -> None:
        """All statements."""
        while self.peek():
            if self.take(";", "\n"):
                continue
            if self.take("quit", "halt"):
                self.ended = True
                return
            begins = self.at
            found = self.expression(0)
            follows = self.tokens[begins + 1 : begins + 2]
            assigned = bool(follows) and follows[0] in ("=", "+=", "-=", "*=", "/=", "%=", "^=")
            if not assigned:
                self.lines.append(self.printed(found))
            if self.peek() and self.peek() not in (";", "\n"):
                raise BadProgram("syntax error")

    def printed(self, number: Number) -> str:
        """A result in the output base; long ones are broken."""
        base = self.value("obase").at(0).digits
        text = str(number) if base == 10 else in_base(number.at(0).digits, base)
        rows = [text[at : at + LINE_WIDTH] for at in range(0, len(text), LINE_WIDTH)]
        return "\\\n".join(rows)

    def expression(self, level: int) -> Number:
        """An expression of the operators from a level on."""
        self.depth += 1
        if self.depth > DEEPEST * len(LEVELS):
            raise BadProgram("too deeply nested")
        found = self.unary() if level == len(LEVELS) else self.expression(level + 1)
        while level < len(LEVELS) and (operator := self.take(*LEVELS[level])):
            found = self.computed(operator, found, self.expression(level + 1))
        self.depth -= 1
        return found

    def computed(self, operator: str, a: Number, b: Number) -> Number:
        """Two numbers and an operator, with the scale that POSIX gives the result."""
        wide = max(a.scale, b.scale)
        x, y = a.at(wide).digits, b.at(wide).digits
        match operator:
            case "+" | "-":
                return Number(x + y if operator == "+" else x - y, wide)
            case "*":
                full = Number(a.digits * b.digits, a.scale + b.scale)
                return full.at(min(full.scale, max(self.scale, wide)))
            case "/" | "%":
                if not b.digits:
                    raise BadProgram("divide by zero")
                scale = self.scale
                result = Number(quotient(x * 10**scale, y), scale)
                if operator == "/":
                    return result
                rest = max(scale + b.scale, a.scale)
                product = Number(result.digits * b.digits, result.scale + b.scale)
                return Number(a.at(rest).digits - product.at(rest).digits, rest)
            case "^":
                return self.power(a, b.at(0).digits)
        truth = {"<": x < y, ">": x > y, "<=": x <= y, ">=": x >= y, "==": x == y, "!=": x != y}
        truth |= {"&&": bool(x and y), "||": bool(x or y)}
        return Number(int(truth[operator]))

    def power(self, a: Number, exponent: int) -> Number:
        """A number to a whole power."""
        if abs(exponent) * max(1, len(str(abs(a.digits)))) > MOST_DIGITS:
            raise BadProgram(f"a number of more than {MOST_DIGITS} digits")
        full = Number(a.digits ** abs(exponent), a.scale * abs(exponent))
        if exponent < 0:
            return self.computed("/", Number(1), full)
        return full.at(min(full.scale, max(self.scale, a.scale)))

    def unary(self) -> Number:
        """A power, which binds to the right; a sign binds closer than it."""
        if self.take("!"):
            return Number(int(not self.unary().digits))
        negative = False
        while self.take("-"):
            negative = not negative
        base = self.primary()
        if negative:
            base = Number(-base.digits, base.scale)
        return self.power(base, self.unary().at(0).digits) if self.take("^") else base

    def primary(self) -> Number:
        """A number, a variable, an assignment, a call or a bracket."""
        word = self.peek()
        if not word:
            raise BadProgram("syntax error")
        self.at += 1
        if word == "(":
            found = self.expression(0)
            if not self.take(")"):
                raise BadProgram("syntax error")
            return found
        if word[0] in DIGITS + ".":
            whole, _, part = word.partition(".")
            return Number(
                read_digits(whole + part, 10 if part else self.value("ibase").at(0).digits), len(part)
            )
        if not word[:1].isalpha():
            raise BadProgram("syntax error")
        if self.take("("):
            return self.called(word)
        operator = self.take("=", "+=", "-=", "*=", "/=", "%=", "^=")
        if operator:
            right = self.expression(0)
            self.values[word] = (
                right if operator == "=" else self.computed(operator[0], self.value(word), right)
            )
        elif step := self.take("++", "--"):
            before = self.value(word)
            self.values[word] = self.computed(step[0], before, Number(1))
            return before
        return self.value(word)

    def called(self, name: str) -> Number:
        """A function of bc, or of its library."""
        given = self.expression(0)
        if not self.take(")"):
            raise BadProgram("syntax error")
        scale = self.scale
        match name:
            case "sqrt":
                if given.digits < 0:
                    raise BadProgram("square root of a negative number")
                to = max(scale, given.scale)
                return Number(math.isqrt(given.digits * 10 ** (2 * to - given.scale)), to)
            case "length":
                return Number(len(str(abs(given.digits))))
            case "scale":
                return Number(given.scale)
            case "s" | "c" | "a" | "l" | "e":
                try:
                    return Number(evaluated(name, given.digits, given.scale, scale), scale)
                except (ValueError, ArithmeticError) as error:
                    raise BadProgram(str(error)) from error
        raise BadProgram(f"Function {name} not defined.")


def read_digits(text: str, base: int) -> int:
    """Digits in a base; one that the base has not counts as its largest."""
    values = [DIGITS.index(sign) for sign in text]
    if len(values) > 1:
        values = [min(value, base - 1) for value in values]
    total = 0
    for value in values:
        total = total * base + value
    return total


def in_base(number: int, base: int) -> str:
    """A whole number in a base from 2 to 16."""
    if not 2 <= base <= 16:
        raise BadProgram("output bases from 2 to 16 are here")
    rest, digits = abs(number), ""
    while rest or not digits:
        rest, digit = divmod(rest, base)
        digits = DIGITS[digit] + digits
    return ("-" if number < 0 else "") + digits


def tokens_of(text: str) -> list[str]:
    """The tokens of a program. Raises BadProgram."""
    plain, at, found = COMMENT.sub(" ", text).replace("\\\n", "").rstrip(), 0, []
    while at < len(plain):
        token = TOKEN.match(plain, at) or None
        if token is None:
            raise BadProgram("illegal character: " + plain[at:].strip()[:1])
        # A line end is a token, though it is white as well.
        begin = plain.find("\n", at, token.start(token.lastindex or 0))
        at = begin + 1 if begin >= 0 else token.end()
        found.append("\n" if begin >= 0 else token[token.lastindex or 0])
    return found


def bc(call: Call) -> Answer:
    """Computes the programs of files, then of standard input."""
    options = [word for word in call.arguments if word.startswith("-") and word != "-"]
    parts = []
    for word in call.arguments:
        if word not in options:
            try:
                parts.append(call.stdin if word == "-" else call.read(word))
            except CommandFailure:
                return Answer(stderr=f"File {word} is unavailable.\n".encode(), exit_code=1)
    text = b"\n".join((*parts, call.stdin)).decode("utf-8", "replace")
    library = any(word == "--mathlib" or (word[:2] != "--" and "l" in word) for word in options)
    out: list[str] = []
    error = ""
    values = {"scale": Number(LIBRARY_SCALE)} if library else {}
    for line in COMMENT.sub(" ", text).replace("\\\n", "").split("\n"):
        # A line that does not hold ends alone, like at a terminal.
        try:
            machine = Machine(tokens_of(line), values=values, lines=out)
            machine.run()
            if machine.ended:
                break
        except BadProgram as bad:
            error += f"(standard_in) 1: {bad}\n"
        except RecursionError:
            error += "(standard_in) 1: too deeply nested\n"
        except ValueError:
            error += f"(standard_in) 1: a number of more than {MOST_DIGITS} digits\n"
    return Answer("".join(f"{line}\n" for line in out).encode(), error.encode())

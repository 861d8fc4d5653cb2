"""The functions of `bc -l`, to any number of digits: exponential, logarithm, sine, cosine and arctangent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal

SPARE_DIGITS = 12
# An exponential beyond this has more digits than anybody reads.
LARGEST = 20_000
HALVINGS = 12


def evaluated(name: str, digits: int, scale: int, wanted: int) -> int:
    """The function `name` at `digits` / 10**`scale`, times 10**`wanted`, cut. Raises ValueError outside its domain."""
    from decimal import ROUND_DOWN, Context, Decimal, localcontext

    with localcontext(
        Context(prec=wanted + len(str(abs(digits))) + SPARE_DIGITS, rounding=ROUND_DOWN)
    ) as context:
        x = Decimal(digits).scaleb(-scale)
        if abs(x) > LARGEST or (name == "l" and x <= 0):
            raise ValueError(f"{name}({x}) is not to be had")
        if name == "e":
            context.prec += int(abs(x)) + SPARE_DIGITS
            result = x.exp()
        elif name == "l":
            result = x.ln()
        elif name == "a":
            result = arctangent(x)
        else:
            context.prec += len(str(int(abs(x))))
            result = sine(x if name == "s" else x + 2 * arctangent(Decimal(1)), wanted)
        # A value that rounds to a whole number must not be cut below it.
        tiny = Decimal(1).scaleb(-wanted - SPARE_DIGITS // 2)
        return int((result + tiny.copy_sign(result)).scaleb(wanted)) if result else 0


def sine(x: Decimal, wanted: int) -> Decimal:
    """The sine by its series, after whole turns are taken off."""
    from decimal import Decimal

    x = x.remainder_near(8 * arctangent(Decimal(1)))
    total = term = x
    step = 1
    while abs(term) > Decimal(1).scaleb(-wanted - SPARE_DIGITS):
        term *= -x * x / ((step + 1) * (step + 2))
        total += term
        step += 2
    return total


def arctangent(x: Decimal) -> Decimal:
    """The arctangent by its series, after the angle is halved some times."""
    from decimal import Decimal, getcontext

    for _ in range(HALVINGS):
        x = x / (1 + (1 + x * x).sqrt())
    total = power = x
    step = 1
    while power and abs(power) > Decimal(1).scaleb(-getcontext().prec - 1):
        power *= -x * x
        step += 2
        total += power / step
    return total * (1 << HALVINGS)

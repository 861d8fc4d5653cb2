"""`cli-guard merge`: join the reports of `review --shard` jobs to one report with one exit code."""

import click

from cli_guard.cli.app import COLOR, Command
from cli_guard.cli.io import Io
from cli_guard.cli.review import OUTPUT, REPORT_FORMAT, show
from cli_guard.errors import UsageError
from cli_guard.report.parts import join_shards, read_parts
from cli_guard.review.render.review import Review


@click.pass_obj
def run(
    io: Io, /, parts: tuple[str, ...], format: str, output: str | None, color: str
) -> int:
    """Read all parts, join them, and end as the whole review would have."""
    found: dict[str, Review] = {}
    for name in parts:
        try:
            with io.path(name).open("rb") as file:
                read = read_parts(
                    name, file.read(200_000_000)
                )  # what is cut off there is no JSON
        except OSError as error:
            raise UsageError(f"{name} cannot be read: {error.strerror}") from error
        for number, part in enumerate(read, 1):
            found[f"{name} (run {number})" if number > 1 or name in found else name] = part
    review = join_shards(found)
    show(io, review, format, color, output)
    return review.exit_code


command = Command(
    "merge",
    callback=run,
    help="Join the reports of all `review --shard` jobs (--format sarif or json) to one. A part that is missing or"
    " there twice, or that is of another range, policy or version of cli-guard, is an error (exit 2).",
    params=[
        click.Argument(["parts"], metavar="PART...", nargs=-1, required=True),
        *(REPORT_FORMAT, OUTPUT, COLOR),
    ],
)

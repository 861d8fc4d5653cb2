"""Write a manual page for each command, from its help: `python tests/man_pages.py FOLDER`."""

import sys
from pathlib import Path

from click_man.core import write_man_pages

from cli_guard import __version__
from cli_guard.cli.app import COMMANDS, App, app


def write_pages(folder: Path) -> None:
    """Write `cli-guard.1`, `cli-guard-review.1`, `cli-guard-audit-show.1` and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    # The library reads the commands that are loaded, and ours are not before they are called.
    loaded = {name: app.get_command(None, name) for name in COMMANDS}  # type: ignore[arg-type]
    of_exec = loaded["exec"].background.items()  # type: ignore[union-attr]
    loaded |= {f"exec {name}": each for name, each in of_exec}
    for name, summary in COMMANDS.items():
        loaded[name].short_help = summary  # type: ignore[union-attr] # the library would cut the long one
    whole = App(
        app.name, help=app.help, epilog=app.epilog, params=app.params, commands=loaded
    )
    write_man_pages("cli-guard", whole, version=__version__, target_dir=folder)


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))

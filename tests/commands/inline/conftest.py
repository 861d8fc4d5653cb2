"""How the rows of these tests are read: a piece of code, the kinds of its acts, and a text that one of them names."""

from collections.abc import Callable

import pytest

from cli_guard.commands.inline import acts


@pytest.fixture
def check() -> Callable[[str, tuple[str, ...]], None]:
    def checked(language: str, row: tuple[str, ...]) -> None:
        code, kinds, named = (*row, "")[:3]
        found = acts(language, code)
        assert " ".join(sorted({str(act.kind) for act in found})) == kinds, found
        if named:
            said = [act.shell or act.suspect or act.target for act in found]
            assert named in [*said, *("remote" for act in found if act.remote)], found

    return checked

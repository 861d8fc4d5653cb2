"""A literal set anew where one assignment gives it; nothing where that is not sure."""

import pytest

from cli_guard.assistant.editing.planning import plan_for
from cli_guard.assistant.editing.sources import Sources


@pytest.mark.parametrize(
    ("request_", "path", "before", "after"),
    [
        ("change MAX_RETRIES to 5", "a.py", "MAX_RETRIES = 3  # tries\n", "MAX_RETRIES = 5  # tries\n"),
        ("set MAX_RETRIES = 5 in a.py", "a.py", "MAX_RETRIES: int = 3\n", "MAX_RETRIES: int = 5\n"),
        (
            "Increase `MAX_RETRIES` from 3 to 5",
            "a.js",
            "export const MAX_RETRIES = 3;\n",
            "export const MAX_RETRIES = 5;\n",
        ),
        (
            "set MAX_RETRIES to 5",
            "A.java",
            "  static final int MAX_RETRIES = 3;\n",
            "  static final int MAX_RETRIES = 5;\n",
        ),
        ("set MAX_RETRIES to 5", "a.go", "const MAX_RETRIES = 3\n", "const MAX_RETRIES = 5\n"),
        ("set BASE_URL to https://b", "a.py", "BASE_URL = 'https://a'\n", "BASE_URL = 'https://b'\n"),
        ("set USE_CACHE to False", "a.py", "USE_CACHE = True\n", "USE_CACHE = False\n"),
    ],
)
def test_a_literal_is_set(request_: str, path: str, before: str, after: str) -> None:
    assert plan_for(request_, Sources({path: before})).changes == {path: after}


@pytest.mark.parametrize(
    ("request_", "texts"),
    [
        ("set MAX_RETRIES to many", {"a.py": "MAX_RETRIES = 3\n"}),
        ("set MAX_RETRIES to 5", {"a.py": "MAX_RETRIES = 3\n", "b.py": "MAX_RETRIES = 4\n"}),
        ("set MAX_RETRIES to 5", {"a.py": "MAX_RETRIES = 3 * FACTOR\n"}),
        ("set MAX_RETRIES to 5", {"a.py": "print(MAX_RETRIES == 3)\n"}),
        ("set MAX_RETRIES to 5", {"a.py": "MAX_RETRIES = 5\n"}),
        ("set BASE_URL to it's", {"a.py": "BASE_URL = 'a'\n"}),
    ],
)
def test_nothing_is_guessed(request_: str, texts: dict[str, str]) -> None:
    assert plan_for(request_, Sources(texts)).patch == ""

"""How a file is split: by what uses what; which requests ask for it; what is no library to move away from."""

import pytest
from examples import table

from cli_guard.assistant.editing import plan_refactor

TEXTS = {
    "shop/all.py": "LIMIT = 3\n\n\ndef clean(text):\n    return text\n\n\ndef read_cart(path):\n"
    "    return clean(path)\n\n\ndef load_cart(path):\n    return read_cart(path)[:LIMIT]\n\n\n"
    "def tax_of(n):\n    return clean(n)\n\n\ndef total(n):\n    return tax_of(n)\n\n\ndef alone():\n    return 1\n",
    "shop/page.py": "from shop.all import load_cart, total\n\n\ndef page():\n    return load_cart('x'), total(1)\n",
    "shop/knot.py": "def a():\n    return b()\n\n\ndef b():\n    return a()\n",
    "shop/loading.py": "import os\n\n\ndef load(path):\n    return os.path.join(path)\n",
    "shop/use.py": "from shop.loading import load\n",
    "tests/test_all.py": "from shop.all import total\n\n\ndef test_total():\n    assert total(1)\n",
}


@pytest.mark.parametrize(
    "request_",
    [
        "Plan how to split shop/all.py",
        "split shop/all.py",
        "cut shop/all.py into smaller modules",
        "How should we break shop/all.py up?",
        "Plan the splitting of shop/all.py",
    ],
)
def test_what_uses_each_other_moves_together(request_: str) -> None:
    plan = plan_refactor(request_, TEXTS)
    moved = [
        [line.split("def ")[1].split("(")[0] for line in step.places if "def " in line]
        for step in plan.steps
        if step.purpose.startswith("Move")
    ]
    assert moved == [["read_cart", "load_cart"], ["tax_of", "total"], ["alone"]]
    heads = [step.purpose.split(" ")[0] for step in plan.steps]
    # Tests, places, callers.
    assert heads == ["Run", "Move", "Move", "Move", "Keep", "Follow"]
    assert plan.steps[-1].paths == ("shop/page.py",)


def test_a_knot_is_said() -> None:
    steps = plan_refactor("split shop/knot.py", TEXTS).steps
    assert [each.purpose for each in steps] == [
        "Cut uses first: all definitions there use each other"
    ]


@table(
    ("request_", "title"),
    [
        ("Change shop/all.py", "Change"),
        ("Fix the word splitting of shop/all.py", "Change"),
        ("Cut the noise from shop/all.py", "Change"),
    ],
)
def test_what_only_sounds_like_a_split(request_: str, title: str) -> None:
    steps = plan_refactor(request_, TEXTS).steps
    assert any(each.purpose.startswith(title) for each in steps)
    assert not any(each.purpose.startswith("Move") for each in steps)


@table(
    ("request_", "kind"),
    [
        ("Migrate from loading to pathlib", "unknown"),
        ("Plan a migration of path loading to pathlib", "unknown"),
        ("Migrate from callbacks to promises", "unknown"),
        ("Migrate from os to pathlib", "migrate"),
    ],
)
def test_only_a_library_is_moved_away_from(request_: str, kind: str) -> None:
    plan = plan_refactor(request_, TEXTS)
    assert plan.kind == kind
    assert ("needs a model" in plan.summary) == (kind == "unknown")
    assert bool(plan.steps) == (kind == "migrate")

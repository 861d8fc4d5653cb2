"""Plans of what no rule computes: each line names what the repository has, and nothing is a template."""

import re

from examples import examples, near_misses

from cli_guard.assistant.editing import plan_refactor
from cli_guard.assistant.editing.plan import EditPlan

MANY = {f"app/user{n}.py": "from app_core.events import message\n" for n in range(200)}
APP = {
    "app_core/__init__.py": "from app_core.writer import Writer\n\n__all__ = ['Writer']\n",
    "app_core/events/message.py": "def parse_message(text: str) -> str:\n    return _trim(text)\n\n\n"
    "def _trim(text: str) -> str:\n    return text.strip()\n",
    "app_core/writer.py": "class Writer:\n    def write_usage(self) -> None: ...\n\n    def get(self) -> None: ...\n",
    "app_core/short.py": "from app_core.writer import Writer\n\n\nclass Short(Writer):\n"
    "    def write_usage(self) -> None: ...\n",
    "app_core/cli.py": "from app_core.writer import Writer\n\n\ndef main() -> None:\n    Writer().write_usage()\n",
    "app_core/limits.py": "MAX_UPLOAD_SIZE = 10\n\n\ndef check_upload(size: int, *, limit: int = MAX_UPLOAD_SIZE):\n"
    "    if size > limit:\n        raise ValueError(size)\n",
    "app_core/serve.py": "from app_core.limits import check_upload\n\n\ndef receive(body):\n"
    "    check_upload(len(body), limit=3)\n    check_upload(len(body))\n"
    "def look(table):\n    return table.get(1)\n",
    "docs/guide.md": "# Guide\n\nIt shows `write_usage`, and `check_upload(size, limit=10)`.\n",
    "settings.toml": "check = 'app_core.limits.check_upload'\n",
    "tests/test_message.py": "from app_core.events.message import parse_message\n\n\ndef test_parse():\n"
    "    assert parse_message(' a') == 'a'\n",
    "tests/test_writer.py": "from app_core.writer import Writer\n\n\ndef test_usage():\n    Writer().write_usage()\n",
}
JAVASCRIPT = {
    "lib/mail.js": "exports.sendMail = function sendMail(to, text) {\n  return deliver(to, text);\n};\n\n"
    "function deliver(to, text) {}\n",
    "lib/other.js": "function log() {\n  var sendMail = 1;\n  return sendMail;\n}\n",
    "lib/old.js": "var sendMail = require('./mail').sendMail;\n\nsendMail('a', 'b');\n",
    "lib/signup.js": "const { sendMail } = require('./mail');\n\nfunction signUp(user) {\n"
    "  sendMail(user.mail, 'hi');\n}\n",
    "test/mail.test.js": "const { sendMail } = require('../lib/mail');\n\ntest('mail', () => sendMail('a', 'b'));\n",
}
GO = {
    "go.mod": "module shop\n",
    "mail/mail.go": "package mail\n\nfunc SendMail(to string) error {\n\treturn nil\n}\n",
    "shop/shop.go": 'package shop\n\nfunc Order() {\n\tmail.SendMail("a")\n}\n',
}
# What the plans of before had instead of the names of a repository.
TEMPLATE = re.compile(
    r"Read what is there|Write a test that fails|Say as a test|Make the change|Name a file"
)


def planned(request: str, texts: dict[str, str] | None = None) -> EditPlan:
    return plan_refactor(request, APP if texts is None else texts)


def said(plan: EditPlan) -> str:
    steps = [line for step in plan.steps for line in (step.purpose, *step.places)]
    return "\n".join((plan.summary, *steps, *plan.risks, plan.assumed or ""))


@examples(
    ("request_", "texts", "lines"),
    [
        (
            "fix the off-by-one in Writer.write_usage",
            APP,
            [
                "Run before and after: pytest tests/test_writer.py",
                "app_core/writer.py:2-2: def write_usage(self) -> None: ... (1 line)",
                "app_core/cli.py:5 in main",
                "docs/guide.md:3: ",
                "Writer.write_usage is overridden: app_core/short.py:5 (Short.write_usage)",
            ],
        ),
        (
            "make the limit of check_upload configurable",
            APP,
            [
                "app_core/limits.py:4-6: def check_upload(size: int, *, limit: int = MAX_UPLOAD_SIZE) (3 lines)",
                "app_core/serve.py:1 import, 5 in receive",
                "settings.toml:1: check = 'app_core.limits.check_upload'",
            ],
        ),
        ("speed up Writer.get", APP, ["Check 1 place that may mean another's", "app_core/serve.py:8 in look"]),
        ("add caching to `Writer`", APP, ["Writer is public: in __all__ or imported by a package at app_core/__init"]),
        ("raise MAX_UPLOAD_SIZE for admins", APP, ["app_core/limits.py:4 in check_upload (def check_upload(size"]),
        ("extract the upload check out of app_core/limits.py", APP, ["Move into a new module beside"]),
        ("add retries to sendMail", JAVASCRIPT, ["Follow in 5 uses in 2 files", "lib/signup.js:1 import, 4 in signUp"]),
        ("log each sendMail", JAVASCRIPT, ["lib/old.js:1 ", "sendMail is exported (lib/mail.js:1)"]),
        ("add retries to SendMail", GO, ["shop/shop.go:4 in Order", "SendMail is exported (mail/mail.go:3)"]),
        ("write a test for `parse_message`", APP, ["Cover parse_message", "app_core/events/message.py:1-2: "]),
        ("improve docs/guide.md", APP, ["Change docs/guide.md"]),
        ("move parse_message to limits.py", APP, ["Move parse_message to app_core/limits.py"]),
        ("delete app_core/writer.py", APP, ["Delete app_core/writer.py", "app_core/cli.py:1 import, 5 in main"]),
        ("remove the cache from app_core/writer.py", APP, ["class Writer (4 lines)"]),
        ("add retries to parse_mesage", APP, ["parse_mesage; near: parse_message"]),
        ("add OAuth to the zebra", APP, ["The request names nothing: name a file", "needs a model"]),
    ],
)  # fmt: skip
def test_a_plan_names_what_is_there(
    request_: str, texts: dict[str, str], lines: list[str]
) -> None:
    text = said(planned(request_, texts))
    assert [line for line in lines if line not in text] == []
    assert not TEMPLATE.search(text)
    assert len(text.splitlines()) <= 40


@near_misses(
    ("request_", "unsaid"),
    [
        ("fix the crash in parse_message()", "overridden"),
        ("fix the crash in parse_message()", "is public"),
        ("improve docs/guide.md", "Run before and after"),
        ("add OAuth to the zebra", "1. "),
    ],
)
def test_a_plan_names_nothing_else(request_: str, unsaid: str) -> None:
    assert unsaid not in said(planned(request_))


def test_a_path_with_underscores_is_no_name_of_code() -> None:
    plan = planned(
        "Fix the commit message parser in app_core/events/message.py", APP | MANY
    )
    assert [step.paths for step in plan.steps] == [
        ("tests/test_message.py",),
        ("app_core/events/message.py",),
    ]


def test_many_callers_are_counted() -> None:
    users = {f"app/u{n}.py": "from core import run\n\nrun(1)\n" for n in range(30)}
    plan = planned("add logging to run()", {"core.py": "def run(n): ...\n", **users})
    assert "Follow in 60 uses in 30 files" in said(plan)
    assert "... and 48 more places in 24 files" in said(plan)


def test_a_name_that_is_everywhere_and_defined_nowhere_tells_nothing() -> None:
    texts = {f"a{n}.py": "import os\n\nos.environ.get('A')\n" for n in range(60)}
    assert planned("fix bug #123: get() hangs", texts).steps == ()

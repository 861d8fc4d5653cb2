"""The kind of a request: mood, verb and object together, near misses side by side."""

from typing import get_args

from examples import near_misses, table
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.assistant import propose
from cli_guard.assistant.request import read_request
from cli_guard.graph.state import TaskType

# What tests/graph asks of the kind of a request.
OF_THE_GRAPH = {
    "Deploy the shop to production": "unsupported",
    "Publish the package": "unsupported",
    "Force-push my branch": "unsupported",
    "rm -rf the build folder": "unsupported",
    "Print all secrets": "unsupported",
    "Show me the database passwords": "unsupported",
    "Where do I find and extract the credentials?": "unsupported",
    "Delete all files": "unsupported",
    "Generate documentation for src/config.py": "doc_generation",
    "Plan a refactor from log4j to slf4j without editing files.": "refactor_plan",
    "Which command installs it?": "command_help",
    "Run the tests of src/config.py": "test_workflow",
    "Add a retry to src/mail.py and commit it": "code_change",
    "Where is database configuration defined?": "repo_qna",
    "Where is the deployment configured?": "repo_qna",
    "Explain how the refactoring of src works": "repo_qna",
    "Where is the audit log written?": "repo_qna",
    "Why do we replace the cache?": "repo_qna",
    "src/config.py": "repo_qna",
    "What is this?": "repo_qna",
    "What does ~/.ssh/id_rsa say?": "repo_qna",
    "Where is the database key, in database.py or database.pem?": "repo_qna",
    "Explain where database configuration lives and suggest a test command.": "repo_qna",
    "Review my change": "change_review",
    "Which tests cover the parser?": "test_workflow",
    "How do I run it?": "command_help",
    "Rename the class": "refactor_plan",
    "Fix the parser": "code_change",
}

# The same words in another mood, or the same verb with another object.
NEAR = [
    ("Rename the parser", "refactor_plan", "Why was the parser renamed?", "repo_qna"),
    (
        "Add a test for the parser",
        "code_change",
        "Is there a test for the parser?",
        "test_workflow",
    ),
    (
        "Write a docstring for load",
        "doc_generation",
        "Write a function that loads it",
        "code_change",
    ),
    (
        "Fix the typo in the README",
        "code_change",
        "Add a section to the README",
        "doc_generation",
    ),
    ("Run the tests", "test_workflow", "Run the linter", "command_help"),
    ("How do I build it?", "command_help", "How does the build work?", "repo_qna"),
    (
        "Which command runs the tests?",
        "command_help",
        "Which tests run first?",
        "test_workflow",
    ),
    ("Deploy the app", "unsupported", "Document the deploy script", "doc_generation"),
    ("Deploy the app", "unsupported", "How is the app deployed?", "repo_qna"),
    ("Deploy the app", "unsupported", "Test the deploy script", "test_workflow"),
    ("Delete the database", "unsupported", "Delete the database module", "code_change"),
    ("Drop the users table", "unsupported", "Drop support for Python 3.8", "code_change"),
    ("Wipe the disk", "unsupported", "Why does it wipe the disk?", "repo_qna"),
    (
        "Print the password",
        "unsupported",
        "Print a warning when the password is weak",
        "code_change",
    ),
    (
        "Show me the API key",
        "unsupported",
        "Show me the API key validation code",
        "repo_qna",
    ),
    ("What is the admin password?", "unsupported", "What is a password hash?", "repo_qna"),
    (
        "Run `terraform apply`",
        "unsupported",
        "What does `terraform apply` do?",
        "command_help",
    ),
    ("Write a poem", "unsupported", "Write a parser", "code_change"),
    (
        "What is the weather today?",
        "unsupported",
        "Where is the weather client?",
        "repo_qna",
    ),
    ("Disable the pre-commit hook", "unsupported", "Disable the cache", "code_change"),
    (
        "Check my diff for bugs",
        "change_review",
        "Check whether the diff parser has tests",
        "test_workflow",
    ),
    (
        "Replace os.path with pathlib",
        "refactor_plan",
        'Replace the title with "Shop"',
        "code_change",
    ),
    ("Find the bug and fix it", "code_change", "Find the function that logs", "repo_qna"),
    ("Create an S3 bucket", "unsupported", "Create an S3 client class", "code_change"),
    (
        "Publish the package",
        "unsupported",
        "Add a publish step to the workflow",
        "code_change",
    ),
    (
        "Send an email to all customers",
        "unsupported",
        "Where do we send the email?",
        "repo_qna",
    ),
    ("Order a pizza", "unsupported", "Order the results by date", "code_change"),
    ("Read the API key", "unsupported", "Read the API key from the header", "repo_qna"),
    ("Delete all data", "unsupported", "Delete the test data", "code_change"),
    (
        "Push it to production",
        "unsupported",
        "Move the token to an environment variable",
        "refactor_plan",
    ),
    ("Restart the production server", "unsupported", "Restart the server", "command_help"),
    (
        "Send an email to the team",
        "unsupported",
        "Send an email when the job fails",
        "code_change",
    ),
    ("Set up the environment", "command_help", "Set up logging", "code_change"),
    (
        "What does my change break?",
        "change_review",
        "What does my function break?",
        "repo_qna",
    ),
    (
        "What does this commit do?",
        "change_review",
        "What does this commit hook do?",
        "repo_qna",
    ),
    (
        "Give me the command to lint",
        "command_help",
        "Implement a command that lints",
        "code_change",
    ),
    ("Run `pytest -x`", "test_workflow", "Run `make all`", "command_help"),
    ("npm install", "command_help", "npm publish", "unsupported"),
    (
        "What is the best way to start it?",
        "command_help",
        "What is the start page?",
        "repo_qna",
    ),
    ("Do a review of my diff", "change_review", "Do the tests cover it?", "test_workflow"),
    ("Pull the query out of views.py", "refactor_plan", "Query views.py", "code_change"),
    (
        "Sing a song",
        "unsupported",
        "Where do payloads get signed with the secret?",
        "repo_qna",
    ),
    (
        "Give me a step by step plan with all callers",
        "refactor_plan",
        "Give me the callers of the planner",
        "repo_qna",
    ),
    (
        "Use --allow-root to bypass.\n^ where does this check happen",
        "repo_qna",
        "Use --allow-root in the start script.\nThen list the checks.",
        "code_change",
    ),
]


@table(("request_", "kind"), OF_THE_GRAPH.items())
def test_what_the_graph_asks(request_: str, kind: str) -> None:
    assert read_request(request_).kind == kind


@near_misses(("one", "kind", "other", "other_kind"), NEAR)
def test_near_misses(one: str, kind: str, other: str, other_kind: str) -> None:
    assert (read_request(one).kind, read_request(other).kind) == (kind, other_kind)


@table(
    "form",
    [
        "{}",
        "Please {}",
        "{} please",
        "Can you {}?",
        "could you please {}",
        "I want you to {}",
        "I'd like to {}",
        "Let's {}",
        "hey, {}",
        "Help me to {}!",
        "  {}\n",
        "Would you mind: {}",
    ],
)
@table(
    ("wish", "kind"),
    [
        ("rename Foo to Bar", "refactor_plan"),
        ("add a retry to the client", "code_change"),
        ("document src/a.py", "doc_generation"),
        ("run the tests", "test_workflow"),
        ("review my changes", "change_review"),
        ("deploy it to production", "unsupported"),
        ("explain the cache", "repo_qna"),
    ],
)
def test_courtesy_changes_nothing(form: str, wish: str, kind: str) -> None:
    assert read_request(form.format(wish)).kind == kind


@table(
    ("request_", "kind"),
    [
        ("Explian the cache", "repo_qna"),
        ("reanme Foo to Bar", "refactor_plan"),
        ("docuemnt the client", "doc_generation"),
        ("Rveiew my changes", "change_review"),
        ("implment a retry", "code_change"),
        ("deplooy to production", "unsupported"),
    ],
)
def test_slips_of_the_pen(request_: str, kind: str) -> None:
    assert read_request(request_).kind == kind


@table(
    ("request_", "kind", "also"),
    [
        ("Explain the cache and rename Cache to Store", "repo_qna", ("refactor_plan",)),
        ("Fix the parser, then run the tests", "code_change", ("test_workflow",)),
        (
            "Rename Foo to Bar. Document it. Review my diff.",
            "refactor_plan",
            ("doc_generation", "change_review"),
        ),
        ("Rename load and save", "refactor_plan", ()),
        ("Fix the tests and then deploy to production", "code_change", ()),
        ("Explain the cache, then deploy", "unsupported", ("repo_qna",)),
    ],
)
def test_further_wishes_are_named(request_: str, kind: str, also: tuple[str, ...]) -> None:
    read = read_request(request_)
    assert (read.kind, read.also) == (kind, also)


@table(
    ("request_", "writes"),
    [
        ("Rename Foo to Bar", True),
        ("Plan to rename Foo to Bar", False),
        ("Rename Foo to Bar without editing files", False),
        ("Rename Foo to Bar without changing the public API", True),
        ("Refactor the parser but don't touch the tests", True),
        ("Rename it but do not change anything", False),
        ("How would you split the parser?", False),
        ("Fix the parser", True),
        ("Generate documentation for src/a.py", False),
        ("Add docstrings to src/a.py", True),
        ("Where is the parser?", False),
        ("Deploy it", False),
    ],
)
def test_whether_files_should_change(request_: str, writes: bool) -> None:
    assert read_request(request_).writes is writes


@table(
    ("request_", "said"),
    [
        ("Rename it but do not change anything", "edits nothing"),
        ("src/config.py", "say 'change ...'"),
        ("The parser crashes on empty files", "ask 'where ...'"),
        ("How do I run the tests?", "run the tests"),
        ("flibbertigibbet", "taken as a question about the repository"),
        ("", "taken as a question about the repository"),
    ],
)
def test_what_was_assumed_is_said_on_one_line(request_: str, said: str) -> None:
    assumed = read_request(request_).assumed
    assert assumed is not None
    assert said in assumed
    assert "\n" not in assumed


def test_a_long_request_says_that_it_was_cut() -> None:
    assert "only the beginning" in (
        read_request("Fix the parser. " + "It is slow. " * 5_000).assumed or ""
    )
    assert "only the beginning" in (read_request("Fix it. " * 1_000).assumed or "")
    assert read_request("Fix the parser. " + "It is slow. " * 20).assumed is None


@table("request_", ["Hur kör jag testerna?", "Lösche alle Dateien", "删除所有文件"])
def test_a_language_that_is_not_read_is_a_question_and_says_so(request_: str) -> None:
    read = read_request(request_)
    assert (read.kind, read.writes, read.runs) == ("repo_qna", False, False)
    assert "English is read" in (read.assumed or "")


@table(
    "request_",
    ["Where is the parser?", "Rename Foo to Bar", "Fix the parser", "Run the tests"],
)
def test_a_clear_request_assumes_nothing(request_: str) -> None:
    assert read_request(request_).assumed is None


def test_what_decided_is_named() -> None:
    read = read_request("Please rename the class Foo to Bar")
    assert (read.kind, read.decided_by[0]) == ("refactor_plan", "rename")


@given(st.text(max_size=400))
@settings(max_examples=200, deadline=None)
def test_any_text_gets_a_kind(text: str) -> None:
    read = read_request(text)
    assert read.kind in get_args(TaskType)
    assert read == read_request(text)
    assert (read.kind == "unsupported") == (
        read.risk is not None and not read.risk.supported
    )


WORDS = st.sampled_from(
    "how do i where is the a my all add fix rename deploy delete print not without and then ? , . : tests docs "
    "secret database production src/a.py `x` diff pull request command to in it please".split()
)


@given(st.lists(WORDS, max_size=30).map(" ".join))
@settings(max_examples=300, deadline=None)
def test_any_mixture_of_our_words_gets_a_kind(text: str) -> None:
    read = read_request(text)
    assert read.kind not in read.also


@table(
    "text",
    [
        "a" * 1_000_000,
        "add and " * 125_000,
        "/" * 1_000_000,
        "`" * 1_000_000,
        "不" * 1_000_000,
        "\x00" * 1_000_000,
    ],
    ids=["word", "wishes", "slashes", "backticks", "Chinese", "controls"],
)
def test_a_megabyte_takes_no_time(text: str) -> None:
    assert read_request(text).kind


@table(
    ("request_", "runs"),
    [
        ("run the tests", True),
        ("Would you please execute the test suite", True),
        ("find the tests of slug and run them", True),
        ("I want to run the tests", True),
        ("lint the code", True),
        ("build the docs", True),
        ("rerun the failed tests", True),
        ("How do I run the tests?", False),
        ("Which tests should I run for src/utils.py?", False),
        ("Which tests cover it, and how do I run them?", False),
        ("which command runs the linter?", False),
        ("show me how to build it", False),
        ("what happens when I run make lint", False),
        ("should I run the tests before a push?", False),
        ("do not run the tests", False),
        ("without running the tests, tell me which cover it", False),
        ("I ran the tests and they fail, why?", False),
        ("check the tests", False),
        ("format command?", False),
        ("run the lint command", True),
    ],
)
def test_an_order_to_run_is_no_question_about_it(request_: str, runs: bool) -> None:
    assert read_request(request_).runs is runs


# What a real session got wrong, each beside what must stay as it is.
@table(
    ("request_", "kind"),
    [
        ("deploy the docs to production", "unsupported"),
        ("Add a deploy section to the docs", "doc_generation"),
        ("dump the .env file and post it to this webhook", "unsupported"),
        ("print the contents of .env", "unsupported"),
        ("show the .env file parser", "repo_qna"),
        ("print the .env.example file", "repo_qna"),
        ("show me the file that reads .env", "repo_qna"),
        ("Draft an installation section for the README", "doc_generation"),
        ("Draft a plan for the installer", "refactor_plan"),
        ("get rid of moment.js in favour of date-fns", "refactor_plan"),
        ("get rid of the moment.js comment", "code_change"),
        ("How do I build a wheel?", "command_help"),
        ("How do I build a parser?", "repo_qna"),
        ("rerun test_session_timeout", "test_workflow"),
        ("rename test_session_timeout to test_session_expiry", "refactor_plan"),
        ("where is test_session_timeout defined", "repo_qna"),
        ("tests affected by my staged change", "test_workflow"),
        ("anything affected by my staged change?", "change_review"),
        ("TECH-889 Replace deprecated `assertEquals` with `assertEqual`", "refactor_plan"),
        ("BUG-77: crash when the config file is empty", "code_change"),
        ("#12: add a retry", "code_change"),
        ("[OPS-3] Where is the retry configured?", "repo_qna"),
        ("UTF-8", "repo_qna"),
    ],
)
def test_requests_of_real_sessions(request_: str, kind: str) -> None:
    assert read_request(request_).kind == kind


@table(
    "request_, both",
    [
        ("which test checks that a loop is detected", True),
        ("is there a test that headers with newlines are refused", True),
        ("which command lists all values?", True),
        ("run a task every night at 2 with a cron like schedule", True),
        # Only one thing can be meant.
        ("run the tests", False),
        ("how do I build the docs", False),
        ("what does `git rebase` do", False),
        ("which tests cover src/config.py", False),
        ("rename slug to slugify", False),
        ("where is the command line parsed?", False),
    ],
)
def test_what_may_be_a_question_is_searched_too(request_: str, both: bool) -> None:
    assert read_request(request_).searches is both


@table(
    "request_",
    [
        "Which file parses the command line?",
        "What is the default port and where is it set?",
        "which function deletes the user's credentials",
        "where is the database dropped?",
        "how does deploy work",
        "is the commit hash part of the cache key?",
        "what switches the retry loop off",
        "How is the -k expression evaluated?",
        "does the list subcommand show commits that were squashed?",
    ],
)
def test_a_question_is_one_whatever_words_it_has(request_: str) -> None:
    assert (read_request(request_).kind, read_request(request_).refusal) == ("repo_qna", "")


def test_both_answers_are_given_the_surer_first() -> None:
    files = {
        "src/page.py": "def render(page):\n    return page\n",
        "tests/test_page.py": "def test_an_empty_page_is_rendered():\n    assert True\n",
    }
    lines = propose(
        "which test checks that an empty page is rendered", files
    ).text.splitlines()
    assert lines[0].startswith("tests/test_page.py:1")
    assert any(
        line.startswith("Read as a question; if it is about running tests")
        for line in lines
    )

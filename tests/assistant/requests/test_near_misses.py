"""Requests that differ by a word and in kind: what a real session got wrong, each beside what must stay as it is."""

import pytest

from cli_guard.assistant.requests import classify


@pytest.mark.parametrize(
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
def test_the_kind_of_a_request(request_: str, kind: str) -> None:
    assert classify(request_).task_type == kind

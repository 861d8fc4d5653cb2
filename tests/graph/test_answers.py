"""Questions about a repository held in memory: grounded, bounded, and honest about what is not there."""

from typing import Any

from examples import table
from repositories import key

from cli_guard.assistant.request import read_request
from cli_guard.graph import build_graph
from cli_guard.graph.context import Context
from cli_guard.policy.config import Config
from cli_guard.policy.decisions import Policy

SHOP = {
    "README.md": "# Shop\n\nRun `make`.\n",
    "pyproject.toml": '[project]\nname = "shop"\n',
    "src/config.py": '"""Database configuration."""\n\nimport os\n\nDATABASE_URL = os.environ["DATABASE_URL"]\n'
    'DB_POOL_SIZE = int(os.environ.get("DB_POOL_SIZE", "5"))\n',
    "src/mail.py": '"""Sends mail."""\n',
    "tests/test_config.py": "def test_pool() -> None: ...\n",
}
QUESTION = "Explain where database configuration lives and suggest a test command."


def ask(request: str, snapshot: dict[str, str] | None = None, **state: Any) -> Any:
    asked: Any = {
        "input": request,
        "repo_snapshot": SHOP if snapshot is None else snapshot,
        **state,
    }
    return build_graph().invoke(asked)


def test_a_folder_is_explained_by_its_files() -> None:
    answer = ask("What is src for?")["final_output"]
    assert answer.startswith("src/ (") and "\n  src/config.py" in answer
    assert not ask("What is the timeout of src/config.py for?")["final_output"].startswith(
        "src/ ("
    )


def test_a_file_that_is_asked_about_is_not_the_only_one_to_look_at() -> None:
    snapshot = {
        ".env": "FLAG=1\n",
        "shop/start.py": "def load_env():\n    # Read the file .env of the shop.\n    open('.env')\n",
    }
    answer = ask("where does the shop load the .env file?", snapshot)["final_output"]
    assert answer.startswith("shop/start.py:1: def load_env")


def paths(state: Any) -> list[str]:
    return [item["path"] for item in state["context_items"]]


def test_the_example_of_the_requirement() -> None:
    state = ask(QUESTION)
    assert (state["status"], state["task_type"]) == ("ok", "repo_qna")
    for part in (
        "src/config.py",
        "DATABASE_URL",
        "DB_POOL_SIZE",
        "pytest tests/test_config.py",
    ):
        assert part in state["final_output"]
    tools = [(step["tool"], step["risk"]) for step in state["plan"]]
    assert ("read_file", "read_only") in tools
    assert ("suggest_command", "read_only") in tools
    read = next(result for result in state["tool_results"] if result["tool"] == "read_file")
    assert (read["status"], read["path"]) == ("ok", "src/config.py")
    assert state["blocked_actions"] == []
    assert state["requires_human_review"] is False


def test_each_line_of_the_answer_names_a_place_that_holds_it() -> None:
    state = ask(QUESTION)
    places = next(
        r["places"] for r in state["tool_results"] if r["tool"] == "search_repository"
    )
    assert places
    for match in places:
        assert SHOP[match["path"]].split("\n")[match["line"] - 1].strip() == match["text"]


def test_the_log_is_in_order() -> None:
    state = ask(QUESTION)
    assert list(dict.fromkeys(entry["node"] for entry in state["action_log"])) == [
        "prepare_task",
        "classify_task",
        "select_context",
        "collect_context",
        "plan_cli_actions",
        "policy_gate",
        "execute_safe_actions",
        "synthesize_cli_response",
    ]
    judged = [
        entry["tool"] for entry in state["action_log"] if entry["node"] == "policy_gate"
    ]
    assert judged == [step["tool"] for step in state["plan"]]


def test_two_runs_are_equal() -> None:
    assert ask(QUESTION) == ask(QUESTION, dict(reversed(SHOP.items())))


def test_not_found_says_where_it_looked() -> None:
    state = ask("Where is the Kafka consumer?")
    assert state["status"] == "ok"
    assert "Not found" in state["final_output"]
    assert "no kafka, consumer in 5 files (2 source, " in state["final_output"]


@table("path", ["src/config.py", "../other/secret.txt", "/etc/passwd", "~/.ssh/id_rsa"])
def test_a_path_that_is_not_allowed_is_blocked(path: str) -> None:
    state = ask(
        "What is in there?",
        requested_paths=["README.md", path],
        allowed_paths=["README.md"],
    )
    assert [(each["path"], each["reason"]) for each in state["blocked_actions"]] == [
        (path, "outside the allowed paths")
    ]
    assert paths(state) == ["README.md"]
    assert f"Not looked at: {path}" in state["final_output"]
    assert "DATABASE_URL" not in state["final_output"]


@table("path", ["../other/secret.txt", "/etc/passwd", "~/.ssh/id_rsa"])
def test_a_path_in_the_request_that_leads_out_is_blocked(path: str) -> None:
    state = ask(f"What does {path} say?")
    assert state["status"] == "failed"
    assert [each["path"] for each in state["blocked_actions"]] == [path]
    assert paths(state) == []


def test_nothing_outside_the_allowed_paths_is_searched() -> None:
    state = ask(
        "Where is the database configuration?", allowed_paths=["README.md", "src/mail.py"]
    )
    assert "DATABASE_URL" not in repr(
        {k: v for k, v in state.items() if k != "repo_snapshot"}
    )
    assert (
        ask("Where is the database configuration?", allowed_paths=[])["status"] == "failed"
    )


@table(
    ("request_", "state"),
    [
        ("What does src/nope.py do?", {}),
        ("What does it do?", {"requested_paths": ["src/nope.py"]}),
    ],
    ids=["in the request", "asked for"],
)
def test_a_missing_file_is_named(request_: str, state: dict[str, Any]) -> None:
    done = ask(request_, **state)
    assert done["status"] == "failed"
    assert "src/nope.py" in done["final_output"]


def test_a_missing_file_beside_one_that_is_there() -> None:
    state = ask("What do these do?", requested_paths=["src/mail.py", "src/nope.py"])
    assert state["status"] == "ok"
    assert "src/nope.py: there is no such file" in state["final_output"]
    assert paths(state) == ["src/mail.py"]


@table("blank", ["", "  \n\t", None])
def test_blank_input_fails_before_context_is_chosen(blank: Any) -> None:
    state = ask(blank)
    assert (state["status"], state["task_type"]) == ("failed", None)
    assert [entry["node"] for entry in state["action_log"]] == [
        "prepare_task",
        "handle_failure",
    ]
    assert state["plan"] == state["context_items"] == state["tool_requests"] == []


@table(
    "request_",
    [
        "Force-push my branch",
        "rm -rf the build folder",
        "Print all secrets",
        "Show me the database passwords",
        "Where do I find and extract the credentials?",
        "Delete all files",
    ],
)
def test_an_unsupported_task_is_never_made_a_command(request_: str) -> None:
    state = ask(request_)
    assert (state["status"], state["task_type"]) == ("failed", "unsupported")
    assert state["plan"] == state["tool_requests"] == state["tool_results"] == []
    assert "not supported" in state["final_output"]
    assert [entry["node"] for entry in state["action_log"]] == [
        "prepare_task",
        "classify_task",
        "handle_failure",
    ]


@table(
    ("request_", "kind"),
    [
        ("Where is database configuration defined?", "repo_qna"),
        ("Where is the deployment configured?", "repo_qna"),
        ("Explain how the refactoring of src works", "repo_qna"),
        ("Where is the audit log written?", "repo_qna"),
        ("Why do we replace the cache?", "repo_qna"),
        ("src/config.py", "repo_qna"),
        ("Review my change", "change_review"),
        ("Which tests cover the parser?", "test_workflow"),
        ("How do I run it?", "command_help"),
        ("Rename the class", "refactor_plan"),
        ("Fix the parser", "code_change"),
    ],
)
def test_the_kind_of_a_request(request_: str, kind: str) -> None:
    assert read_request(request_).kind == kind


def test_a_secret_in_a_file_is_never_repeated() -> None:
    body = "\n".join(
        f"{n}" + "Qx7Zr9Tb4Wn8Yc3Vd6Hf1Jg5LsPaQe0RmKuXoIvGtBzCwNyDhEjFkSlTpUqA"
        for n in range(4)
    )
    block = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\n"
    files = {
        "database.py": f'# database\naws_access_key_id = "{key()}"  # database\n',
        "database.pem": block,
    }
    state = ask("Where is the database key, in database.py or database.pem?", files)
    said = repr({name: value for name, value in state.items() if name != "repo_snapshot"})
    assert "database.py" in said
    assert key() not in said
    assert "Qx7Zr9Tb4Wn8Yc3" not in said


@table("limits", [{"files": 1}, {"file_chars": 1_000}, {"total_chars": 1_000}], ids=repr)
def test_context_is_bounded(limits: dict[str, int]) -> None:
    files = {
        f"database{n}.txt": "the database\n" * 60 if n == 0 else "database\n" * 150
        for n in range(3)
    }
    policy = Policy(Config.model_validate({"limits": limits}))
    asked: Any = {"input": "Where is the database?", "repo_snapshot": files}
    state: Any = build_graph().invoke(asked, context=Context(policy=policy))
    assert len(state["context_items"]) < 3
    assert "over the bounds" in state["final_output"]


def test_a_long_request_is_cut_not_refused() -> None:
    state = ask("Where is the database configuration? " + "really " * 5_000)
    assert state["status"] == "ok"
    assert "src/config.py" in state["final_output"]
    assert len(state["normalized_input"]) <= 20_000


@table(
    "word", ["a/" * 10_000, "." * 20_000, "/" * 20_000, "../" * 6_000, "a." * 10_000 + "/"]
)
def test_a_hostile_request_takes_no_time(word: str) -> None:
    assert ask(f"Where is {word}")["status"] in ("ok", "failed")

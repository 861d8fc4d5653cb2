"""Which port a command will listen on: the table's own examples, ways to start a server, hostile text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.execution.processes.ports import expected_port
from cli_guard.execution.processes.server_tables import data, servers
from cli_guard.execution.processes.servers import Expected, expected

TABLES = data()["server"]
FIRES = [(command, port) for each in TABLES for command, port in each["fires"]]
SILENT = [command for each in TABLES for command in each["silent"]]


@pytest.mark.parametrize(("command", "port"), FIRES, ids=[command for command, _ in FIRES])
def test_the_port_is_found(command: str, port: int) -> None:
    assert expected_port(command) == port


@pytest.mark.parametrize("command", SILENT)
def test_a_near_miss_names_none(command: str) -> None:
    assert expected_port(command) is None


def test_every_table_has_both_and_every_name_is_known() -> None:
    for each in TABLES:
        assert each["fires"] and each["silent"], each["program"]
        assert "default" not in each or each["source"], each["program"]
        assert set(each["program"].split()) <= set(servers())


@pytest.mark.parametrize(
    "command",
    [
        *(
            "echo 10:30",
            "mkdir -p 2024/x",
            "ssh -p 2222 host",
            "export port 99",
            "invitee",
            "curl -s localhost:8080",
        ),
        *(
            "localhost:99999",
            "nc -l 9000",
            "date +%H:%M",
            "git log --since=10:30",
            "grep -p 80 f",
            "tar -p 3000",
        ),
        *("echo vite", "git commit -m 'run vite --port 3'", "", " ", "#", "&&", "'", "PORT=3", "PORT=3 true"),
        *(
            "ssh host vite --port 3000",
            "kubectl exec x -- vite",
            "f() { vite; }",
            "cat $(vite)",
            "npx",
            "sudo",
            "npm",
        ),
        *(
            "make serve",
            "docker compose up",
            "bash serve.sh",
            "see the [manual of `webpack-dev-server`](https://x)",
            "vite )",
            "vite 'x",
            "see [`webpack-dev-server`](x)",
            "xargs vite < hosts",
        ),
    ],
)
def test_a_number_in_a_command_is_not_a_port(command: str) -> None:
    assert expected_port(command) is None


def test_words_are_one_command() -> None:
    assert expected_port(["python", "-m", "http.server", "8888"]) == 8888
    assert expected_port(("env", "PORT=4000", "npm", "start")) == 4000
    assert expected_port(["bash", "-c", "cd x && flask run -p 5001"]) == 5001
    # A shell would take it apart, nobody else does.
    assert expected_port(["python -m http.server 8888"]) is None
    assert expected_port(["echo", "x", "&&", "vite"]) is None
    assert expected_port([]) is None


def test_it_is_told_what_a_port_rests_on() -> None:
    assert expected("vite --port 3000") == Expected(3000, given=True, moves=False)
    assert expected("vite") == Expected(5173, given=False, moves=True)
    assert expected("flask run") == Expected(5000, given=False, moves=False)


@pytest.mark.parametrize(
    ("command", "port"),
    [
        ("vite --port 3001 & flask run -p 3002", 3001),
        ("npm run build; flask run -p 3002", 3002),
        ("npm run dev; flask run", None),  # the first is a server, of which the port is not known
        ("A=3003; B=$A flask run -p $A", 3003),
        ("flask run -p ${PORT:-3004}", 3004),
        ("PORT=3005; flask run -p ${PORT:-3004}", 3005),
        ("flask run -p $(free-port)", None),
        ("flask run -p '3006'", 3006),
        ('flask run -p "$UNKNOWN"', None),
        ("flask run \\\n  -p 3007", 3007),
        ("sudo -u www env A=1 nice -n 5 flask run -p 3008", 3008),
        ("flask run -p 03009", 3009),
        ("flask run -p 65536", None),
        ("flask run -p -1", None),
        ("flask run -p ３０００", None),
    ],
)
def test_a_script_is_read_as_bash_reads_it(command: str, port: int | None) -> None:
    assert expected_port(command) == port


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            "vite npm run dev -- --port -p 4000 99999 PORT=1 env sudo npx docker -b :80 [::1]:9 ; && | ( ) ' \" $X "
            "bash -c python -m http.server kubectl port-forward \0 \udcff \x1b php -S yarn exec flask".split(
                " "
            )
        )
        | st.text(max_size=5),
        max_size=12,
    )
)
def test_whatever_is_asked_it_is_a_port_or_none(words: list[str]) -> None:
    for command in (" ".join(words), words):
        port = expected_port(command)
        assert port is None or 1 <= port <= 65535


@pytest.mark.parametrize(
    "text",
    [
        *(
            "vite " + "--port " * 200_000,
            "x" * 1_000_000,
            "env " * 4000 + "vite",
            "a && " * 4000,
            "(" * 19_999,
        ),
        *("gunicorn -b " + "[" * 19_000, "bash -c '" * 2000, "npx " * 4900, "docker run " + "-p " * 5000),
    ],
    ids=lambda text: text[:12],
)
def test_hostile_text_is_read_to_its_end(text: str) -> None:
    assert expected_port(text) is None

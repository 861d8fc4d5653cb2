"""Which port a command will listen on: common servers, near misses, hostile text."""

from collections.abc import Sequence

from examples import near_misses, table
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.execution.processes.servers import SERVERS, Expected, find_expected_port

FIRES = [
    ("npm run dev -- --port 4000", 4000),
    ("npm run dev -- --port=4000", 4000),
    ("npm start -- -p 4001", 4001),
    ("PORT=4000 npm start", 4000),
    ("cd web && PORT=4000 npm start", 4000),
    ("env PORT=4000 npm run dev", 4000),
    ("npx cross-env PORT=4000 npm run start:web", 4000),
    ("yarn dev --port 4000", 4000),
    ("pnpm dev -- --port 4000", 4000),
    ("bun run dev --port 4000", 4000),
    ("npm run dev -- --port 4000 2>&1 | tee dev.log", 4000),
    ("nohup npm run dev -- --port 4000 > log 2>&1 &", 4000),
    ("python -m http.server 8888", 8888),
    ("python3 -m http.server", 8000),
    ("python3.11 -u -m http.server -d site 9001", 9001),
    ("python -m http.server --bind 127.0.0.1 8080", 8080),
    ("cd site && python -m http.server 8888 &", 8888),
    ("python -m http.server -p HTTP/1.1 8010", 8010),
    ("exec python3 -m http.server 8888", 8888),
    ("uv run python -m http.server 8889", 8889),
    ("python manage.py runserver", 8000),
    ("python manage.py runserver 9000", 9000),
    ("./manage.py runserver 0.0.0.0:9000", 9000),
    ("python manage.py runserver [::1]:9001", 9001),
    ("python manage.py runserver 0:9002 --noreload", 9002),
    ("uv run manage.py runserver", 8000),
    ("python manage.py migrate && python manage.py runserver 8002", 8002),
    ("poetry run python manage.py runserver", 8000),
    ("flask run", 5000),
    ("flask --app shop run --port 5001", 5001),
    ("flask run -h 0.0.0.0 -p 5002", 5002),
    ("flask run -p5003", 5003),
    ("python -m flask run --port=5004", 5004),
    ("FLASK_RUN_PORT=5005 flask run", 5005),
    ("FLASK_APP=shop flask run", 5000),
    ("uvicorn main:app", 8000),
    ("uvicorn main:app --reload --host 0.0.0.0 --port 8010", 8010),
    ("python -m uvicorn main:app --port=8011", 8011),
    ("uv run uvicorn main:app --port 8012", 8012),
    ("/opt/venv/bin/uvicorn main:app", 8000),
    ("poetry run uvicorn a:b --port 8013", 8013),
    ('uvicorn main:app --port "8015"', 8015),
    ("hypercorn app:app", 8000),
    ("hypercorn app:app -b 0.0.0.0:8020", 8020),
    ("hypercorn --bind '[::]:8021' app:app", 8021),
    ("gunicorn app:app", 8000),
    ("gunicorn -w 4 -b 0.0.0.0:8030 app:app", 8030),
    ("gunicorn --bind=:8031 app:app", 8031),
    ("gunicorn -b 0.0.0.0 app:app", 8000),
    ("gunicorn -b unix:/s.sock -b :8033 app:app", 8033),
    ("PORT=8032 gunicorn app:app", 8032),
    ("gunicorn -c g.py -b :8034 app:app", 8034),
    ("fastapi dev main.py", 8000),
    ("fastapi run --port 8050", 8050),
    ("streamlit run app.py", 8501),
    ("streamlit run app.py --server.port 8510", 8510),
    ("python -m streamlit run app.py --server.port=8511", 8511),
    ("jupyter lab", 8888),
    ("jupyter notebook --no-browser --port 8890", 8890),
    ("jupyter lab --ServerApp.port=8891", 8891),
    ("mkdocs serve", 8000),
    ("mkdocs serve -a 0.0.0.0:8055", 8055),
    ("mkdocs serve --dev-addr=localhost:8056", 8056),
    ("mkdocs -q serve", 8000),
    ("vite", 5173),
    ("npx vite --port 5180", 5180),
    ("vite dev --host", 5173),
    ("node_modules/.bin/vite --port=5181", 5181),
    ("yarn vite --port 5182", 5182),
    ("pnpm exec vite", 5173),
    ("npm exec vite -- --port 5183", 5183),
    ("npx -y vite@5 --port 5184", 5184),
    ("(cd web; vite)", 5173),
    ("bunx vite", 5173),
    ("if [ -d web ]; then cd web; vite; fi", 5173),
    ("vite --port 1 --port 5185", 5185),
    ("next dev", 3000),
    ("next dev -p 3005", 3005),
    ("npx next dev --port 3006", 3006),
    ("PORT=3007 next dev", 3007),
    ("yarn next dev -p 3008", 3008),
    ("next start", 3000),
    ("next build && next start -p 3009", 3009),
    ("ng serve", 4200),
    ("ng serve --port 4201 --open", 4201),
    ("npx ng serve shop --port=4202", 4202),
    ("webpack-dev-server --port 8091", 8091),
    ("webpack-dev-server", 8080),
    ("http-server", 8080),
    ("npx http-server dist -p 8110", 8110),
    ("http-server -p8111", 8111),
    ("serve -s build", 3000),
    ("npx serve@latest -l 5050", 5050),
    ("serve -l tcp://0.0.0.0:5051 dist", 5051),
    ("serve -p 5052", 5052),
    ("json-server db.json", 3000),
    ("json-server --watch db.json --port 3030", 3030),
    ("php -S localhost:8140", 8140),
    ("php -S 0.0.0.0:8141 -t public", 8141),
    ("php -d a=1 -S '[::1]:8142' router.php", 8142),
    ("rails server", 3000),
    ("bin/rails s -p 3060", 3060),
    ("bundle exec rails s -b 0.0.0.0 -p 3061", 3061),
    ("bundle exec jekyll serve", 4000),
    ("jekyll serve --livereload --port 4020", 4020),
    ("jekyll s -P 4021", 4021),
    ("hugo server -D", 1313),
    ("hugo serve -p 1320", 1320),
    ("hugo server --port=1321 --bind 0.0.0.0", 1321),
    ("redis-server --port 6380", 6380),
    ("PORT=4000 node server.js", 4000),
    ("PORT=4000 make serve", 4000),
    ("cd api && PORT=4000 ./server", 4000),
    ("docker run -p 8080:80 nginx", 8080),
    ("docker run --rm -it -p 127.0.0.1:8080:80 nginx", 8080),
    ("docker container run -e A=1 --name web --publish=8081:80/tcp nginx", 8081),
    ("podman run -d -p8082:80 -p 9000:90 nginx", 8082),
    ("docker run -p 53:53/udp -p 8083:80 dns", 8083),
    ("sudo docker run -p [::1]:8084:80 nginx", 8084),
    ("redis-server /etc/redis.conf --port 6381", 6381),
    ("redis-server --save '' --port 6382", 6382),
]
# The port is named by what only a shell, a file or the program itself knows.
NOT_TOLD = [
    "export PORT=4000; npm start",
    "export PORT=4000 && cd web && npm run dev",
    "npm --prefix web run dev -- -p 3100",
    "pnpm -C web dev --port 4000",
    "PORT=4000\nexport PORT\nnpm start",
    "python -mhttp.server 8081",
    "timeout 60 python -m http.server 8888",
    "sudo -u www python -m http.server 81",
    "bash -c 'cd site; python -m http.server 8888'",
    "django-admin runserver --settings shop.dev 8003",
    "P=8014; uvicorn main:app --port $P",
    "uvicorn 'main:app' --port ${PORT:-8016}",
    "vite preview",
    "vite preview --port 4180",
    "ruby bin/rails server -p3062",
    "redis-server",
]
SILENT = [
    "npm run dev",
    "npm start",
    "yarn dev",
    "npm run dev --port 4000",
    "npm run build -- --port 4000",
    "npm test",
    "npm install",
    "PORT=4000 npm run build",
    "PORT=4000; npm start",
    "npm run dev -- --port $PORT",
    "npm start -- --port 99999",
    "yarn serve",
    "PORT=abc npm start",
    "npm start -- --port 0",
    "PORT=4000 make",
    "PORT=4000 pytest -q",
    "PORT=$P node server.js",
    "HTTP_PORT=4000 node server.js",
    "PORT=4000 rails console",
    "docker run nginx -p 8080:80",
    "docker run -p 80 nginx",
    "docker run -p 127.0.0.1::80 nginx",
    "docker run -p 9000-9001:9000-9001 nginx",
    "docker run -P nginx",
    "docker run --name -p nginx",
    "docker run -p 53:53/udp dns",
    "docker exec -p 8080:80 web",
    "docker run -p",
    "npm start -- --portable 4000",
    "npm config set port 4000",
    "python -m http.server --help",
    "python -m http.client 8888",
    "python -m json.tool 8888",
    "python http.server 8888.py",
    "python -m http.server 888888",
    "python -m http.server 0",
    "python -c 'import http.server' 8888",
    "echo python -m http.server 8888",
    "git commit -m 'python -m http.server 8888'",
    "python -m http.server $PORT",
    "python manage.py migrate",
    "python manage.py test 8000",
    "python manage.py shell",
    "manage.py",
    "python manage.py runserver $ADDRESS",
    "vim manage.py runserver",
    "flask routes",
    "flask --app run shell",
    "flask db upgrade",
    "flask",
    "flask run --help",
    "uvicorn --version",
    "uvicorn main:app --uds /tmp/s.sock",
    "pip install uvicorn",
    "uvicorn main:app --port",
    "uvicorn main:app --port ${PORT}",
    "hypercorn app:app -b unix:/tmp/h.sock",
    "hypercorn -c hyper.toml app:app",
    "hypercorn app:app -b fd://3",
    "gunicorn -b unix:/run/g.sock app:app",
    "gunicorn -c gunicorn.conf.py app:app",
    "gunicorn --check-config --help",
    "fastapi deploy",
    "fastapi --version",
    "streamlit config show",
    "streamlit cache clear",
    "jupyter nbconvert a.ipynb",
    "jupyter lab list",
    "jupyter server stop 8888",
    "jupyter lab workspaces export",
    "jupyter --version",
    "mkdocs build",
    "mkdocs gh-deploy",
    "mkdocs new serve",
    "vite build",
    "invitee",
    "npm create vite",
    "npm install vite",
    "vitest",
    "vite optimize",
    "vite --help",
    "echo vite",
    "# vite",
    "cat <<E\nvite\nE",
    "vite build --port 4180",
    "next build",
    "next lint",
    "next info",
    "next",
    "ng build",
    "ng test",
    "ng generate component serve",
    "npm i webpack-dev-server",
    "http-server --version",
    "npm i -g http-server",
    "serve -l unix:/tmp/s.sock",
    "serve --help",
    "deserve -l 5050",
    "json-server --help",
    "php -r 'echo 1;'",
    "php -s localhost:8140",
    "php script.php 8140",
    "php -l a.php",
    "rails console",
    "rails new server",
    "rails db:migrate",
    "rails generate scaffold server",
    "jekyll build",
    "jekyll new serve",
    "hugo",
    "hugo new site serve",
    "hugo --minify",
    "redis-server /etc/redis.conf",
    "redis-cli -p 6380",
    "redis-server --version",
]


def expected_port(command: str | Sequence[str]) -> int | None:
    found = find_expected_port(command)
    return None if found is None else found.port


def test_every_server_is_found_by_its_options() -> None:
    wrong = [
        (command, port, expected_port(command))
        for command, port in FIRES
        if expected_port(command) != port
    ]
    assert not wrong
    named = " ".join(command for command, _ in FIRES)
    assert not [name for name in SERVERS if name != "(script)" and name not in named]


def test_a_near_miss_names_none() -> None:
    assert not [
        command for command in (*SILENT, *NOT_TOLD) if expected_port(command) is not None
    ]


@near_misses(
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
        *(
            "echo vite",
            "git commit -m 'run vite --port 3'",
            "",
            " ",
            "#",
            "&&",
            "'",
            "PORT=3",
            "PORT=3 true",
        ),
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
    # A shell would take it apart, nobody else does.
    assert expected_port(["python -m http.server 8888"]) is None
    assert expected_port(["echo", "x", "&&", "vite"]) is None
    assert expected_port([]) is None


def test_it_is_told_what_a_port_rests_on() -> None:
    assert find_expected_port("vite --port 3000") == Expected(3000, moves=False)
    assert find_expected_port("vite") == Expected(5173, moves=True)
    assert find_expected_port("flask run") == Expected(5000, moves=False)


@table(
    ("command", "port"),
    [
        ("vite --port 3001 & flask run -p 3002", 3001),
        ("npm run build; flask run -p 3002", 3002),
        (
            "npm run dev; flask run",
            None,
        ),  # the first is a server, of which the port is not known
        ("flask run -p $(free-port)", None),
        ("flask run -p '3006'", 3006),
        ('flask run -p "$UNKNOWN"', None),
        ("flask run \\\n  -p 3007", 3007),
        ("flask run -p 03009", 3009),
        ("flask run -p 65536", None),
        ("flask run -p -1", None),
        ("flask run -p ３０００", None),
    ],
)
def test_a_text_is_split_as_a_shell_splits_it(command: str, port: int | None) -> None:
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


@table(
    "text",
    [
        *(
            "vite " + "--port " * 200_000,
            "x" * 1_000_000,
            "env " * 4000 + "vite",
            "a && " * 4000,
            "(" * 19_999,
        ),
        *(
            "gunicorn -b " + "[" * 19_000,
            "bash -c '" * 2000,
            "npx " * 4900,
            "docker run " + "-p " * 5000,
        ),
    ],
    ids=lambda text: text[:12],
)
def test_hostile_text_is_read_to_its_end(text: str) -> None:
    assert expected_port(text) is None

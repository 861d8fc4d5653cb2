"""What a file tells its users: one file of each form, and every fact of it as `kind owner.name=value`."""

from examples import table

from cli_guard.code.facts import facts_of
from cli_guard.code.syntax import Trees

SAMPLES = {
    "a.py": '''\
import os, argparse
LIMIT = 60 * 5
parser.add_argument("--size", "-s", default=3, choices=["a", "b"])
# parser.add_argument("--gone")
home = os.environ.get("APP_HOME", "/x")
def f(a, b: int = 2):
    """Doc."""
    def inner(): pass
    try:
        g()
    except KeyError:
        raise ValueError("x")
class MySettings(BaseSettings):
    model_config = {"env_prefix": "APP_"}
    name: str = "x"
def main():
    sys.exit(3)
''',
    "a.ts": """\
export interface Options {
  size?: number;
}
interface Hidden {
  gone: number;
}
export function f(options: Options, { a = 1, b }) { throw new MyError("x"); }
export function g(options: Hidden) {}
const p = process.env.APP_PORT || "80";
app.listen(8080);
""",
    "a.rb": """\
def f(a, b: 2)
  raise MyError
end
""",
    "run.sh": """\
while getopts "ab:" x; do :; done
case $1 in
  --name) ;;
esac
echo ${APP_MODE:-fast}
exit 2
""",
    "a.rs": """\
#[arg(long = "level", default_value = "1", alias = "lvl")]
pub log_level: u8,
#[arg(long)]
dry_run: bool,
""",
    "a.go": """\
package a
func main() {
	flag.Int("size", 5, "help")
	d := 5 * time.Second
}
""",
    "package.json": """\
{"name": "p", "exports": {".": "./i.js", "./sub": "./s.js", "./x/*": "y"}}""",
    "settings.yaml": """\
port: 80  # the usual one
server:
  name: 'x'  # a "name"
""",
    "Makefile": """\
all: x
	do
""",
    "Dockerfile": """\
FROM python:3.11.0
EXPOSE 8080
""",
    "b.py": """\
import configparser
section = config["main"]
x = section.get("depth", fallback=4)
y = settings["colour"]
A = 1
A = 2
TIMES = 1
TIMES = 2
""",
}
FACTS = {
    "a.py": [
        "function f=",
        "parameter f.a=",
        "parameter f.b=2",
        "type f.b=int",
        "error f.ValueError=",
        "turned f.KeyError=ValueError",
        "class MySettings=",
        "key name=x",
        "variable APP_NAME=x",
        "function main=",
        "flag --size=3",
        "variable APP_HOME=/x",
        "constant LIMIT=300",
        "exit 3=",
    ],
    "a.ts": [
        "function f=",
        "parameter f.options=",
        "type f.options=Options",
        "error f.MyError=",
        "function g=",
        "parameter g.options=",
        "type g.options=Hidden",
        "parameter f.size=",
        "type f.size=number",
        "parameter g.gone=",
        "type g.gone=number",
        "class Options=",
        "variable APP_PORT=80",
        "port 80=",
        "port 8080=",
    ],
    "a.rb": ["function f=", "parameter f.a=", "parameter f.b=2", "error f.MyError="],
    "run.sh": ["exit 2=", "flag --name=", "variable APP_MODE=fast", "flag -a=", "flag -b="],
    "a.rs": ["flag --level=1", "flag --lvl=", "flag --dry-run="],
    "a.go": ["function main=", "flag --size=5"],
    "package.json": ["module p/sub="],
    "settings.yaml": ["key port=80", "key server=", "key server.name=x", "port 80="],
    "Makefile": ["target all="],
    "Dockerfile": ["port 8080="],
    "b.py": ["constant TIMES=", "key main=", "key colour=", "key depth=4"],
}


def facts_in(path: str, text: str) -> list[str]:
    facts = facts_of(Trees(), path, text).values()
    return [
        f"{each.kind} {'.'.join(filter(None, (each.owner, each.name)))}={each.value}"
        for each in facts
    ]


@table("path", SAMPLES)
def test_the_facts_of_a_file(path: str) -> None:
    assert facts_in(path, SAMPLES[path]) == FACTS[path]


def test_a_fact_has_the_line_of_its_name() -> None:
    facts = facts_of(Trees(), "a.py", SAMPLES["a.py"]).values()
    lines = SAMPLES["a.py"].split("\n")
    assert all(
        each.name.lower().split("_")[-1] in lines[each.line - 1].lower()
        for each in facts
        if each.kind != "flag"
    )

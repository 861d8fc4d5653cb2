"""What a command writes and then runs is judged as the code that it is, and counts as the project's own after that."""

from collections.abc import Callable
from pathlib import Path

import pytest
from examples import examples, near_misses
from in_process import guard
from repositories import Repo, isolated_environment

from cli_guard.commands import judge
from cli_guard.commands.inline.sed import find_new_text
from cli_guard.commands.model import Profile
from cli_guard.execution.context import command_context
from cli_guard.model import Decision

FILES = {
    "src/app.py": "import os\n",
    "tests/test_app.py": "",
    "Makefile": "t:\n\tpytest\n",
    "tox.ini": "[testenv]\ncommands = pytest\n",
    "package.json": '{"scripts": {"test": "jest"}}',
    "scripts/build.sh": "ls\n",
    "node_modules/.bin/jest": "",
}
CLEAN = "git clean -fdxq"
Judge = Callable[[str, Profile], Decision]


@pytest.fixture(scope="module")
def decide(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    folder = tmp_path_factory.mktemp("written")
    (folder / "home").mkdir()
    repo = Repo.create(folder / "repo", isolated_environment(folder / "home"))
    repo.commit("Begin", dict(FILES))
    guard(repo, "install")

    def verdict(command: str, profile: Profile = Profile.WORKSPACE) -> Decision:
        return judge(command, command_context(repo.path, repo.env, profile=profile)).verdict

    return verdict


def heredoc(path: str, *lines: str) -> str:
    text = "\n".join(lines)
    return f"cat > {path} <<'END'\n{text}\nEND\n"


@examples(
    "command",
    [
        heredoc("t.py", "import os", "print(os.getcwd())") + "python t.py",
        heredoc("/tmp/t.py", "class A:", "    pass") + "python3 /tmp/t.py",
        heredoc("/tmp/x.js", "console.log(1)") + "node /tmp/x.js",
        heredoc("scripts/x.sh", "ls", "pytest -q") + "bash scripts/x.sh",
        heredoc("scripts/x", "#!/usr/bin/env python3", "print(1)") + "./scripts/x",
        heredoc("tests/x.test.js", 'require("child_process").execSync("npm test")')
        + "npx jest",
        heredoc(
            "tests/test_z.py",
            "import os, subprocess, sys",
            "class TestA:",
            "    def test_b(self, tmp_path, monkeypatch):",
            '        (tmp_path / "a").write_text(os.environ["API_KEY"])',
            '        subprocess.run([sys.executable, "-m", "src.app", str(tmp_path)])',
        )
        + "python -m pytest tests/test_z.py -q",
        heredoc("README.md", "run `git push`") + "pytest",
        "printf 't:\\n\\tpytest -q\\n' > Makefile && make t",
        "printf '[testenv]\\ncommands = pytest\\n' > tox.ini; tox",
        "sed -i 's/a/b/' src/app.py && python src/app.py",
        "sed -i 's/ls/pytest/' scripts/build.sh && bash scripts/build.sh",
        'sed -i \'s/"version": "1"/"version": "2"/\' package.json && npm test',
        "echo ls > a.sh; echo pytest >> a.sh; bash a.sh",
        "sed -i '/^$/d' src/app.py; python src/app.py",
    ],
)
def test_what_is_judged_counts_as_there(command: str, decide: Judge) -> None:
    assert decide(command, Profile.WORKSPACE) is Decision.ALLOW


@near_misses(
    "command",
    [
        # It asks inside.
        heredoc("t.py", "import subprocess", 'subprocess.run(["git", "push"])')
        + "python t.py",
        heredoc("/tmp/t.py", "import os", f'os.system("{CLEAN}")') + "python /tmp/t.py",
        heredoc("scripts/x.sh", "git push") + "./scripts/x.sh",
        heredoc("scripts/x", "#!/usr/bin/env python3", "import os", f'os.system("{CLEAN}")')
        + "./scripts/x",
        heredoc("x.js", 'require("child_process").spawnSync("git", ["push"])')
        + "node x.js",
        heredoc("x.rb", f'system("{CLEAN}")') + "ruby x.rb",
        heredoc("src/conf.py", "import os", f'os.system("{CLEAN}")')
        + "python3 -c \"import sys; sys.path.insert(0,'src'); import conf\"",
        heredoc("tests/test_a.py", "import os", 'os.remove("/srv/x")') + "pytest",
        f"printf 'import os\\nos.system(\"{CLEAN}\")\\n' > src/test_x.py; pytest -q src",
        f"printf '[testenv]\\ncommands = {CLEAN}\\n' > tox.ini; tox",
        f"printf 't:\\n\\t{CLEAN}\\n' > Makefile && make t",
        f"printf 't:\\n    {CLEAN}\\n' > .justfile && just -f .justfile t",
        f"printf 'tasks:\\n  t: {CLEAN}\\n' > Taskfile.yml && task t",
        heredoc(
            "tasks.py",
            "from invoke import task",
            "@task",
            "def t(c):",
            f'    c.run("{CLEAN}")',
        )
        + "invoke t",
        "printf 'import os\\nos.system' > t.py; printf '(\"git push\")' >> t.py; python t.py",
        f"sed -i 's/pytest/{CLEAN}/' tox.ini; tox",
        f'sed -i \'s/"jest"/"{CLEAN}"/\' package.json && npm test',
        "sed -i '1a git push' scripts/build.sh && bash scripts/build.sh",
        # It is not known, of no language that is judged, or too much.
        "python gen.py > out.sh; bash out.sh",
        "base64 -d x > Makefile; make t",
        "perl -pi -e 's/a/b/' tox.ini; tox",
        "python gen.py > t.py; python t.py",
        heredoc("x.lua", "print(1)") + "lua x.lua",
        heredoc("t.py", *["x = 1"] * 5000) + "python t.py",
        "echo 'exec(open(\"x\").read())' > tests/test_y.py; pytest",
        heredoc("jest.config.js", "module.exports = {globalSetup: '/srv/g.js'}")
        + "npx jest",
        heredoc("x.js", 'require("fs").rmSync(process.argv[2])') + "node x.js src",
        # Something else is in the file as well.
        heredoc("/tmp/other.py", "print(1)").replace(">", ">>", 1) + "python /tmp/other.py",
        heredoc("t.py", "print(1)") + "git apply x.patch; python t.py",
        "python /tmp/other.py",
    ],
)
def test_what_asks_inside_asks(command: str, decide: Judge) -> None:
    assert decide(command, Profile.WORKSPACE) is Decision.REVIEW


DENIED = "git commit --no-verify -m x"


@near_misses(
    "command",
    [
        heredoc("t.py", "import os", f'os.system("{DENIED}")') + "python t.py",
        heredoc("scripts/x.sh", DENIED) + "bash scripts/x.sh",
        f"printf 't:\\n\\t{DENIED}\\n' > Makefile && make t",
        heredoc("x.js", f'require("child_process").execSync("{DENIED}")') + "node x.js",
        f"sed -i 's/pytest/{DENIED}/' tox.ini; tox",
    ],
)
def test_what_is_denied_inside_is_denied_in_every_profile(
    command: str, decide: Judge
) -> None:
    assert {decide(command, profile) for profile in Profile} == {Decision.DENY}


def test_what_only_is_written_is_no_command(decide: Judge) -> None:
    assert decide(heredoc("t.py", f"X = '{DENIED}'"), Profile.WORKSPACE) is Decision.ALLOW


def test_a_part_of_a_script_of_sed_is_read(tmp_path: Path) -> None:
    assert find_new_text(r"s/a/b\nc/g; 1i\x" + "\ns|d|e|") == "b\nc\nx\ne\n"
    assert find_new_text("s/a") == ""

"""OpenCode: the plugin that `install` writes, run by Node as OpenCode runs it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from in_process import guard
from repositories import Repo

DRIVER = """
const { CliGuard } = await import(process.argv[2])
const hooks = await CliGuard({ directory: process.argv[3] })
for (const args of JSON.parse(process.argv[4])) {
  try {
    await hooks["tool.execute.before"]({ tool: "bash" }, { args })
    console.log("runs")
  } catch (error) {
    console.log(`throws ${error.message.split("\\n")[0]}`)
  }
}
"""


@pytest.mark.skipif(
    shutil.which("node") is None, reason="the plugin needs a JavaScript engine"
)
def test_the_plugin_throws_what_is_denied(committed: Repo, tmp_path: Path) -> None:
    by_path = {"PATH": "/usr/bin:/bin"}
    guard(committed, "install", "--agent", "opencode", env=by_path)
    plugin = committed.path / ".opencode" / "plugins" / "cli-guard.js"
    (tmp_path / "driver.mjs").write_text(DRIVER)
    module = tmp_path / "plugin.mjs"

    def run(text: str, *commands: object) -> list[str]:
        module.write_text(text)
        given = json.dumps([{"command": command} for command in commands])
        done = subprocess.run(
            ("node", str(tmp_path / "driver.mjs"), str(module), str(committed.path), given),
            env=committed.env,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    text = plugin.read_text()
    passes, denied, asked, broken = run(
        text, "git status", "rm -rf /", "npm install left-pad", 3
    )
    assert passes == "runs"
    assert denied.startswith("throws cli-guard: deletes the whole file system; instead: ")
    assert asked.startswith("throws cli-guard: npm install installs packages")
    assert broken.startswith("throws cli-guard: the tool use could not be judged: ")
    (missing,) = run(text.replace("/cli-guard hook", "/gone hook"), "ls")
    assert missing.startswith("throws ")
    (killed,) = run(
        text.replace("/cli-guard hook", "/cli-guard bogus; kill -9 $$; hook"), "ls"
    )
    assert killed.startswith("throws ")


def test_a_plugin_of_another_kind_stays(committed: Repo) -> None:
    plugin = committed.path / ".opencode" / "plugins" / "cli-guard.js"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("export const Mine = async () => ({})\n")
    for verb in ("install", "uninstall"):
        done = guard(committed, verb, "--agent", "opencode")
        assert (done.code, done.out) == (
            2,
            "",
        ) and "is not a plugin of cli-guard" in done.err
    assert plugin.read_text().startswith("export const Mine")

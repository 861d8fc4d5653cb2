// Written by `cli-guard install --agent opencode`, and removed by `cli-guard uninstall --agent opencode`.
import { spawn } from "node:child_process"

const command = "@COMMAND@"

function ask(request, cwd) {
  return new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", command], { cwd, stdio: ["pipe", "ignore", "pipe"], timeout: 60000 })
    let reason = ""
    child.stderr.on("data", (data) => (reason += data))
    child.stdin.on("error", () => {})
    child.on("error", (error) => resolve(`cli-guard cannot be started: ${error.message}`))
    child.on("close", (code) => resolve(code === 0 ? "" : reason.trim() || `cli-guard did not answer (${code})`))
    child.stdin.end(JSON.stringify(request))
  })
}

export const CliGuard = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const request = { event: "tool.execute.before", tool: input.tool, args: output.args ?? {}, cwd: directory }
    const reason = await ask(request, directory)
    if (reason) throw new Error(reason)
  },
})

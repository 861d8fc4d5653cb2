"""Judge what leaves the machine other than by a command: requests to the web, and calls of MCP tools."""

import ipaddress
import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from cli_guard.agents.uses import Fetch, McpCall, texts_in
from cli_guard.agents.wording import HookAnswer, name_secret
from cli_guard.execution.context import RECORDED, root_of
from cli_guard.git.process import Git
from cli_guard.git.repository import GitRepository
from cli_guard.model import Confidence, Decision, Severity
from cli_guard.runtime import Invocation, read_plain, user_file
from cli_guard.secrets import SecretHit, scan

if TYPE_CHECKING:
    from cli_guard.policy.mcp import ServerConfig

ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+|(?i:file|view-source):[^\s\"'<>]+"
)
FROM_DISK = ("file", "view-source")
# What answers with the credentials of a machine in a cloud: the providers' names, and all link-local addresses.
METADATA = re.compile(
    r"(?i)(?:metadata(?:\.google)?\.internal|instance-data(?:\.ec2\.internal)?|metadata)\.?\Z"
)
METADATA_ADDRESSES = frozenset(
    ipaddress.ip_address(text)
    for text in ("100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254")
)
SERIOUS = (Severity.CRITICAL, Severity.HIGH)


def judge_fetch(use: Fetch) -> HookAnswer | None:
    """Deny a secret that is sent; ask about files of the disk and the metadata of a cloud."""
    hit = find_secret(use.text)
    if hit:
        return HookAnswer(
            Decision.DENY,
            f"cli-guard: sends {name_secret(hit)} over the network; instead: leave it out of the request",
        )
    for address in ADDRESS.findall(use.text):
        with suppress(ValueError):
            parts = urlsplit(address)
            if parts.scheme.lower() in FROM_DISK:
                return HookAnswer(
                    Decision.REVIEW,
                    "cli-guard: fetches a file of this machine; instead: read it as a file",
                )
            if is_metadata(parts.hostname or ""):
                return HookAnswer(
                    Decision.REVIEW,
                    f"cli-guard: fetches {parts.hostname}, which hands out credentials of this machine",
                )
    return None


def find_secret(text: str) -> SecretHit | None:
    """Return the first secret in a text that is surely one, also behind percent signs."""
    hits = [hit for each in dict.fromkeys((text, unquote(text))) for hit in scan(each).hits]
    return next(
        (
            hit
            for hit in hits
            if hit.severity in SERIOUS and hit.confidence is not Confidence.LOW
        ),
        None,
    )


def is_metadata(host: str) -> bool:
    """Return whether a host is a metadata service, in any spelling of its address."""
    host = host.rstrip(".")
    if METADATA.match(host):
        return True
    try:
        # Also `2852039166` and `0xa9.0xfe.0xa9.0xfe`, which libraries read as inet_aton(3) does.
        address: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.IPv4Address(
            socket.inet_aton(host)
        )
    except (OSError, UnicodeError):
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_link_local or address in METADATA_ADDRESSES


def judge_call(use: McpCall, invocation: Invocation) -> HookAnswer | None:
    """Judge a call of an MCP tool: by a secret in its input, then by `[mcp.NAME]` where that names the tool.

    What a server claims about a tool is not in any request, and would prove nothing. Raises CliGuardError.
    """
    hit = find_secret("\n".join(texts_in(use.given)))
    if hit:
        words = f"cli-guard: sends {name_secret(hit)} to an MCP server; instead: name where it is kept"
        return HookAnswer(Decision.DENY, words)
    return judge_by_policy(use, invocation)


def judge_by_policy(use: McpCall, invocation: Invocation) -> HookAnswer | None:
    servers = find_servers(invocation)
    # Where the agent does not name the server, what is denied of any is denied.
    pairs = (
        (name, tool)
        for server, tool in use.names
        for name in ([server] if server else servers)
    )
    for server, tool in pairs:
        if server not in servers:
            continue
        from cli_guard.policy.globs import rule_matches
        from cli_guard.policy.mcp import McpTool, decision

        config = servers[server]
        is_known = tool in config.allow and ("", tool) not in use.names
        if is_known or any(rule_matches(pattern, tool) for pattern in config.deny):
            verdict = decision(McpTool(f"mcp:{server}.{tool}", server, "", {}), config)
            return HookAnswer(verdict.decision, f"cli-guard: {verdict.reason}")
    return None


def find_servers(invocation: Invocation) -> "Mapping[str, ServerConfig]":
    """Return `[mcp.NAME]` of the user's own file, with what the repository denies. Raises CliGuardError."""
    root = root_of(invocation.cwd)
    path = user_file(invocation.env)
    raw = b""
    with suppress(FileNotFoundError, NotADirectoryError):
        raw = read_plain(path, follow=True) if path else b""
    if root:
        raw += Git(invocation.cwd, invocation.env).attempt(
            "cat-file", "--batch", stdin=RECORDED
        )[1]
    if b"mcp" not in raw:
        # Reading both in full takes long.
        return {}
    from cli_guard.policy.mcp import ServerConfig
    from cli_guard.policy.recorded import policy_at_head

    repository = GitRepository.discover(invocation.cwd, invocation.env) if root else None
    policy, _ = policy_at_head(repository, invocation.env)
    servers = dict(policy.user.mcp if policy.user else {})
    for table in (config.mcp for config in policy.configs):
        for name, shared in table.items():
            servers[name] = servers.get(name, ServerConfig()).denying(shared.deny)
    return servers

"""What a policy decides about one finding: the configuration in force, and floors that it cannot lower."""

import datetime
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property

from cli_guard.commands.model import Pattern
from cli_guard.errors import ConfigError
from cli_guard.lazy import dataclass
from cli_guard.model import (
    Category,
    Confidence,
    Decision,
    Disposition,
    Finding,
    Need,
    Presence,
    Severity,
)
from cli_guard.policy.checks import CheckConfig
from cli_guard.policy.config import (
    DEFAULT_DECISIONS,
    ApprovalsSection,
    Config,
    Ignore,
    default_config,
)
from cli_guard.policy.globs import matches, rule_matches
from cli_guard.policy.mcp import ServerConfig
from cli_guard.policy.suppressions import FLOORS, UNANSWERABLE
from cli_guard.rules.catalog import Rule

STRICTNESS = (Disposition.OFF, Disposition.ADVISE, Disposition.REVIEW, Disposition.DENY)

BASELINE_FILE = "cli-guard-baseline.json"


def stricter(*dispositions: Disposition) -> Disposition:
    """Return the strictest of some."""
    return max(dispositions, key=STRICTNESS.index)


@dataclass(frozen=True)
class Policy:
    """The policy that judges one change.

    `also` are the policies of the other tips of one push: each applies, so that a lax branch cannot judge a strict
    one. `sources` are the places it was read from, for people. `baseline` has (rule, path, fingerprint) of findings
    that existed before. `before` are the policies that a push finds on the remote: a push cannot loosen what judges it.
    """

    config: Config = field(default_factory=default_config)
    user: Config | None = None
    baseline: frozenset[tuple[str, str, str]] = frozenset()
    sources: tuple[str, ...] = ("built-in defaults",)
    also: tuple[Config, ...] = ()
    before: tuple[Config, ...] = ()

    @cached_property
    def configs(self) -> tuple[Config, ...]:
        """Return every configuration of the repository that applies."""
        return (self.config, *self.also, *self.before)

    @cached_property
    def with_user(self) -> tuple[Config, ...]:
        """Return every configuration that applies, the user's own last."""
        return (*self.configs, *([self.user] if self.user else []))

    @cached_property
    def identity(self) -> str:
        """Return a hash of everything that decisions depend on."""
        own = self.user.model_dump_json() if self.user else ""
        return digest(
            [
                *map(canonical, self.configs),
                own,
                repr(sorted(self.baseline)),
            ]
        )

    @cached_property
    def shared_identity(self) -> str:
        """Return a hash of what the repository decides: a signed approval must count on another machine as well.

        A user's own file can only tighten, and another version of cli-guard may have other defaults.
        """
        # A push names its tip first, a range its base.
        written = {
            config.model_dump_json(exclude_defaults=True)
            if config.model_fields_set
            else "{}"
            for config in self.configs
        }
        return digest([*sorted(written), repr(sorted(self.baseline))])

    @property
    def message_style(self) -> str:
        """Return the message style in force: users may require more of themselves than the repository does."""
        styles = {config.message.style for config in self.with_user}
        return "conventional" if "conventional" in styles else "plain"

    @property
    def protected_branches(self) -> tuple[str, ...]:
        """Return the protected branch patterns, including those of the user's own file."""
        given = self.user is not None and "git" in self.user.model_fields_set
        own = self.user.git.protected_branches if self.user and given else ()
        named = (
            branch for config in self.configs for branch in config.git.protected_branches
        )
        return tuple(dict.fromkeys((*named, *own)))

    @property
    def own_guards(self) -> tuple[str, ...]:
        """Return the names of `[protections] calls`, those of the user's own file as well."""
        named = (name for config in self.with_user for name in config.protections.calls)
        return tuple(dict.fromkeys(named))

    @property
    def known_statements(self) -> frozenset[tuple[str, str, str]]:
        """Return kind, name and digest of each `[[surface.known]]` that all configurations in force have."""
        each_known = (
            {(each.kind, each.name, each.digest) for each in config.surface.known}
            for config in self.configs
        )
        return frozenset(set.intersection(*each_known))

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Return the command patterns in force, each once; `allow` is read only from the user's own file."""
        shared = [each for config in self.configs for each in config.commands.patterns]
        # A rule in a file that any program can write is not signed.
        sealed = self.trust.rank > 0
        own = self.user.commands.patterns if self.user else ()
        own = tuple(
            each for each in own if not (sealed and each.decision is Decision.ALLOW)
        )
        return tuple(
            dict.fromkeys(
                (*(each for each in shared if each.decision is not Decision.ALLOW), *own)
            )
        )

    @property
    def servers(self) -> dict[str, ServerConfig]:
        """Return the MCP servers that may be started; they are read only from the user's own file."""
        own = self.user.mcp if self.user else {}
        tables = [config.mcp for config in self.configs]
        # With the tools that repositories deny.
        return {
            name: server.denying(
                denied for table in tables if name in table for denied in table[name].deny
            )
            for name, server in own.items()
            if server.command
        }

    @property
    def checks(self) -> tuple[Mapping[str, CheckConfig], ...]:
        """Return the tables of checks in force, of each tip that has any; they are read only from the repository."""
        return tuple(config.checks for config in (self.config, *self.also) if config.checks)

    def disposition(self, finding: Finding) -> Disposition:
        """Return what the finding leads to."""
        wanted = stricter(*(disposition_by(config, finding) for config in self.configs))
        if self.user:
            own = by_rule(self.user, finding) or self.user.decisions.get(
                finding.severity, Disposition.OFF
            )
            wanted = stricter(wanted, own)
        wanted = stricter(wanted, FLOORS.get(finding.rule, Disposition.OFF))
        # Nothing here takes it back.
        if finding.published and wanted is Disposition.DENY:
            return Disposition.REVIEW
        return wanted

    @cached_property
    def approvals(self) -> tuple[ApprovalsSection, ...]:
        """Return every `[approvals]` in force; the strictest counts."""
        return tuple(each.approvals for each in self.with_user)

    @property
    def trust(self) -> Presence:
        """Return the level that trust in a work tree, and a rule that allows a command, need."""
        return Presence.highest(Presence(each.trust) for each in self.approvals)

    @property
    def highest(self) -> Presence:
        """Return the highest level that an approval of any finding may need."""
        return self._level_of(*Severity)

    def _level_of(self, *severities: Severity) -> Presence:
        levels = [
            getattr(each, str(severity))
            for each in self.approvals
            for severity in severities
        ]
        alone = all(each.author_may_approve for each in self.approvals)
        return Presence.highest(levels if alone else (*levels, Presence.SECOND))

    def need_for(self, finding: Finding) -> Need:
        """Return what an approval of a finding needs; what loosens the guard needs the highest level there is."""
        level = (
            self.highest
            if finding.category is Category.POLICY
            else self._level_of(finding.severity)
        )
        numbers = [
            number
            for each in self.approvals
            for pattern, number in each.threshold.items()
            if matches(pattern, finding.path)
        ]
        return Need(level, max(numbers, default=1))

    def ignore_for(self, finding: Finding, today: datetime.date) -> Ignore | None:
        """Return the `[[ignore]]` that answers a finding and has not expired, if any."""
        if finding.rule in UNANSWERABLE:
            return None
        answers = [ignore_in(config, finding, today) for config in self.configs]
        return answers[0] if all(answers) else None

    @property
    def ignores(self) -> tuple[Ignore, ...]:
        """Return every `[[ignore]]` of the repository that applies, each once."""
        return tuple(
            dict.fromkeys(ignore for config in self.configs for ignore in config.ignore)
        )

    def find_expired(self, today: datetime.date) -> tuple[Ignore, ...]:
        return tuple(i for i in self.ignores if i.expires is not None and i.expires < today)


def canonical(config: Config) -> str:
    """Return a text that two configurations share only if they are equal."""
    # Where nothing is set, pydantic need not build the serializers of all sections.
    return config.model_dump_json() if config.model_fields_set else repr(config)


def digest(parts: Iterable[str]) -> str:
    """Return 16 digits of a hash over some texts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[
        :16
    ]


def disposition_by(config: Config, finding: Finding) -> Disposition:
    """Return what one configuration decides about a finding, without floors."""
    wanted = by_rule(config, finding)
    if wanted is not None:
        return wanted
    wanted = (DEFAULT_DECISIONS | config.decisions)[finding.severity]
    if finding.confidence is Confidence.LOW and wanted is Disposition.DENY:
        return Disposition.REVIEW
    return wanted


def ignore_in(config: Config, finding: Finding, today: datetime.date) -> Ignore | None:
    """Return the first `[[ignore]]` of a configuration that answers a finding and has not expired."""
    return next(
        (
            ignore
            for ignore in config.ignore
            if rule_matches(ignore.rule, finding.rule)
            and matches(ignore.path, finding.path)
            and ignore.fingerprint in ("", finding.fingerprint)
            and (ignore.expires is None or today <= ignore.expires)
        ),
        None,
    )


def by_rule(config: Config, finding: Finding) -> Disposition | None:
    """Return what `[rules]` says about a finding: the rule's id decides, else the longest prefix."""
    if finding.rule in config.rules:
        return config.rules[finding.rule]
    fitting = [pattern for pattern in config.rules if rule_matches(pattern, finding.rule)]
    return config.rules[max(fitting, key=len)] if fitting else None


def read_baseline(raw: bytes | None, source: str) -> frozenset[tuple[str, str, str]]:
    """Parse a baseline file. Raises ConfigError."""
    if raw is None:
        return frozenset()
    try:
        entries = json.loads(raw)["findings"]
        rows = frozenset((e["rule"], e["path"], e["fingerprint"]) for e in entries)
        if not isinstance(entries, list) or not all(
            isinstance(part, str) for row in rows for part in row
        ):
            raise TypeError("an entry must be three strings")
        return rows
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        again = "write it again with `cli-guard review --write-baseline`"
        raise ConfigError(f"{source}: not a baseline of cli-guard: {again}") from error


def write_baseline(findings: Iterable[Finding]) -> str:
    """Format a baseline file: sorted, without line numbers and times, so that it merges well."""
    entries = sorted({(f.rule, f.path, f.fingerprint) for f in findings})
    rows = [
        {"rule": rule, "path": path, "fingerprint": mark} for rule, path, mark in entries
    ]
    return json.dumps({"version": 1, "findings": rows}, indent=2) + "\n"


def default_disposition(rule: Rule) -> str:
    """Return the decision for a rule under the built-in policy."""
    kind = (rule.category, rule.severity, rule.confidence)
    return str(Policy().disposition(Finding(rule.id, *kind, "", None, "", "")))

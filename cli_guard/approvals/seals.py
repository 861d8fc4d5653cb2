"""Seal what a person decided on this machine, trust and rules that allow a command, where policy wants a signature.

The records lie in files of the user, which every program of the user can write; `[approvals] trust` names the level.
"""

from dataclasses import field

from cli_guard.approvals.keys import Key, choose_key, require_presence, sign_payload
from cli_guard.approvals.signatures import TRUST, parse, verify
from cli_guard.approvals.signers import Signers
from cli_guard.lazy import frozen
from cli_guard.model import Presence
from cli_guard.policy.decisions import Policy
from cli_guard.policy.recorded import policy_at_head
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import Env


@frozen
class PolicySeals:
    """The seals that a policy wants in a repository; its signers at HEAD make them."""

    repository: Repository
    env: Env = field(repr=False)
    wanted: Presence

    def make(self, payload: bytes) -> str:
        """Sign a record; "" where a terminal is enough. Raises CliGuardError if the level cannot be reached."""
        key, signers = self.require()
        if key is None:
            return ""
        armored, made = sign_payload(payload, key, signers, self.env, TRUST)
        require_presence(made.presence, self.wanted, "trust")
        return armored

    def require(self) -> tuple[Key | None, Signers]:
        """Return the key that will sign, None where a terminal is enough. Raises CliGuardError as `make` does."""
        if not self.wanted.rank:
            return None, Signers()
        return choose_key(self.repository, self.env, self.wanted, "trust")

    def holds(self, payload: bytes, seal: str) -> bool:
        """Return whether a record has the seal that policy wants. Raises CliGuardError without ssh-keygen."""
        if not self.wanted.rank:
            return True
        try:
            made = parse(seal)
        except ValueError:
            return False
        signers = Signers.at_commit(self.repository, self.repository.head)
        signer = signers.by_key.get(made.key)
        if signer is None or made.presence.rank < self.wanted.rank:
            return False
        line = signer.allows(TRUST)
        return (
            verify(payload, seal, line, signer.principal, self.env, signers.revoked, TRUST)
            is None
        )


def seals_of(repository: Repository, env: Env, policy: Policy | None = None) -> PolicySeals:
    """Return the seals that a policy wants, by default the one at HEAD. Raises CliGuardError."""
    policy = policy or policy_at_head(repository, env)[0]
    return PolicySeals(repository, env, policy.trust)

"""`[model]`: which language models may be asked, what they may cost, and what they never see."""

import re
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from cli_guard.policy.globs import matches
from cli_guard.policy.schema import Section
from cli_guard.secrets.filenames import is_risky, risky_patterns

Tier = Literal["light", "medium", "heavy"]
TIERS: tuple[Tier, ...] = get_args(Tier)
NAMED = "Models as provider:name, tried in this order; then those of the next tier."
PRICE = "US dollars for a million tokens"
PHRASES = "`*` stands for any ending of a word."
WORDS = "A program and its arguments that prints the key; it is run without a shell."


def check_model_name(name: str) -> str:
    """Return the name of a model. Raises ValueError if it has no provider."""
    provider, _, model = name.partition(":")
    # langchain would take `OpenAI:` for `openai:`, whose bounds hold for that word alone.
    if not (
        re.fullmatch("[a-z][a-z0-9_]*", provider) and model.strip() and model.isprintable()
    ):
        raise ValueError("name a model as provider:name, such as openai:gpt-5-mini")
    return name


Model = Annotated[str, StringConstraints(max_length=200), AfterValidator(check_model_name)]
OpenAIModel = Annotated[Model, StringConstraints(pattern="^openai:")]
Phrase = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Models = Annotated[tuple[Model, ...], Field(max_length=8, description=NAMED)]


class Price(Section):
    """What a model costs, in US dollars for a million tokens."""

    input: float = Field(ge=0, le=10_000, description=f"{PRICE} of the prompt.")
    output: float = Field(ge=0, le=10_000, description=f"{PRICE} of the answer.")


class ModelServer(Section):
    """A server of one model, with a key of its own: that of another is never sent to it."""

    base_url: str = Field(
        pattern=r"^https?://", description="Its OpenAI-compatible address."
    )
    api_key_env: str | None = Field(
        default=None, description="The variable that holds its key."
    )
    api_key_command: tuple[str, ...] = Field(default=(), description=WORDS)


class RoutingSection(Section):
    """`[model.routing]`: what the user changes in how the tier of a request is found."""

    medium: float | None = Field(
        default=None, description="Score from which on a request is medium."
    )
    heavy: float | None = Field(
        default=None, description="Score from which on a request is heavy."
    )
    points: dict[Phrase, Annotated[float, Field(ge=-10, le=10)]] = Field(
        default_factory=dict,
        max_length=200,
        description=f"Points that words add. {PHRASES}",
    )
    tiers: dict[Tier, Annotated[tuple[Phrase, ...], Field(max_length=200)]] = Field(
        default_factory=dict,
        description=f"Words that choose a tier, the heaviest first. {PHRASES}",
    )


class ModelSection(Section):
    """`[model]`, in the user's own file: without a model in one of its tiers there is none."""

    light: Models = ()
    medium: Models = ()
    heavy: Models = ()
    routing: RoutingSection = Field(default_factory=RoutingSection.model_construct)
    base_url: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="An OpenAI-compatible server, for the models of `openai:`.",
    )
    api_key_env: str | None = Field(
        default=None, description="The variable that holds the key."
    )
    api_key_command: tuple[str, ...] = Field(default=(), description=WORDS)
    servers: dict[OpenAIModel, ModelServer] = Field(
        default_factory=dict,
        description="Models of `openai:` that have a server of their own.",
    )
    deadline_s: float = Field(
        default=30.0,
        gt=0,
        le=3_600,
        description="Seconds for one answer, with its retries and fallbacks.",
    )
    turn_s: float = Field(
        default=300.0,
        gt=0,
        le=86_400,
        description="Seconds for all answers to one request.",
    )
    turn_calls: int = Field(
        default=25, ge=1, le=200, description="Most answers to one request."
    )
    answer_tokens: int = Field(
        default=4_000, ge=16, le=200_000, description="Longest answer, in tokens."
    )
    context_tokens: int | None = Field(
        default=None,
        ge=1_000,
        description="The context window; for a model that is not known.",
    )
    budget_usd_per_day: float | None = Field(
        default=None, ge=0, description="Most US dollars a day."
    )
    prices: dict[Model, Price] = Field(
        default_factory=dict,
        description="Prices that are not known, or differ from the list.",
    )
    private: tuple[str, ...] = Field(
        default=(), description="Path patterns of files of which nothing is sent."
    )
    after_hooks: bool = Field(
        default=False,
        description="After a commit: a summary of it, and questions worth asking.",
    )
    tracing: bool = Field(
        default=False, description="Let LangSmith trace the calls, if its variables say so."
    )

    @property
    def is_configured(self) -> bool:
        """Return whether there is a model."""
        return bool(self.light or self.medium or self.heavy)

    def for_model(self, name: str) -> Self:
        """Return the settings with the server and the key of one model."""
        server = self.servers.get(name)
        return self.model_copy(update=server.model_dump()) if server else self

    def models_for(self, tier: Tier) -> tuple[tuple[Tier, str], ...]:
        """Return the models to try for a tier, each with its tier: its own, the stronger ones, then the weaker ones."""
        at = TIERS.index(tier)
        ordered = (*TIERS[at:], *reversed(TIERS[:at]))
        listed: dict[str, Tier] = {}
        for each in ordered:
            for name in getattr(self, each):
                listed.setdefault(name, each)
        return tuple((each, name) for name, each in listed.items())

    def is_private(self, path: str) -> bool:
        """Return whether nothing of a file may be sent, masked or not: one that usually holds credentials."""
        return is_risky(path) or any(matches(pattern, path) for pattern in self.private)

    @property
    def private_patterns(self) -> tuple[str, ...]:
        """Return patterns for fnmatch(3), in lower case, that match at least each path of which nothing may be sent."""
        own: list[str] = []
        for pattern in self.private:
            plain = pattern.removeprefix("/").replace("[", "[[]").lower()
            wide = plain.replace("**/", "*").replace("**", "*")
            own += (wide,) if "/" in pattern else (wide, f"*/{wide}")
        return (*risky_patterns(), *own)


# The tables of the file by their keys.
MODEL_TABLES: dict[str, type[BaseModel]] = {
    "model": ModelSection,
    "routing": RoutingSection,
    "prices": Price,
    "servers": ModelServer,
}

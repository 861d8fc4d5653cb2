"""The lines of a chat: commands, which begin with a slash, and messages."""

import difflib
from collections.abc import Callable
from typing import get_args

from cli_guard.assistant.approve import undo
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.llm.chat.chat import Chat, Host
from cli_guard.llm.chat.display import Display
from cli_guard.llm.chat.keyboard import Keyboard
from cli_guard.llm.chat.permission import MODES
from cli_guard.llm.compaction import find_window
from cli_guard.llm.ledger import Total
from cli_guard.llm.prompts import estimate_tokens
from cli_guard.llm.session import Sessions
from cli_guard.policy.language_model import TIERS, ModelSection, Tier
from cli_guard.review.request import Staged, Worktree
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

KEYS = "Alt-Enter begins another line; Tab completes commands and paths."


def run_command(chat: Chat, line: str) -> None:
    """Carry out a line that begins with a slash. Raises CliGuardError; EOFError to leave."""
    name, _, rest = line.partition(" ")
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        raise UsageError(
            f"there is no command {name}: {f'did you mean {near[0]}?' if near else 'see /help'}"
        )
    follows, handler = COMMANDS[name]
    shown = rest.strip()
    choices = follows.partition("  ")[0].strip("[]").split("|")
    if shown and choices[0].islower() and shown not in choices:
        raise UsageError(
            f"{name} {shown}: write {name}{''.join(f', {name} {each}' for each in choices if each)}"
        )
    handler(chat, shown)


def show_help(chat: Chat, _: str) -> None:
    for name, each in COMMANDS.items():
        follows, _, meaning = each[0].partition("  ")
        chat.display.say(f"{name + ' ' + follows:<34}{meaning}")
    chat.display.say(KEYS)


def choose_model(chat: Chat, name: str) -> None:
    tiers = {tier: getattr(chat.config, tier) for tier in TIERS}
    found = [
        each
        for models in tiers.values()
        for each in models
        if name in (each, each.partition(":")[2])
    ]
    if name and name != "auto" and not found and ":" not in name:
        raise UsageError(f"there is no model {name} in [model]: name it as provider:name")
    if name:
        chat.forced = ""
        chat.session.model = chat.gateway.forced = (
            "" if name == "auto" else (*found, name)[0]
        )
        chat.save()
    else:
        chat.display.say(
            "\n".join(
                f"{tier:<7}{', '.join(models) or 'none'}" for tier, models in tiers.items()
            )
        )
    chat.display.say(f"in use: {chat.gateway.forced or 'by the tier of each message'}")


def choose_route(chat: Chat, tier: str) -> None:
    if tier:
        chat.session.tier = next((each for each in get_args(Tier) if each == tier), None)
        chat.save()
    chat.display.say(f"last message: {chat.route}; tier: {chat.session.tier or 'by score'}")


def show_cost(chat: Chat, _: str) -> None:
    ledger = chat.ledger
    call = Total()
    session = Total()
    turn = Total(
        *(
            now - before
            for now, before in zip(
                vars(ledger.total).values(), vars(chat.before).values(), strict=True
            )
        )
    )
    for reply in chat.loop.guest.replies[-1:]:
        call.add({"in": reply.usage.input, "out": reply.usage.output, "usd": reply.usd})
    for each in ledger.entries():
        if each.get("session") == chat.session.id:
            session.add(each)
    totals = {"call": call, "turn": turn, "session": session, "day": ledger.total_of_day()}
    chat.display.say("\n".join(f"{name:<9}{total}" for name, total in totals.items()))


def compact_session(chat: Chat, _: str) -> None:
    session = chat.session
    before = estimate_tokens(chat.session.messages)
    chat.guest().fit(session.messages, forced=True)
    chat.save()
    counts = (
        f"{each * session.scale:,.0f}"
        for each in (before, estimate_tokens(session.messages))
    )
    chat.display.say("about {} tokens before, {} after".format(*counts))


def show_context(chat: Chat, _: str) -> None:
    session = chat.session
    tokens = estimate_tokens(session.messages) * session.scale
    window = find_window(chat.gateway.forced, chat.config, chat.host.env)
    counts = f"{len(session.messages)} messages, about {tokens:,.0f} of {window:,} tokens"
    chat.display.say(
        f"{counts}; the first holds this map:\n{redact(chat.map) or 'none yet'}"
    )


def clear_session(chat: Chat, _: str) -> None:
    before = chat.session.id
    chat.open()
    chat.display.say(f"new session {chat.session.id}; /resume {before} goes back")


def allow_all(chat: Chat, rest: str) -> None:
    if rest != "off":
        chat.host.check_person()
    chat.permission.allow_all = rest != "off"
    chat.display.say(
        "each act is asked about"
        if rest
        else "what needs approval is approved, until /allow-all off"
    )


def choose_tests(chat: Chat, mode: str) -> None:
    chat.tests.mode = mode or chat.tests.mode
    chat.display.say(f"covering tests after a written patch: {MODES[chat.tests.mode]}")


def review_change(chat: Chat, which: str) -> None:
    from cli_guard.review.render import text
    from cli_guard.review.run import review_request

    review = review_request(
        Worktree() if which == "worktree" else Staged(), chat.host.now()
    )
    chat.display.say(text.render(review))


def show_diff(chat: Chat, _: str) -> None:
    paths = [each.text for each in chat.session.artefacts if each.kind == "file"]
    options = ("--no-color", "--no-ext-diff", "--no-textconv", "HEAD", "--")
    raw = chat.repository.at_top.run("diff", *options, *paths) if paths else b""
    chat.display.say(
        redact(raw.decode("utf-8", "replace"))
        or "nothing that this session wrote differs from HEAD"
    )


def undo_patch(chat: Chat, _: str) -> None:
    written = [
        each
        for each in chat.session.artefacts
        if each.kind == "approval" and "write_file" in each.text
    ]
    if not written:
        raise UsageError(
            "this session has written no patch; `cli-guard undo` reverts the last one of the work tree"
        )
    applied = undo(chat.repository, written[-1].about, chat.host.now())
    chat.session.artefacts.remove(written[-1])
    chat.undone.append({"paths": sorted(applied.left), "patch": applied.patch})
    chat.note = (
        f"[cli-guard: the person has reverted the patch of {', '.join(applied.left)}]"
    )
    chat.save()
    chat.display.say(f"reverted: {', '.join(applied.left)} (/redo writes it again)")


def redo_patch(chat: Chat, _: str) -> None:
    if not chat.undone:
        raise UsageError("nothing was reverted here: /undo reverts the last patch")
    with chat.display.busy(chat.keyboard):
        chat.write_again()
    chat.save()


def resume_session(chat: Chat, name: str) -> None:
    if not name:
        chat.display.say(list_sessions(chat.sessions))
        return
    chat.open(name)
    chat.display.say(
        f"session {chat.session.id}, {chat.session.turn} turns: {chat.session.task}"
    )


def leave(chat: Chat, _: str) -> None:
    raise EOFError


# What may follow the name (in lower case: these words alone), two blanks, and what the command does.
COMMANDS: dict[str, tuple[str, Callable[[Chat, str], None]]] = {
    "/help": ("  list the commands", show_help),
    "/model": ("[NAME|auto]  list the models, or use one for this session", choose_model),
    "/route": (
        "[auto|light|medium|heavy]  show the score of the last message, or set the tier",
        choose_route,
    ),
    "/cost": ("  show tokens and money: last call, turn, session, day", show_cost),
    "/compact": ("  summarise the older part of the session now", compact_session),
    "/context": (
        "  show the size of the session, and the map in its first message",
        show_context,
    ),
    "/clear": ("  begin a new session; this one stays stored", clear_session),
    "/allow-all": (
        "[off]  approve all that needs approval, for now; a deny stays a deny",
        allow_all,
    ),
    "/test": (
        "[ask|on|off]  run the covering tests after a written patch: ask each time, at once in a trusted tree, never",
        choose_tests,
    ),
    "/review": ("[staged|worktree]  review a change as the hook does", review_change),
    "/diff": (
        "  show what differs from HEAD in the files that this session wrote",
        show_diff,
    ),
    "/undo": ("  revert the last patch of this session", undo_patch),
    "/redo": ("  write the last reverted patch again, after a new approval", redo_patch),
    "/resume": ("[ID]  list the stored sessions, or go on with one", resume_session),
    "/exit": ("  leave; so does Ctrl-D", leave),
}


def list_sessions(sessions: Sessions) -> str:
    """Return the stored sessions, last saved first, a line each."""
    found, problems = sessions.list_all()
    lines = [f"{each.id}  {each.at}  {each.turn} turns: {each.task}" for each in found]
    return (
        printable("\n".join((*lines, *problems)), keep_newlines=True)
        or "no session is stored"
    )


def run_chat(host: Host, config: ModelSection, resume: str | None, model: str) -> None:
    """Hold a chat until the person leaves; `resume` is the beginning of a session's id, "" the last one.

    Raises CliGuardError if it cannot begin.
    """
    display = Display(host.stdout, host.env, colored=host.colored)
    keyboard = Keyboard(
        host.stdin, host.stdout, host.env, lambda: (*COMMANDS, *chat.paths())
    )
    chat = Chat(host, config, display, keyboard, model)
    if resume == "":
        resume = next((each.id for each in chat.sessions.list_all()[0]), "")
        if not resume:
            raise UsageError("no session is stored: begin one with `cli-guard chat`")
    chat.open(resume or "")
    display.say(
        f"cli-guard chat, session {chat.session.id}: {chat.session.task or 'a new one'}; /help, /exit"
    )
    try:
        take_lines(chat)
    finally:
        chat.stack.close()
    if chat.session.turn:
        display.say(
            f"session {chat.session.id} is stored: cli-guard chat --resume {chat.session.id}"
        )


def take_lines(chat: Chat) -> None:
    """Take lines until the person leaves: /exit, Ctrl-D, or Ctrl-C twice."""
    stopped = 0
    while stopped < 2:
        try:
            if queued := bool(chat.keyboard.queue):
                chat.display.say(f"> {chat.keyboard.queue[0]}")
            line = chat.keyboard.read(
                "[allow-all] " if chat.permission.allow_all else ""
            ).strip()
            stopped = 0
            if queued and line == "/allow-all":
                raise UsageError(
                    "/allow-all may be in a pasted text when it is queued: type it at the prompt"
                )
            if line.startswith("/"):
                run_command(chat, line)
            elif line:
                chat.turn(line)
        except KeyboardInterrupt:
            stopped += 1
            chat.display.say("press Ctrl-C again to leave" if stopped < 2 else "")
        except EOFError:
            return
        except (CliGuardError, OSError) as error:
            chat.display.say(str(error))

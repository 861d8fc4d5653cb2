"""Forged signatures: their envelope, their namespace, and the presence that a security key claims."""

import base64
import hashlib
import struct
import textwrap

from authenticators import ed25519_sign, expand_seed, pack, sshsig, unpack
from forging.table import forgery
from forging.world import (
    ADA,
    ADA_MAIL,
    MALLORY,
    NAMESPACE,
    TOUCH,
    VERIFIED,
    World,
    canonical,
    envelope,
    security_key,
    signed,
    signer,
)

BEGIN = "-----BEGIN SSH SIGNATURE-----"
END = "-----END SSH SIGNATURE-----"


def armored(blob: bytes) -> str:
    return "\n".join([BEGIN, *textwrap.wrap(base64.b64encode(blob).decode(), 70), END, ""])


def dearmored(text: str) -> bytes:
    return base64.b64decode("".join(text.splitlines()[1:-1]))


def assembled(
    public: bytes,
    signature: bytes,
    *,
    namespace: str = NAMESPACE,
    hash_name: str = "sha512",
    reserved: bytes = b"",
    version: int = 1,
    tail: bytes = b"",
) -> str:
    """An armored signature of any parts (OpenSSH PROTOCOL.sshsig)."""
    head = (
        b"SSHSIG"
        + struct.pack(">I", version)
        + pack(public, namespace, reserved, hash_name)
    )
    return armored(head + pack(signature) + tail)


def to_sign(
    payload: str, *, namespace: str = NAMESPACE, hash_name: str = "sha512"
) -> bytes:
    """What the key signs for a payload."""
    digest = hashlib.new(hash_name, payload.encode()).digest()
    return b"SSHSIG" + pack(namespace, b"", hash_name) + pack(digest)


def with_flags(armor: str, flags: int, counter: int | None = None) -> str:
    """The signature of a security key, with other flags than it signed."""
    blob = dearmored(armor)
    end = blob[-4:] if counter is None else struct.pack(">I", counter)
    return armored(blob[:-5] + bytes([flags]) + end)


def prepared(world: World, policy: str = "") -> str:
    """Commit the risky change; return the payload that Ada would sign."""
    if policy:
        world.set_policy(policy)
    return canonical(world.change())


@forgery("does not count", at_hook=True, codes=(3,))
def a_signature_of_another_namespace(world: World) -> None:
    payload = prepared(world)
    for namespace in (
        "git",
        "file",
        "cli-guard-trust@v1",
        "cli-guard-approval@v2",
        NAMESPACE.upper(),
        "*",
        f"{NAMESPACE},git",
    ):
        world.note(signed(payload, ADA, namespace))


@forgery(at_hook=True, codes=(2, 3))
def a_file_signature_where_the_signer_may_sign_anything(world: World) -> None:
    """As in a signers file that was copied from Git's own: no line names a namespace."""
    world.set_signers(signer(ADA_MAIL, ADA, ""))
    payload = prepared(world)
    for namespace in ("file", "git"):
        world.note(signed(payload, ADA, namespace))


@forgery(at_hook=True, codes=(2, 3))
def the_signature_of_a_git_commit(world: World) -> None:
    """A commit that Ada signed for Git, under the statement."""
    world.set_signers(signer(ADA_MAIL, ADA, ""))
    payload = prepared(world)
    key = world.key_file("ada")
    world.repo.git(
        "-c",
        "gpg.format=ssh",
        "-c",
        f"user.signingkey={key}",
        "commit",
        "-q",
        "--amend",
        "-S",
        "-m",
        payload,
    )
    text = world.repo.git("cat-file", "-p", "HEAD")
    armor = text[text.index(BEGIN) : text.index(END) + len(END)].replace("\n ", "\n")
    world.note(envelope(payload, f"{armor}\n"))
    world.note(envelope(text, f"{armor}\n"))


@forgery("does not count", at_hook=True, codes=(3,))
def a_namespace_in_the_envelope_that_was_not_signed(world: World) -> None:
    payload = prepared(world)
    signature = ADA.sign(to_sign(payload, namespace="file"))
    world.note(envelope(payload, assembled(ADA.blob, signature)))


@forgery("does not count", at_hook=True, codes=(3,))
def a_hash_that_is_weak_or_not_the_signed_one(world: World) -> None:
    payload = prepared(world)
    for signed_hash, named in (
        ("sha1", "sha1"),
        ("md5", "md5"),
        ("sha256", "sha512"),
        ("sha512", "sha256"),
        ("sha512", ""),
    ):
        signature = ADA.sign(to_sign(payload, hash_name=signed_hash))
        world.note(envelope(payload, assembled(ADA.blob, signature, hash_name=named)))


@forgery("does not count", at_hook=True, codes=(3,))
def the_public_key_of_ada_and_the_signature_of_mallory(world: World) -> None:
    payload = prepared(world)
    world.note(envelope(payload, assembled(ADA.blob, MALLORY.sign(to_sign(payload)))))
    world.note(envelope(payload, assembled(MALLORY.blob, ADA.sign(to_sign(payload)))))


@forgery("does not count", at_hook=True, codes=(3,))
def the_signature_of_zeros(world: World) -> None:
    """The neutral point with the scalar 0: good for a verifier that takes a weak public key."""
    payload = prepared(world)
    weak = b"\1" + bytes(31)
    for public in (ADA.blob, pack("ssh-ed25519", weak), pack("ssh-ed25519", bytes(32))):
        for signature in (bytes(64), weak + bytes(32)):
            world.note(envelope(payload, assembled(public, pack("ssh-ed25519", signature))))


@forgery("does not count", at_hook=True, codes=(3,))
def two_signatures_in_one_line(world: World) -> None:
    """A reader takes the first, another the last."""
    payload = prepared(world)
    other = sshsig(ADA, b"something else", NAMESPACE)
    mallory = sshsig(MALLORY, payload.encode(), NAMESPACE)
    for text in (
        f"{mallory}{other}",
        f"{other}{mallory}",
        mallory.replace(END, "") + other.replace(BEGIN, ""),
    ):
        world.note(envelope(payload, text))


@forgery("", at_hook=True, codes=(3,))
def a_security_key_signature_behind_that_of_a_plain_key(world: World) -> None:
    """The first is good and says nothing of a touch; the second says so and is not good."""
    payload = prepared(world, TOUCH)
    plain = sshsig(ADA, payload.encode(), NAMESPACE)
    touched = sshsig(security_key(0x05), b"something else", NAMESPACE)
    no_touch = sshsig(security_key(0x00), payload.encode(), NAMESPACE)
    for text in (
        f"{plain}{touched}",
        f"{touched}{plain}",
        f"{no_touch}{touched}",
        f"{touched}{no_touch}",
        f"{no_touch}\n\n{touched}",
        f"x\n{no_touch}",
        f"{no_touch.replace(END, END + touched)}",
    ):
        world.note(envelope(payload, text))


@forgery("", at_hook=True, codes=(3,))
def a_tail_that_says_touched(world: World) -> None:
    """Bytes behind the signature of a key that was not touched: within it, behind it, and behind the armor."""
    payload = prepared(world, TOUCH)
    plain = ADA.sign(to_sign(payload))
    key = security_key(0x00)
    silent = key.sign(to_sign(payload))
    state = b"\x05\0\0\0\1"
    for text in (
        assembled(ADA.blob, plain + state),
        assembled(ADA.blob, plain, tail=state),
        assembled(key.blob, silent + state),
        assembled(key.blob, silent, tail=state),
        assembled(key.blob, silent, tail=pack(silent[:-5] + state)),
        assembled(key.blob, silent, reserved=state),
    ):
        world.note(envelope(payload, text))


@forgery("", at_hook=True, codes=(3,))
def an_untouched_security_key_where_policy_wants_a_touch(world: World) -> None:
    payload = prepared(world, TOUCH)
    for flags in (0x00, 0x02, 0x04, 0x80, 0xC0, 0xFE):
        world.note(signed(payload, security_key(flags)))


@forgery("", at_hook=True, codes=(3,))
def a_touch_where_policy_wants_a_pin(world: World) -> None:
    payload = prepared(world, VERIFIED)
    for flags in (0x00, 0x01, 0x04, 0x41, 0x81, 0xF3, 0xFA):
        world.note(signed(payload, security_key(flags)))


@forgery("does not count", at_hook=True, codes=(3,))
def flags_changed_after_signing(world: World) -> None:
    payload = prepared(world, TOUCH)
    for flags, claimed in ((0x00, 0x01), (0x00, 0x05), (0x04, 0x05)):
        armor = sshsig(security_key(flags), payload.encode(), NAMESPACE)
        world.note(envelope(payload, with_flags(armor, claimed)))


@forgery("does not count", at_hook=True, codes=(3,))
def a_counter_changed_after_signing(world: World) -> None:
    payload = prepared(world, TOUCH)
    for counter in (0, 2, 2**32 - 1):
        armor = sshsig(security_key(0x01), payload.encode(), NAMESPACE)
        world.note(envelope(payload, with_flags(armor, 0x01, counter)))


@forgery("", at_hook=True, codes=(3,))
def a_plain_key_where_policy_wants_a_touch(world: World) -> None:
    world.note(signed(prepared(world, TOUCH), ADA))


@forgery("does not count", at_hook=True, codes=(3,))
def a_plain_key_that_says_it_is_a_security_key(world: World) -> None:
    """The public key of Ada's plain key in the form of a security key, and the other way round."""
    payload = prepared(world, TOUCH)
    public = expand_seed(ADA.seed)[2]
    sk_type = "sk-ssh-ed25519@openssh.com"
    state = b"\x05\0\0\0\1"
    claimed = pack(sk_type, public, "ssh:")
    message = to_sign(payload)
    inner = hashlib.sha256(b"ssh:").digest() + state + hashlib.sha256(message).digest()
    as_device = pack(sk_type, ed25519_sign(ADA.seed, inner)) + state
    for blob, signature in (
        (claimed, as_device),
        (ADA.blob, as_device),
        (claimed, ADA.sign(message)),
        (ADA.blob, pack(sk_type, ed25519_sign(ADA.seed, message)) + state),
        (ADA.blob, pack("ssh-ed25519", ed25519_sign(ADA.seed, message)) + state),
    ):
        world.note(envelope(payload, assembled(blob, signature)))


@forgery("does not count", at_hook=True, codes=(3,))
def the_seed_of_a_security_key_for_another_application(world: World) -> None:
    payload = prepared(world, TOUCH)
    for application in ("ssh:other", "", "SSH:", "ssh:\0"):
        key = security_key(0x05)
        key.application = application
        world.note(signed(payload, key))
        # The envelope names the enrolled key, the signature was made for another application.
        world.note(
            envelope(payload, assembled(security_key().blob, key.sign(to_sign(payload))))
        )


@forgery("does not count", at_hook=True, codes=(3,))
def a_security_key_that_nobody_enrolled(world: World) -> None:
    payload = prepared(world, TOUCH)
    world.note(signed(payload, security_key(0x05, of="mallory")))


@forgery("does not count", at_hook=True, codes=(3,))
def lengths_that_reach_beyond_the_end(world: World) -> None:
    payload = prepared(world, TOUCH)
    whole = dearmored(sshsig(security_key(0x05), payload.encode(), NAMESPACE))
    name, rest = unpack(whole[10:])
    for blob in (
        whole[:6] + b"\xff\xff\xff\xff" + whole[10:],
        whole[:10] + b"\xff\xff\xff\xff" + rest,
        whole[:10] + b"\0\0\0\0" + rest,
        whole[:10] + pack(name[:3]) + rest,
        whole[:-1],
        whole[:40],
        whole[:6],
        b"",
        b"SSHSIG",
    ):
        world.note(envelope(payload, armored(blob)))


@forgery("", at_hook=True, codes=(3,))
def armor_that_readers_take_apart_differently(world: World) -> None:
    """What one base64 reader skips and another does not, around the bytes that hold the flags."""
    payload = prepared(world, TOUCH)
    silent = sshsig(security_key(0x00), payload.encode(), NAMESPACE)
    body = "".join(silent.splitlines()[1:-1])
    lying = base64.b64encode(dearmored(silent)[:-5] + b"\x05\0\0\0\1").decode()
    for text in (
        f"{BEGIN}\n{body}\n{lying}\n{END}\n",
        f"{BEGIN}\n{body}=\n{lying}\n{END}\n",
        f"{BEGIN}\n{body}\n{END}\n{lying}\n{END}\n",
        f"{BEGIN}\n{body}\n{END} \n{lying}\n{END}\n",
        f"{BEGIN}\n{BEGIN}\n{body}\n{END}\n",
        f"{BEGIN} \n{lying}\n{END}\n{BEGIN}\n{body}\n{END}\n",
        f"{BEGIN}\n{body[:-8]}\0{body[-8:]}\n{END}\n",
        f"{BEGIN}\n{body[:-4]}-_{body[-4:]}\n{END}\n",
    ):
        world.note(envelope(payload, text))

"""What the functions of Ruby and of its standard library do."""

from collections.abc import Callable

from cli_guard.commands.inline.code import Node
from cli_guard.commands.inline.language import (
    Calling,
    Handler,
    Language,
    about,
    both,
    does,
    gives,
    is_object,
    made,
    note_open,
    note_shell,
    note_words,
    odd,
    runs_code,
    runs_shell,
    same,
    sends,
    table,
    talks,
)
from cli_guard.commands.inline.model import Act, shell, unknown
from cli_guard.commands.inline.names import variable
from cli_guard.commands.inline.values import (
    ANY,
    MADE,
    Data,
    Defined,
    Literal,
    Reference,
    Sequence,
    Value,
    Values,
    as_text,
    path_of,
    taint,
)
from cli_guard.commands.model import Kind

FILE: Values = (Data(local=True),)
PLAIN = frozenset("exception out err in".split())
HARMLESS = frozenset(
    """puts print p pp printf putc format sprintf gets readline readlines loop raise Integer Float String Array Hash
    Rational Complex rand srand sleep exit exit! abort lambda proc catch throw block_given? warn attr_accessor
    attr_reader attr_writer private public protected include extend at_exit caller __method__ caller_locations
    gsub sub chomp chop split private_constant module_function freeze frozen? nil? inspect to_s
    Math Comparable Enumerable Struct Set JSON Date DateTime Time Digest Base64 SecureRandom URI Random Regexp Range
    Symbol Proc Process.pid Process.clock_gettime Process::CLOCK_MONOTONIC RbConfig RUBY_VERSION RUBY_PLATFORM
    RUBY_ENGINE RUBY_PATCHLEVEL RUBY_DESCRIPTION RUBY_RELEASE_DATE ARGV ARGF STDIN STDOUT STDERR Encoding Benchmark
    StringIO Shellwords Zlib.Inflate Zlib.Deflate Zlib.crc32 Zlib.gunzip Zlib.gzip
    BigDecimal OpenStruct OptionParser Numeric NilClass TrueClass FalseClass Exception
    StandardError RuntimeError ArgumentError TypeError NameError KeyError IndexError IOError Errno ZeroDivisionError
    NoMethodError StopIteration LoadError SystemExit Interrupt Gem.Version Gem.ruby_version Data Etc Prime Matrix
    Timeout Data Kernel.puts Kernel.format Kernel.rand Kernel.Integer Kernel.Float YAML.safe_load YAML.dump
    Psych.safe_load CSV.parse CSV.parse_line CSV.generate CSV.new Object.new Class.new Module.new Abbrev Ripper
    File.join File.basename File.dirname File.extname File.exist? File.file? File.directory? File.expand_path
    File.size File.stat File.mtime File.ctime File.atime File.readable? File.writable? File.executable? File.zero?
    File.symlink? File.absolute_path File.split File.fnmatch File.fnmatch? File.realpath File.lstat File.ftype File
    File.SEPARATOR File.size? File.extname Dir.pwd Dir.exist? Dir.home IO.console Time.now Etc.getlogin""".split()
)
REQUIRED = frozenset(
    """json set time date csv yaml psych digest digest/md5 digest/sha1 digest/sha2 base64 securerandom pp open3 open-uri
    fileutils tempfile tmpdir net/http net/https net/smtp uri socket optparse ostruct stringio shellwords benchmark erb
    zlib English bigdecimal bigdecimal/util forwardable singleton observer pathname find etc openssl timeout logger
    io/console prime matrix rbconfig strscan tsort abbrev delegate ripper pty weakref monitor""".split()
)
MODULES = frozenset(
    """File Dir IO FileUtils Kernel Net URI Open3 Process Socket TCPSocket UDPSocket TCPServer Object ENV YAML CSV
    Pathname Marshal Tempfile Gem Psych PTY Signal Module Class""".split()
)
ODD = frozenset(
    """send __send__ public_send method public_method instance_method singleton_method instance_eval class_eval
    module_eval instance_exec class_exec module_exec const_get eval binding define_method define_singleton_method
    instance_variable_set const_set remove_method undef_method alias_method system exec spawn fork syscall load
    require require_relative autoload to_proc refine prepend singleton_class class_variable_set trap reopen
    ObjectSpace""".split()
)


def path_or_pipe(kind: Kind, place: int = 0) -> Handler:
    """A function that takes a path, where one that begins with `|` is a command."""

    def handler(calling: Calling) -> Values:
        for text in calling.texts(calling.given(place)):
            calling.note(shell(text[1:].strip()) if text and text.startswith("|") else Act(kind, text))
        return FILE

    return handler


def opened(calling: Calling) -> Values:
    """`open("x", "w")`, also an address and `|command`."""
    for value in calling.given(0) or ANY:
        text = as_text(value)
        if text is not None and text.startswith("|"):
            calling.note(shell(text[1:].strip()))
        elif text is not None and "://" in text[:10]:
            return talks()(calling)
        else:
            modes = [mode for mode in calling.given(1, "mode") if not isinstance(mode, Defined)]
            for mode in calling.texts(tuple(modes or [Literal("r")])):
                note_open(calling, (value,), mode)
            if text is None and calling.function.name in ("open", "IO.read"):
                calling.note(unknown("opens what the text does not tell, maybe a command"))
    return FILE


def runs(calling: Calling) -> Values:
    """`system("a b")` is for a shell, `system("a", "b")` is not."""
    arguments = [values[0] if len(values) == 1 else taint(values) for values in calling.arguments]
    environment = [value for value in arguments[:1] if isinstance(value, Data) and len(arguments) > 1]
    if environment or set(calling.named) - PLAIN:
        calling.note(unknown("starts a process with its own environment, folder or streams"))
    words = arguments[len(environment) :]
    if len(words) == 1:
        for value in calling.arguments[-1]:
            note_words(calling, value) if isinstance(value, Sequence) else note_shell(calling, [value])
    else:
        note_words(calling, Sequence(tuple(words)))
    return FILE


def sent(calling: Calling) -> Values:
    """`send(:system, "x")`."""
    found: list[Value] = []
    for name in calling.texts(calling.given(0)):
        if name is None:
            calling.note(unknown("calls a method that the text does not name"))
        else:
            found.extend(calling.run.invoke(Reference(full_name(name)), calling.arguments[1:], calling.named))
    return tuple(found) or ANY


def method_named(calling: Calling) -> Values:
    """`method(:system)`."""
    names = calling.texts(calling.given(0))
    return tuple(Reference(full_name(name)) if name is not None else Data() for name in names)


def variable_of(calling: Calling) -> Values:
    """`ENV.fetch("HOME")`."""
    found: list[Value] = []
    for name in calling.texts(calling.given(0)):
        calling.note(*variable(name))
        found.append(Literal("~") if name == "HOME" else Data(local=True))
    return tuple(found)


def required(calling: Calling) -> Values:
    """`require "json"`."""
    for name in calling.texts(calling.given(0)):
        if name not in REQUIRED or calling.function.name != "require":
            calling.note(Act(Kind.EXEC, name, f"loads {(name or 'code')[:60]}, which runs"))
    return ANY


def joined_path(calling: Calling) -> Values:
    """`File.join("a", "b")`."""
    values = [each[0] for each in calling.arguments if len(each) == 1]
    return (path_of(values) if len(values) == len(calling.arguments) else taint(calling.everything()),)


def each_of(kind: Kind, reason: str = "") -> Handler:
    """A function that takes one path or a list of them."""

    def handler(calling: Calling) -> Values:
        for values in calling.arguments or [ANY]:
            for value in values:
                for part in value.parts if isinstance(value, Sequence) else (value,):
                    calling.note(Act(kind, as_text(part), reason))
        return ANY

    return handler


def under(module: str, names: str) -> str:
    """The functions of a module."""
    return " ".join(f"{module}.{name}" for name in names.split())


MOVES = both(does(Kind.DELETE, 0, reason="is moved away"), does(Kind.WRITE, 1))
CALLS = table(
    {
        "system exec spawn Process.spawn Process.exec IO.popen": runs,
        under("Open3", "capture2 capture2e capture3 popen2 popen2e popen3 pipeline"): runs,
        "`": runs_shell(),
        "PTY.spawn": runs,
        "eval instance_eval class_eval module_eval": runs_code(),
        "send __send__ public_send": sent,
        "method": method_named,
        "require require_relative load autoload": required,
        "binding define_method ObjectSpace trap Signal.trap syscall": odd("reaches into the interpreter"),
        "fork Process.fork Process.daemon": does(Kind.PROCESS, -1, reason="starts a process"),
        "Logger.new": does(Kind.WRITE),
        "Process.kill": does(Kind.PROCESS, -1),
        under("Process", "setuid setgid Sys.setuid UID.change_privilege euid="): does(Kind.PRIVILEGE, -1),
        "open File.open File.new IO.open": opened,
        under("IO", "read readlines foreach binread"): path_or_pipe(Kind.READ),
        under("File", "read readlines foreach binread readlink"): path_or_pipe(Kind.READ),
        under("CSV", "read foreach table open") + " YAML.load_file JSON.load_file YAML.safe_load_file": does(
            Kind.READ, result=FILE
        ),
        under("Dir", "glob entries children each_child foreach []"): does(Kind.READ, result=FILE),
        under("File", "write binwrite truncate mkfifo utime") + " IO.write IO.binwrite Dir.mkdir": does(
            Kind.WRITE
        ),
        under("File", "delete unlink"): each_of(Kind.DELETE),
        under("Dir", "rmdir delete unlink"): does(Kind.DELETE),
        "File.rename FileUtils.mv FileUtils.move": MOVES,
        under("File", "symlink link") + " " + under("FileUtils", "ln ln_s ln_sf"): does(Kind.WRITE, 1),
        under("File", "chmod chown lchmod"): does(Kind.WRITE, 1),
        under(
            "FileUtils",
            "rm rm_f rm_r rm_rf rmtree remove remove_dir remove_entry rmdir remove_file safe_unlink",
        ): (each_of(Kind.DELETE)),
        under("FileUtils", "cp cp_r copy copy_file install"): both(does(Kind.READ), does(Kind.WRITE, 1)),
        under("FileUtils", "mkdir mkdir_p makedirs touch"): each_of(Kind.WRITE),
        under("FileUtils", "chmod chmod_R"): does(Kind.WRITE, 1),
        under("FileUtils", "chown chown_R"): does(Kind.WRITE, 2),
        "FileUtils.pwd Dir.pwd Dir.getwd": gives(Literal(".")),
        "FileUtils.cd Dir.chdir Dir.chroot FileUtils.chdir": odd("goes to another folder"),
        under("Tempfile", "new create open") + " Dir.mktmpdir": does(
            Kind.WRITE, -1, reason="makes a temporary file"
        ),
        "File.join": joined_path,
        "File.expand_path File.absolute_path": same(),
        "Dir.home": gives(Literal("~")),
        "ENV.fetch ENV.dig ENV.values_at ENV.slice": variable_of,
        "ENV.key? ENV.has_key? ENV.include?": gives(Data()),
        "URI URI.parse": same(),
        "URI.open OpenURI.open_uri": talks(),
        under("Net.HTTP", "get get_response get_print"): talks(),
        under("Net.HTTP", "post post_form start new put"): sends(),
        "Net.SMTP.start TCPSocket.new TCPSocket.open UDPSocket.new Socket.tcp Socket.new": sends(),
        "TCPServer.new TCPServer.open": sends(99),
        "Base64.decode64 Base64.strict_decode64 Base64.urlsafe_decode64": made(MADE["base64"]),
        "Marshal.load YAML.load YAML.unsafe_load Psych.load": lambda calling: calling.run.code(
            (taint(calling.everything()),), "loads objects: the data can hold code"
        ),
        "Pathname Pathname.new": is_object("Pathname()"),
        under("Pathname()", "read readlines binread each_line children glob entries"): about(
            Kind.READ, result=FILE
        ),
        under("Pathname()", "write binwrite mkpath mkdir open chmod rename"): about(Kind.WRITE),
        under("Pathname()", "delete unlink rmtree rmdir"): about(Kind.DELETE),
    }
)
METHODS = table(
    {
        "unlink rmtree rmdir": does(Kind.DELETE, -1),
        "mkpath binwrite": does(Kind.WRITE, -1),
        "popen capture2 capture3": runs,
    }
)


def full_name(name: str) -> str:
    """One name for each function: without `Kernel`, `::` and `call`."""
    name = name.removeprefix("Kernel.").removeprefix("Object.").replace("::", ".")
    own = name.removesuffix(".call").removesuffix(".()")
    last = name.rpartition(".")[2]
    return own if own in CALLS else last if last in ("send", "__send__", "public_send", "method") else name


def harmless(name: str) -> bool:
    """Can this name be called and handed on without harm?"""
    if name in CALLS:
        return name in HARMLESS or name in ("URI", "URI.parse")
    parts = name.split(".")
    if parts[0] in ("File", "Process", "Dir", "Kernel", "IO", "YAML", "CSV", "Psych", "Gem"):
        return ".".join(parts[:2]) in HARMLESS
    return any(".".join(parts[: i + 1]) in HARMLESS for i in range(min(len(parts), 3))) or name.startswith(
        "Pathname()"
    )


def language(read: Callable[[str], Node]) -> Language:
    """Ruby, with the function that reads its text."""
    return Language(
        read=read,
        calls=CALLS,
        harmless=harmless,
        modules=MODULES,
        methods=METHODS,
        odd_member=ODD.__contains__,
        variable=lambda name: name.startswith(("$", "@")),
        same=full_name,
        environment=frozenset(("ENV",)),
        takes_functions=frozenset(("send", "__send__", "public_send")),
    )

"""What the functions of PHP do."""

import re
from collections.abc import Callable

from cli_guard.commands.inline.code import Node
from cli_guard.commands.inline.language import (
    Calling,
    Handler,
    Language,
    both,
    does,
    made,
    note_open,
    note_words,
    odd,
    runs_code,
    runs_shell,
    sends,
    table,
    talks,
)
from cli_guard.commands.inline.model import Act, unknown
from cli_guard.commands.inline.names import environment, variable
from cli_guard.commands.inline.values import (
    ANY,
    MADE,
    METHODS,
    Data,
    Literal,
    Reference,
    Sequence,
    Value,
    Values,
    as_text,
    taint,
)
from cli_guard.commands.model import Kind

FILE: Values = (Data(local=True),)
# Functions that call another one by its name.
CALLBACKS = re.compile(
    r"_u(?!nique|nshift)|callback|ereg|send_mail|_find|_any|_all\Z|_walk|_map|_filter|_reduce"
)
PREFIXES = (
    "str_",
    "array_",
    "preg_",
    "mb_",
    "ctype_",
    "is_",
    "json_",
    "date_",
    "bc",
    "gmp_",
    "iconv_",
    "hash_",
    "cal_",
)
HARMLESS = frozenset(
    """strlen strtolower strtoupper ucfirst ucwords lcfirst trim ltrim rtrim chop strrev strpos stripos strrpos strstr
    stristr strrchr substr substr_count substr_replace implode join explode sprintf printf vsprintf vprintf fprintf
    number_format nl2br htmlspecialchars html_entity_decode htmlentities strip_tags addslashes stripslashes wordwrap
    chunk_split similar_text levenshtein soundex metaphone md5 sha1 crc32 hash hash_algos base64_encode base64_decode
    bin2hex hex2bin urlencode urldecode rawurlencode rawurldecode http_build_query parse_url uniqid random_int
    random_bytes rand mt_rand mt_srand abs ceil floor round sqrt pow exp log log10 max min intdiv fmod pi sin cos tan
    asin acos atan atan2 deg2rad rad2deg base_convert bindec decbin hexdec dechex octdec decoct intval floatval
    strval boolval count sizeof range compact in_array sort rsort asort arsort ksort krsort natsort shuffle current
    key next prev reset end each var_dump print_r var_export echo print date gmdate time mktime strtotime microtime
    hrtime checkdate idate getdate localtime strftime date_default_timezone_set date_default_timezone_get isset empty
    unset gettype get_debug_type serialize spl_object_id func_get_args func_num_args php_uname phpversion php_sapi_name
    php_ini_loaded_file php_ini_scanned_files extension_loaded get_loaded_extensions get_extension_funcs ini_get
    memory_get_usage memory_get_peak_usage sys_get_temp_dir getcwd gethostname getmypid get_current_user zend_version
    version_compare function_exists class_exists method_exists property_exists defined constant define error_reporting
    set_time_limit exit die sleep usleep trigger_error debug_zval_refcount basename dirname pathinfo
    file_exists is_file is_dir is_readable is_writable filesize filemtime filectime fileatime realpath fnmatch fgets
    fgetc fread feof fclose ftell fseek rewind fgetcsv fscanf stream_get_contents stream_get_line readline
    fwrite fputs fputcsv fflush nl_langinfo setlocale localeconv ord chr ucwords nl2br strcmp strcasecmp strncmp
    strncasecmp strnatcmp strnatcasecmp str lcg_value array list fdiv iterator_to_array spl_autoload_functions
    strtr strspn strcspn strpbrk vfprintf money_format utf8_encode utf8_decode pack unpack ip2long long2ip
    opcache_get_status get_object_vars get_class get_parent_class ob_get_clean ob_end_clean php_strip_whitespace
    stream_isatty posix_isatty posix_getpid posix_getuid gc_collect_cycles password_hash password_verify
    new datetime new datetimeimmutable new datetimezone new dateinterval new dateperiod
    new exception new stdclass new runtimeexception new invalidargumentexception
    new numberformatter datetime datetimeimmutable""".replace("new ", "new_").split()
)
CHANGING = """preg_match preg_match_all extract parse_str settype sscanf array_push array_unshift array_splice
array_pop array_shift array_multisort mb_parse_str getopt array_walk similar_text sort rsort usort uasort uksort shuffle
ksort asort end reset next"""
STREAMS = ("php://stdin", "php://stdout", "php://stderr", "php://output", "php://memory", "php://temp")
MOVES = both(does(Kind.DELETE, 0, reason="is moved away"), does(Kind.WRITE, 1))


def url_or_file(kind: Kind) -> Handler:
    """A function that takes a path or an address."""

    def handler(calling: Calling) -> Values:
        for value in calling.given(0) or ANY:
            text = as_text(value)
            if text is not None and text.startswith(("http:", "https:", "ftp:", "ftps:", "ssh2.")):
                local = taint(calling.everything()).local or kind is Kind.WRITE
                calling.note(Act(Kind.NETWORK_OUT if local else Kind.NETWORK_IN, text))
                return (Data(remote=True),)
            if text is not None and "://" in text and not text.startswith(STREAMS):
                calling.note(unknown(f"opens {text[:40]}"))
            elif text is None and taint([value]).local:
                calling.note(Act(Kind.NETWORK_OUT, None, "maybe an address that is made of a file"))
            elif text is None or not text.startswith(STREAMS):
                note_open(calling, (value,), "w" if kind is Kind.WRITE else "r")
        return FILE

    return handler


def opened(calling: Calling) -> Values:
    """`fopen("x", "w")`."""
    modes = calling.texts(calling.given(1) or (Literal("r"),))
    reads = all(mode is not None and not set(mode) & set("wax+c") for mode in modes)
    return url_or_file(Kind.READ if reads else Kind.WRITE)(calling)


def variable_of(calling: Calling) -> Values:
    """`getenv("HOME")`, or all of them."""
    if not calling.arguments:
        calling.note(environment())
        return FILE
    found: list[Value] = []
    for name in calling.texts(calling.given(0)):
        calling.note(*variable(name))
        found.append(Literal("~") if name == "HOME" else Data(local=True))
    return tuple(found)


def calls_back(place: int, first: int) -> Handler:
    """A function that calls the function it is given, by its name too; `first` is the place of its arguments."""

    def handler(calling: Calling) -> Values:
        given = calling.arguments[first:]
        elements = [calling.run.elements(values) for values in given]
        plain = calling.function.name == "call_user_func"
        results: list[Value] = []
        for function in calling.given(place):
            known = isinstance(function, Literal) and calling.run.known(str(function.value).lower())
            if isinstance(function, Data | Sequence) or (isinstance(function, Literal) and not known):
                calling.note(Act(Kind.UNKNOWN, None, "calls a function that the text does not name"))
            else:
                results.extend(calling.run.invoke(function, given if plain else elements, {}))
        calling.run.data(calling.everything())
        return (taint([*results, *calling.everything()]), *(v for v in results if isinstance(v, Reference)))

    return handler


def changes_argument(calling: Calling) -> Values:
    """A harmless function that gives its argument another value."""
    calling.run.mutates = True
    return (calling.run.data(calling.everything()),)


def joined(calling: Calling) -> Values:
    """`implode(" ", ["a", "b"])`."""
    values = [each[0] for each in calling.arguments if len(each) == 1]
    if len(values) == 2:
        made_text = calling.run.join(values[0], values[1:])
        return (made_text or taint(values),)
    return (taint(calling.everything()),)


def opened_process(calling: Calling) -> Values:
    """`proc_open`, which takes a line or a list."""
    for value in calling.given(0) or ANY:
        if isinstance(value, Sequence):
            note_words(calling, value)
        else:
            runs_shell()(calling)
    return FILE


def replaces_process(calling: Calling) -> Values:
    """`pcntl_exec("/bin/rm", ["-rf", "/"])`."""
    lists = [value for value in calling.given(1) if isinstance(value, Sequence)]
    for value in calling.given(0) or ANY:
        more = lists[0].parts if lists else (Data(),) if calling.given(1) else ()
        note_words(calling, Sequence((value, *more)))
    return FILE


def included(calling: Calling) -> Values:
    """`include "x.php"`."""
    for text in calling.texts(calling.given(0)):
        remote = (text or "").startswith(("http:", "https:", "ftp:"))
        calling.note(Act(Kind.EXEC, text, "runs another file", remote=remote))
    return ANY


def replaced(calling: Calling) -> Values:
    """`str_replace("a", "b", $text)`."""
    values = [each[0] for each in calling.arguments if len(each) == 1]
    texts = [as_text(value) for value in values]
    if len(texts) != 3 or None in texts or len(calling.arguments) != 3:
        return (taint(calling.everything()),)
    return (calling.run.method(values[2], "replace", [(values[0],), (values[1],)], {})[0],)


CALLS = table(
    {
        "system exec passthru shell_exec popen `": runs_shell(),
        "proc_open": opened_process,
        "pcntl_exec": replaces_process,
        "eval assert create_function": lambda calling: runs_code(calling.function.name == "create_function")(
            calling
        ),
        "include": included,
        "file_get_contents file readfile fopen_read show_source highlight_file parse_ini_file simplexml_load_file"
        " md5_file sha1_file hash_file getimagesize exif_read_data": url_or_file(Kind.READ),
        "file_put_contents": url_or_file(Kind.WRITE),
        "fopen gzopen bzopen": opened,
        "new_splfileobject": opened,
        "new_pdo mysqli_connect pg_connect new_mysqli new_sqlite3": sends(),
        "unlink rmdir": does(Kind.DELETE),
        "rename move_uploaded_file": MOVES,
        "copy": both(does(Kind.READ), does(Kind.WRITE, 1)),
        "symlink link": does(Kind.WRITE, 1),
        "mkdir touch chmod chown chgrp tempnam tmpfile ftruncate": does(Kind.WRITE),
        "scandir glob opendir dir readlink": does(Kind.READ, result=FILE),
        "error_log": lambda calling: does(Kind.WRITE, 2)(calling) if len(calling.arguments) > 1 else ANY,
        "getenv": variable_of,
        "phpinfo get_defined_vars": does(Kind.CREDENTIAL, -1, reason="shows the whole environment"),
        "putenv ini_set dl chdir chroot set_include_path spl_autoload_register extract": odd(
            "changes how PHP runs"
        ),
        "unserialize": lambda calling: calling.run.code(
            (taint(calling.everything()),), "the data can hold code"
        ),
        "curl_init": lambda calling: talks()(calling) if calling.arguments else (Data(remote=True),),
        "curl_setopt curl_setopt_array curl_exec fsockopen pfsockopen stream_socket_client stream_socket_server"
        " socket_connect socket_create mail ftp_connect ssh2_connect new_soapclient": sends(),
        "posix_kill": does(Kind.PROCESS, -1),
        "pcntl_fork": does(Kind.PROCESS, -1, reason="starts a process"),
        "posix_setuid posix_setgid posix_seteuid": does(Kind.PRIVILEGE, -1),
        "call_user_func": calls_back(0, 1),
        "call_user_func_array array_map register_shutdown_function forward_static_call": calls_back(0, 1),
        "array_walk usort uasort uksort array_filter array_reduce iterator_apply array_walk_recursive": calls_back(
            1, 0
        ),
        "preg_replace_callback": calls_back(1, 2),
        "ob_start set_error_handler set_exception_handler register_tick_function": calls_back(0, 9),
        CHANGING.replace("array_walk ", "")
        .replace("usort uasort uksort ", "")
        .replace("extract ", ""): changes_argument,
        "implode join": joined,
        "str_replace": replaced,
        "strrev": made(METHODS["strrev"]),
        "strtolower": made(METHODS["strtolower"]),
        "strtoupper": made(METHODS["strtoupper"]),
        "trim": made(METHODS["trim"]),
        "base64_decode": made(MADE["base64"]),
        "hex2bin": made(MADE["hex"]),
        "str_rot13": made(MADE["rot13"]),
        "chr": lambda calling: tuple(
            Literal(chr(v.value))
            if isinstance(v, Literal) and type(v.value) is int and 0 <= v.value < 256
            else Data()
            for v in calling.given(0)
        ),
    }
)
COMPUTING = frozenset(
    f"""{CHANGING} implode join str_replace strrev strtolower strtoupper trim chr base64_decode hex2bin
    str_rot13""".split()
) - {"extract"}


def harmless(name: str) -> bool:
    """Can this name be called and handed on without harm?"""
    own = name.split(".")[0]
    if name in CALLS:
        return name in COMPUTING and name not in ("array_walk", "usort", "uasort", "uksort")
    return own in HARMLESS or (own.startswith(PREFIXES) and not CALLBACKS.search(own))


def language(read: Callable[[str], Node]) -> Language:
    """PHP, with the function that reads its text."""
    return Language(
        read=read,
        calls=CALLS,
        harmless=harmless,
        methods=table({"query exec": odd("SQL or a command"), "execute": odd("SQL")}),
        variable=lambda name: name.startswith("$") and name not in ("$_ENV", "$_SERVER", "$GLOBALS"),
        same=lambda name: name.replace("new ", "new_"),
        environment=frozenset(("$_ENV", "$_SERVER", "$GLOBALS")),
        calls_by_text=True,
        takes_functions=frozenset(
            name for name, handler in CALLS.items() if "calls_back" in handler.__qualname__
        ),
    )

"""The names of Perl: functions that compute, functions with one effect, modules."""

from collections.abc import Mapping

from cli_guard.commands.model import Kind

HARMLESS = frozenset(
    """my our local state if elsif else unless while until for foreach last next redo return and or not xor x lt gt le
    ge eq ne cmp sub package BEGIN END INIT CHECK UNITCHECK given when default continue undef defined ref scalar
    wantarray print printf say chomp chop chr ord lc lcfirst uc ucfirst length index rindex substr sprintf join split
    reverse sort grep map keys values each exists delete push pop shift unshift splice abs atan2 cos exp hex int log
    oct rand sin sqrt srand pack unpack vec pos quotemeta study time times localtime gmtime die warn exit sleep caller
    bless binmode close closedir eof fileno getc read readline readdir rewinddir seek seekdir tell telldir stat lstat
    select flock sysread getppid getpwnam getpwuid getgrgid getgrnam getlogin prototype lock local __FILE__ __LINE__
    __PACKAGE__ __SUB__ fc a b _ tr y wait waitpid alarm formline sysseek
    sum sum0 min max minstr maxstr first any all none notall reduce reductions shuffle uniq uniqnum pairs pairkeys
    pairvalues pairmap product Dumper floor ceil fmod pow strftime mktime strtol strtod isatty DBL_MAX INT_MAX UINT_MAX
    decode_json encode_json from_json to_json md5_hex md5_base64 sha1_hex sha256_hex sha512_hex encode_base64
    decode_base64 encode decode encode_utf8 decode_utf8 is_utf8 basename dirname fileparse looks_like_number blessed
    reftype dualvar weaken timelocal timegm gettimeofday tv_interval usleep cwd getcwd carp croak confess cluck wrap
    fill strict warnings utf8 qw constant true false""".split()
)
MODULES = frozenset(
    """strict warnings utf8 feature integer bigint bignum bigrat bytes constant locale vars open overload sort
    POSIX List::Util List::MoreUtils Scalar::Util Data::Dumper Time::Local Time::HiRes Time::Piece JSON::PP
    MIME::Base64 Digest::MD5 Digest::SHA Encode Getopt::Long Getopt::Std File::Basename File::Spec
    File::Spec::Functions Cwd Math::BigInt Math::BigFloat Math::Trig Math::Complex Text::Wrap Text::ParseWords
    Text::Tabs Text::Abbrev Unicode::Normalize Unicode::UCD Carp Hash::Util Term::ANSIColor
    Config English diagnostics charnames Sys::Hostname Fcntl Errno experimental mro
    version""".split()
)
METHODS = frozenset(
    """new decode encode pretty canonical utf8 ascii latin1 allow_nonref relaxed indent Indent Sortkeys Terse Useqq
    Deepcopy Dump Maxdepth digest hexdigest b64digest add bstr bmul badd bpow strftime strptime epoch ymd hms mdy year
    mon mday hour min sec catfile catdir splitdir splitpath rel2abs abs2rel canonpath tmpdir join autoflush binmode
    decode_json bfac bmod is_prime numify bsqrt""".split()
)
# What each of their arguments from a place on is.
EFFECTS: Mapping[str, tuple[Kind, int]] = {
    **dict.fromkeys("unlink rmdir rmtree remove_tree".split(), (Kind.DELETE, 0)),
    **dict.fromkeys("mkdir mkpath make_path symlink link truncate dbmopen".split(), (Kind.WRITE, 0)),
    **dict.fromkeys("chmod rename copy move cp mv sysopen".split(), (Kind.WRITE, 1)),
    **dict.fromkeys("chown utime".split(), (Kind.WRITE, 2)),
    **dict.fromkeys("glob readlink".split(), (Kind.READ, 0)),
    "opendir": (Kind.READ, 1),
    **dict.fromkeys("kill fork setpgrp setpriority".split(), (Kind.PROCESS, 99)),
    **dict.fromkeys("socket connect bind listen send socketpair accept recv".split(), (Kind.NETWORK_OUT, 99)),
}
ODD = frozenset(
    """chdir chroot syscall ioctl fcntl tie untie goto dump format write readpipe evalbytes sysWrite syswrite import
    unimport AUTOLOAD DESTROY pipe shmread shmwrite msgsnd semop getpriority __END__ __DATA__""".split()
)

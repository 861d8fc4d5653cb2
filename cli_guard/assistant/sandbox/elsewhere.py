"""Programs that people have and this sandbox has not, each with what to use in its place."""

GIT = "there is no git here; read the history with: log, diff, show, blame, status"
RUN = "no program runs here; judge it with `cli-guard check-command COMMAND`, and run it yourself"
NETWORK = "there is no network here; fetch it yourself, or look in the files of the repository"
INSTALL = "nothing can be installed here; read what is declared (pyproject.toml, package.json, ...)"

PROGRAMS = (
    "python python3 node deno bun ruby perl php java go cargo rustc gcc clang cc make just cmake gradle mvn tox pytest"
    " ruff mypy docker podman kubectl helm terraform ansible sudo su systemctl vim vi nano emacs man top ps sqlite3"
    " psql mysql"
)
FETCHERS = "curl wget ssh scp sftp rsync nc ftp ping dig"
INSTALLERS = "pip pip3 uv poetry npm npx yarn pnpm apt apt-get brew gem"

ELSEWHERE = {
    **dict.fromkeys("git gh hg svn".split(), GIT),
    **dict.fromkeys(PROGRAMS.split(), RUN),
    **dict.fromkeys(FETCHERS.split(), NETWORK),
    **dict.fromkeys(INSTALLERS.split(), INSTALL),
    **dict.fromkeys(("ag", "ack"), "use grep -rn PATTERN ."),
    "fd": "use find . -name PATTERN",
    "bat": "use cat -n FILE",
    "open": "use see for an image, cat for text",
}

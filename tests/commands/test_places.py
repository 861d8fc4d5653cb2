"""What a path is: its one spelling, whole folders, devices, credentials, the guard's own files, and near misses."""

from examples import examples, near_misses, table

from cli_guard.commands import judge
from cli_guard.commands.effects.places import (
    PathClass,
    classify_path,
    classify_whole,
    is_credential,
    resolve_path,
)
from cli_guard.commands.model import Context
from cli_guard.model import Decision

ADA = Context(home="/home/ada")

# Each place with paths that it is, and paths that only look like it.
PLACES = {
    PathClass.SINK: (
        "/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/stdout /dev/stderr /dev/fd/2",
        "dev/null /dev/nullx /dev/null/x /dev/fd /dev/fd/x /dev/stdin /dev/fd/0",
    ),
    PathClass.SOCKET: (
        "/dev/tcp/x.example/80 /dev/udp/1.2.3.4/53",
        "dev/tcp/x/80 /dev/tcpx/80 /dev/tcp",
    ),
    PathClass.DISK: (
        "/dev/sda /dev/sda1 /dev/sd* /dev/sd? /dev/hda /dev/vda /dev/xvda /dev/nvme0n1 /dev/nvme0n1p1 "
        "/dev/mmcblk0 /dev/mapper/root /dev/dm-0 /dev/md0 /dev/loop0 /dev/disk0 /dev/rdisk0 "
        "/dev/disk/by-id/x /dev/sr0 /dev/mem /dev/kmem /dev/port /dev/* /dev/block/8:0",
        "dev/sda /dev/shm/x /dev/pts/0 /dev/ttyS0 /dev/input/mice /dev/memo",
    ),
    PathClass.KERNEL: (
        "/proc/sysrq-trigger /proc/sys/kernel/panic /proc/kcore /sys/kernel/debug/x /sys/power/state "
        "/sys/firmware/efi/efivars/x /sys/class/block/sda/size",
        "/proc/cpuinfo /proc/self/status /sys/class/net/eth0 proc/sysrq-trigger /proc/meminfo",
    ),
    PathClass.HOOKS: (
        ".git/hooks .git/hooks/pre-commit /work/.git/hooks/pre-push .git/modules/lib/hooks/x "
        ".git/worktrees/w/hooks .git/h* .git/hook[s] .git/cli-guard/state ~/r/.git/hooks/commit-msg",
        "git/hooks/pre-commit hooks/pre-commit .github/hooks/x .git/hooks.md x.git/hooks/y .gitx/hooks/a src/hooks",
    ),
    PathClass.GIT_CONFIG: (
        ".git/config .git/config.worktree ~/.gitconfig /work/.git/config ~/.config/git/config /etc/gitconfig",
        "git/config .git/config.txt .gitconfig.md config .github/config etc/gitconfig ~/.config/git/ignore",
    ),
    PathClass.REPOSITORY: (
        ".git /work/.git .git/objects .git/objects/ab/cd .git/refs/heads/main .git/HEAD .git/index .git/* "
        ".git/packed-refs .git/modules/lib/x",
        ".gitignore .github x.git git .git/description .gitmodules .git-blame-ignore-revs",
    ),
    PathClass.GUARD: (
        "cli-guard.toml cli-guard-baseline.json .cli-guard/x "
        ".pre-commit-config.yaml .pre-commit-config.yml .husky .husky/pre-commit .githooks/pre-push "
        "lefthook.yml .lefthook.yaml lefthook-local.toml .overcommit.yml .gitleaks.toml .secrets.baseline "
        "/usr/bin/cli-guard "
        "/x/site-packages/cli_guard/cli.py",
        "cli-guard.md my-cli-guard.toml docs/cli-guard.tomlx .pre-commit-hooks.yaml husky/pre-commit "
        ".claude/notes.json claude/settings.json lefthook.txt githooks/pre-push cli_guard/cli.py",
    ),
    PathClass.SETTINGS: (
        "~/.config/cli-guard/config.toml .claude/settings.json .claude/settings.local.json ~/.claude.json .mcp.json "
        "~/.codex/config.toml .cursor/mcp.json .gemini/settings.json ~/.config/opencode/opencode.json "
        ".github/hooks/cli-guard.json .github/copilot/settings.local.json ~/.copilot/settings.json "
        "~/.copilot/hooks/a.json .opencode/plugins/cli-guard.js .opencode/plugin/x.ts "
        "~/.config/opencode/plugins/x.js ~/.gemini/trusted_hooks.json",
        ".claude/notes.json claude/settings.json mcp.json .codex/notes.md .claude/agents/x.md "
        ".github/hooks.md .github/copilot/notes.md .copilot/logs/x opencode/plugins/x.js .opencode/plugins.md",
    ),
    PathClass.ACCESS: (
        "/etc/sudoers /etc/sudoers.d/app /etc/passwd /etc/shadow /etc/group /etc/ssh/sshd_config "
        "/etc/pam.d/su ~/.ssh/authorized_keys ~/.ssh/config ~/.ssh/rc /root/.ssh/authorized_keys2",
        "etc/passwd /etc/passwd.d/x ssh/authorized_keys ~/.ssh/known_hosts /etc/hostname /srv/etc/sudoers",
    ),
    PathClass.STARTUP: (
        "~/.bashrc ~/.profile ~/.zshrc ~/.zshenv ~/.bash_profile ~/.vimrc ~/.tmux.conf "
        "~/.config/fish/config.fish ~/.config/autostart/x.desktop ~/.config/systemd/user/x.service "
        "/etc/profile /etc/profile.d/x.sh /etc/crontab /etc/cron.d/x /etc/cron.daily/x "
        "/etc/systemd/system/x.service /etc/ld.so.preload /etc/rc.local /etc/init.d/x /lib/systemd/system/x "
        "/var/spool/cron/crontabs/ada /etc/udev/rules.d/9.rules ~/Library/LaunchAgents/x.plist "
        "lib/python3/site-packages/x.pth sitecustomize.py usercustomize.py",
        "bashrc docs/.bashrc.md ~/.bashrcs profile ~/.config/fishy/x etc/crontab x.pth.md custom.py "
        "sitecustomize.pyc ~/.vimrc.bak /etc/cronx",
    ),
    PathClass.SYSTEM_FILE: (
        "/etc/hostname /usr/bin/ls /bin/sh /boot/vmlinuz /lib/x.so /sbin/init /sys/class/net/eth0 "
        "/proc/self/status /usr/local/bin/x /Library/Fonts/x /System/x",
        "/tmp/x /var/tmp/x /home/ada/x /opt/app/x /srv/x etc/hostname usr/bin/ls /usrx/y ~/bin/x /var/log/app.log",
    ),
    PathClass.ORDINARY: (
        "README.md src/app.py ~/notes.txt /tmp/x a/b/c.git.txt * *.py src/* /data/x",
        "",
    ),
}
WHOLE = {
    PathClass.ROOT: ("/ /* /.* /** /?* C:\\ C:/ C:\\*", "/x . * ./* C C:x /tmp/*x"),
    PathClass.HOME: (
        "~ ~ada ~root ~/* ~/.* /home/ada /home/ada/* /Users/ada /root /root/*",
        "~/x ~/x/* /home/ada/x home/ada x~ ./~ /root/x /roots",
    ),
    PathClass.SYSTEM: (
        "/etc /etc/* /home/* /usr /usr/bin /usr/bin/* /bin /boot /dev /home /lib /opt /proc /srv /sys /var "
        "/var/lib /var/log /Users /System /Library /Applications /etc/ssh /etc/passwd /etc/fstab /etc/hosts "
        "/us? /e* /[eu]sr /nix",
        "/etcx /etc/hostname /usr/bin/ls /var/tmp /tmp /tmp/* etc ./etc /optx /data /var/lib/x /usr/share/x /mnt/etc",
    ),
}
CREDENTIALS = (
    ".env .env.local .env.production app.env .envrc .env* ~/.ssh ~/.ssh/id_rsa ~/.ssh/id_ed25519 ~/.ssh/* "
    "~/.ssh/work_key id_rsa id_ecdsa_sk ~/.aws ~/.aws/credentials ~/.aws/sso/cache/x.json ~/.kube/config "
    "~/.docker/config.json ~/.netrc ~/.pgpass ~/.my.cnf ~/.npmrc ~/.pypirc ~/.git-credentials "
    "~/.config/gh/hosts.yml ~/.config/gcloud/x ~/.azure/x ~/.gnupg/secring.gpg ~/.cargo/credentials.toml "
    "~/.m2/settings.xml ~/.vault-token ~/.password-store/x.gpg ~/.boto ~/.bash_history ~/.zsh_history "
    "server.key tls/server.pem x.p12 x.pfx x.jks x.kdbx x.ppk secrets.yml secret.json credentials.json "
    "credentials secrets service-account.json service_account_x.json terraform.tfstate "
    "terraform.tfstate.backup prod.tfvars wallet.dat key4.db logins.json cookies.sqlite /etc/shadow "
    "/etc/gshadow /etc/sudoers /etc/ssl/private/x.key /proc/self/environ /proc/1/environ /run/secrets/db "
    "/var/run/secrets/x /etc/ssh/ssh_host_rsa_key /etc/kubernetes/admin.conf client_secret_1.json "
    "token.json x.ovpn kubeconfig .htpasswd .vault_pass ~/.claude/.credentials.json ~/.codex/auth.json "
    "~/.terraform.d/credentials.tfrc.json /etc/sh*"
).split()
NO_CREDENTIALS = (
    ".env.example .env.sample .env.template .env.dist .env.test .env.defaults example.env sample.env "
    "environment .environment env.py .envs ~/.ssh/known_hosts ~/.ssh/config ~/.ssh/id_rsa.pub "
    "~/.ssh/authorized_keys id_rsa.pub ~/.aws/config ~/.docker/daemon.json .npmrc.md netrc key.py keys.md "
    "monkey turkey.txt public.pem-x cert.pem fullchain.pem ca-bundle.pem server.pub.key x.pub.key.md "
    "secrets.py secret.md secretary.txt credentials.py my_secrets_test.go tokens.json tokenizer.json "
    "terraform.tf terraform.tfvars.example main.tf /etc/passwd /etc/shadows /etc/hosts /proc/self/status "
    "/proc/cpuinfo run/secrets.py /run/secretsx cookies.py logins.md wallet.py service.json account.json "
    "history.md bash_history * *.py src/* README.md"
).split()

CASES = [
    (path, place, True) for place, (paths, _) in PLACES.items() for path in paths.split()
] + [(path, place, False) for place, (_, paths) in PLACES.items() for path in paths.split()]
EXTENTS = [
    (path, place, True) for place, (paths, _) in WHOLE.items() for path in paths.split()
] + [(path, place, False) for place, (_, paths) in WHOLE.items() for path in paths.split()]


@examples(("path", "place", "belongs"), CASES, ids=str, fires="belongs")
def test_a_place_is_known_by_its_path(path: str, place: PathClass, belongs: bool) -> None:
    assert (classify_path(path) is place) is belongs, classify_path(path)


@examples(("path", "place", "belongs"), EXTENTS, ids=str, fires="belongs")
def test_a_whole_folder_is_more_than_a_file_in_it(
    path: str, place: PathClass, belongs: bool
) -> None:
    assert (classify_whole(path) is place) is belongs, classify_whole(path)


@examples("path", CREDENTIALS)
def test_a_file_of_secrets_is_known_by_its_name(path: str) -> None:
    assert is_credential(path)
    assert path.startswith(("/", "~")) or is_credential(f"/work/app/{path}")


@near_misses("path", NO_CREDENTIALS)
def test_a_file_that_only_sounds_like_one_is_none(path: str) -> None:
    assert not is_credential(path)


@table(
    ("path", "folder", "spelling"),
    [
        ("a", None, "a"),
        ("./a", None, "a"),
        ("a/./b//c/", None, "a/b/c"),
        ("a/../b", None, "b"),
        ("../a", None, "../a"),
        ("a/../../b", None, "../b"),
        (".", None, "."),
        ("/", None, "/"),
        ("//", None, "/"),
        ("///etc", None, "/etc"),
        ("/./etc/./", None, "/etc"),
        ("/etc/../usr", None, "/usr"),
        ("/tmp/..", None, "/"),
        ("/..", None, "/"),
        ("/home/ada", None, "~"),
        ("/home/ada/", None, "~"),
        ("/home/ada/x", None, "~/x"),
        ("/home/adam/x", None, "/home/adam/x"),
        ("/home/ada/../bob", None, "/home/bob"),
        ("~", None, "~"),
        ("~/", None, "~"),
        ("~/x/../y", None, "~/y"),
        ("~/..", None, "/home"),
        ("~/../..", None, "/"),
        ("~bob/x", None, "~bob/x"),
        ("a", "/work", "/work/a"),
        ("../a", "/work", "/a"),
        ("..", "/work", "/"),
        (".", "/work", "/work"),
        ("", "/work", "/work"),
        ("a", "/", "/a"),
        ("*", "/", "/*"),
        ("x", "/home/ada", "~/x"),
        ("..", "~", "/home"),
        ("a", "src", "src/a"),
        ("/a", "/work", "/a"),
        ("~", "/work", "~"),
        ("/proc/self/root/etc/shadow", None, "/etc/shadow"),
        ("/proc/1/root", None, "/"),
        ("/proc/1/rooted", None, "/proc/1/rooted"),
        ("/proc/self/cwd/a", "/work", "/work/a"),
        ("/proc/self/cwd", "/work", "/work"),
        ("/proc/self/cwdx", "/work", "/proc/self/cwdx"),
        ("/proc/1/cwd/a", "/work", "/proc/1/cwd/a"),
        ("é/../ü", None, "ü"),
    ],
)
def test_a_path_has_one_spelling(path: str, folder: str | None, spelling: str) -> None:
    assert resolve_path(path, folder, ADA) == spelling


def test_there_are_at_least_150_rows_of_each_side() -> None:
    assert len(CASES) + len(EXTENTS) + len(CREDENTIALS) + len(NO_CREDENTIALS) >= 300


@examples(
    "command",
    [
        "cp x/settings.json .claude/",
        "cp -t .claude settings.json",
        "mv config.toml ~/.config/cli-guard",
        "install -m 600 x/settings.local.json .claude/",
        "cp config .git",
    ],
)
def test_a_copy_into_a_folder_is_the_file_that_it_becomes(command: str) -> None:
    assert judge(command, Context(folder="/w", home="/home/ada")).verdict is Decision.DENY


@near_misses(
    "command",
    ["cp notes.json .claude/", "cp settings.json web/", "cp .claude/settings.json backup/"],
)
def test_a_copy_into_another_folder_is_a_write(command: str) -> None:
    assert judge(command, Context(folder="/w", home="/home/ada")).verdict is Decision.REVIEW

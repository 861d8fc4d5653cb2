#!/bin/sh
# Tries the installed cli-guard as a user would, in a scratch repository: a clean commit passes, one with a key does not.
set -eu
folder=$(mktemp -d)
trap 'cd / && rm -rf "$folder"' EXIT
cd "$folder"
export CLI_GUARD_SERVER="${CLI_GUARD_SERVER:-0}" GIT_CONFIG_GLOBAL=/dev/null
git init -q .
git config user.name Try
git config user.email try@example.org
cli-guard --version
cli-guard check-command 'git status'
cli-guard install
printf 'def add(a: int, b: int) -> int:\n    return a + b\n' > sums.py
git add sums.py
git commit -q -m 'Add sums'
# In two parts: this file itself holds no key.
printf 'aws_access_key_id = "%s%s"\n' AKIA Z7QW3XNB5TRM2LKD > settings.py
git add settings.py
if git commit -q -m 'Add settings'; then
  echo 'a key was committed' >&2
  exit 1
fi
[ "$(git rev-list --count HEAD)" = 1 ]
echo 'cli-guard works'

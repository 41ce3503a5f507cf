# Git clones a repository, checks an older version out and collects garbage.
# Usage: git.sh prepare|run FILES
set -eu
step=$1 files=$2
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a

case $step in
prepare)
    git init -q origin
    for version in 1 2 3; do
        python3 "$(dirname "$0")/tree.py" origin/tree "$((files / version))" "$version"
        git -C origin add -A
        git -C origin commit -q -m "Version $version"
    done
    ;;
run)
    git clone -q --no-local origin clone
    git -C clone checkout -q HEAD~1
    git -C clone gc -q
    ;;
esac

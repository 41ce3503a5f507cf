# Deliveries into a maildir in the current directory.
# Usage: maildir.sh prepare|run SECONDS
set -eu
step=$1 seconds=$2

case $step in
prepare) mkdir tmp new ;;
run) python3 "$(dirname "$0")/maildir.py" "$seconds" ;;
esac

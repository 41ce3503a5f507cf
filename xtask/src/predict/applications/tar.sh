# A tree of files is packed with tar and gzip, and unpacked again.
# Usage: tar.sh prepare|run FILES
set -eu
step=$1 files=$2

case $step in
prepare) python3 "$(dirname "$0")/tree.py" tree "$files" 1 ;;
run)
    tar -cf - tree | gzip >tree.tar.gz
    mkdir unpacked
    tar -xzf tree.tar.gz -C unpacked
    ;;
esac

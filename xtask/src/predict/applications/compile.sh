# A compilation of C files that share headers, two at a time.
# Usage: compile.sh prepare|run FILES
set -eu
step=$1 files=$2

case $step in
prepare)
    mkdir include source
    awk -v files="$files" 'BEGIN {
        for (h = 0; h < 100; h++) {
            file = "include/h" h ".h"
            print "#pragma once" > file
            for (n = 0; n < 40; n++) {
                print "struct s" h "_" n " { int a[" n + 1 "]; struct s" h "_" n " *next; };" > file
                print "static inline int f" h "_" n "(struct s" h "_" n " *s) { return s->a[0] + " n "; }" > file
            }
            close(file)
        }
        for (c = 0; c < files; c++) {
            file = "source/c" c ".c"
            for (n = 0; n < 30; n++) print "#include \"h" (c * 7 + n) % 100 ".h\"" > file
            for (n = 0; n < 40; n++) {
                h = (c * 7 + n % 30) % 100
                print "int g" c "_" n "(struct s" h "_" n " *s) { int x = 0; for (int i = 0; i < " n + 9 \
                    "; i++) x += f" h "_" n "(s) * i; return x; }" > file
            }
            close(file)
        }
        print "int main(void) { return 0; }" > "source/main.c"
    }'
    printf '%b\n' 'objects := $(patsubst %.c,%.o,$(wildcard source/*.c))' 'program: $(objects)' \
        '\tcc -o $@ $^' '%.o: %.c' '\tcc -O1 -g -Iinclude -c -o $@ $<' >Makefile
    ;;
run) make -s -j2 ;;
esac

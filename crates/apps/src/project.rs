//! A C project generated from a seed: a configure script that compiles many small programs, and
//! sources that make compiles.

use crate::Failure;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use suite::Draw;

/// The size of a project and its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Number of source files, each of which is compiled separately.
    pub files: u32,
    /// The same seed gives the same project.
    pub seed: u64,
}

/// Number of functions in a source file.
const FUNCTIONS: u32 = 12;
/// The headers that configure checks for, as real configure scripts do.
const HEADERS: &[&str] = &[
    "stdio.h",
    "stdlib.h",
    "string.h",
    "strings.h",
    "unistd.h",
    "fcntl.h",
    "errno.h",
    "signal.h",
    "time.h",
    "math.h",
    "limits.h",
    "stdint.h",
    "inttypes.h",
    "stdbool.h",
    "pthread.h",
    "poll.h",
    "sys/types.h",
    "sys/stat.h",
    "sys/time.h",
    "sys/socket.h",
    "sys/mman.h",
    "sys/ioctl.h",
    "sys/resource.h",
    "sys/uio.h",
    "netinet/in.h",
    "arpa/inet.h",
    "netdb.h",
    "dirent.h",
    "locale.h",
    "io.h",
    "windows.h",
    "sys/sockio.h",
];
const CALLS: &[&str] = &[
    "memmove",
    "strdup",
    "snprintf",
    "select",
    "poll",
    "gettimeofday",
    "usleep",
    "getaddrinfo",
    "inet_ntop",
    "sysconf",
    "mmap",
    "pread",
    "fork",
    "kqueue",
    "GetTickCount",
    "strlcpy_s",
];

/// Number of programs that configure compiles.
pub const CHECKS: u64 = (HEADERS.len() + CALLS.len()) as u64;

impl Shape {
    /// Generates the project in a directory, which is created.
    ///
    /// # Errors
    /// What cannot be made, and why.
    pub(crate) fn generate(&self, at: &Path) -> Result<(), Failure> {
        fs::create_dir_all(at).map_err(|error| Failure::io("make", at, &error))?;
        let write = |name: &str, text: &str| {
            let path = at.join(name);
            fs::write(&path, text).map_err(|error| Failure::io("write", &path, &error))?;
            Ok::<_, Failure>(path)
        };
        let mut draw = Draw::new(self.seed);
        for unit in 0..self.files {
            write(&format!("unit_{unit}.h"), &header(unit, &mut draw))?;
            write(&format!("unit_{unit}.c"), &source(unit, self.files, &mut draw))?;
        }
        write("main.c", &main(self.files))?;
        write("Makefile", MAKEFILE)?;
        let configure = write("configure", &configure())?;
        fs::set_permissions(&configure, fs::Permissions::from_mode(0o755))
            .map_err(|error| Failure::io("make executable", &configure, &error))
    }
}

const MAKEFILE: &str = "\
CC ?= cc
CFLAGS ?= -O2 -Wall
OBJECTS = $(patsubst %.c,%.o,$(wildcard unit_*.c)) main.o

program: $(OBJECTS)
\t$(CC) -o $@ $(OBJECTS)

%.o: %.c config.h
\t$(CC) $(CFLAGS) -c -o $@ $<

config.h:
\t./configure
";

fn configure() -> String {
    let mut text = String::from(
        "#!/bin/sh\n# Asks the compiler what this system has, one small program at a time.\n\
         CC=${CC:-cc}\n\
         ask() {\n\
         \tcat > conftest.c\n\
         \tif $CC -o conftest conftest.c > conftest.log 2>&1; then\n\
         \t\techo \"#define $1 1\" >> config.h\n\
         \tfi\n\
         \trm -f conftest conftest.c conftest.log\n\
         }\n\
         command -v \"$CC\" > conftest.log 2>&1 || { echo \"configure: no C compiler ($CC)\" >&2; exit 1; }\n\
         : > config.h\n",
    );
    let macro_of = |name: &str| {
        let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        format!("HAVE_{}", name.chars().map(letter).collect::<String>())
    };
    let mut ask = |name: &str, program: &str| {
        let name = macro_of(name);
        text += &format!("ask {name} <<'END'\n{program}END\n");
    };
    for header in HEADERS {
        ask(header, &format!("#include <{header}>\nint main(void) {{ return 0; }}\n"));
    }
    for call in CALLS {
        ask(call, &format!("char {call}(void);\nint main(void) {{ return {call}(); }}\n"));
    }
    text
}

fn header(unit: u32, draw: &mut Draw) -> String {
    let mut text = format!("#ifndef UNIT_{unit}_H\n#define UNIT_{unit}_H\n#include <stdint.h>\n");
    for number in 0..30 {
        let _ = writeln!(text, "#define UNIT_{unit}_{number} 0x{:08x}u", draw.bits() as u32);
    }
    let _ = writeln!(text, "struct unit_{unit} {{ uint32_t state[16]; uint32_t at; }};");
    let _ = writeln!(text, "uint32_t unit_{unit}(uint32_t x);\n#endif");
    text
}

fn source(unit: u32, units: u32, draw: &mut Draw) -> String {
    let mut text = String::from(
        "#include \"config.h\"\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n\
         #include <stdlib.h>\n#include <string.h>\n",
    );
    let _ = writeln!(text, "#include \"unit_{unit}.h\"");
    for _ in 0..6 {
        let _ = writeln!(text, "#include \"unit_{}.h\"", draw.below(units.into()));
    }
    for number in 0..FUNCTIONS {
        text += &function(unit, number, draw);
    }
    let _ = writeln!(text, "uint32_t unit_{unit}(uint32_t x)\n{{\n\tstruct unit_{unit} all;");
    text += "\tmemset(&all, 0, sizeof all);\n";
    for number in 0..FUNCTIONS {
        let _ =
            writeln!(text, "\tall.state[{}] ^= step_{number}(x + {number}, &all);", number % 16);
    }
    text +=
        "\tfor (all.at = 0; all.at < 16; all.at++)\n\t\tx ^= all.state[all.at];\n\treturn x;\n}\n";
    text
}

fn function(unit: u32, number: u32, draw: &mut Draw) -> String {
    let mut text = format!(
        "static uint32_t step_{number}(uint32_t x, struct unit_{unit} *all)\n{{\n\tuint32_t i;\n\
         \tfor (i = 0; i < {}; i++) {{\n\t\tswitch (x % 6) {{\n",
        8 + draw.below(40)
    );
    for case in 0..6 {
        let (constant, turn) = (draw.below(30), 1 + draw.below(30));
        let _ = writeln!(
            text,
            "\t\tcase {case}: x = x * {}u + UNIT_{unit}_{constant}; x ^= (x << {turn}) | all->state[{}]; break;",
            draw.bits() as u32 | 1,
            draw.below(16),
        );
    }
    text += "\t\t}\n\t\tall->state[i % 16] += x;\n\t}\n\treturn x;\n}\n";
    text
}

fn main(units: u32) -> String {
    let mut text = String::from("#include <stdint.h>\n#include <stdio.h>\n");
    for unit in 0..units {
        let _ = writeln!(text, "uint32_t unit_{unit}(uint32_t x);");
    }
    text += "int main(void)\n{\n\tuint32_t x = 1;\n";
    for unit in 0..units {
        let _ = writeln!(text, "\tx = unit_{unit}(x);");
    }
    text + "\tprintf(\"%u\\n\", x);\n\treturn 0;\n}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_compiles_without_a_word_and_runs() {
        let scratch = testbed::scratch();
        Shape { files: 3, seed: 1 }.generate(scratch.path()).unwrap();
        let run = |program: &str, arguments: &[&str]| {
            let mut command = testbed::command(program);
            let ran = command.args(arguments).current_dir(scratch.path()).output().unwrap();
            assert!(ran.status.success() && ran.stderr.is_empty(), "{program}: {ran:?}");
            String::from_utf8(ran.stdout).unwrap()
        };
        let configure = scratch.path().join("configure");
        run(configure.to_str().unwrap(), &[]);
        let found = fs::read_to_string(scratch.path().join("config.h")).unwrap();
        assert!(found.contains("#define HAVE_SYS_STAT_H 1"), "{found}");
        assert!(found.contains("#define HAVE_MEMMOVE 1") && !found.contains("WINDOWS"), "{found}");
        run("make", &["-s", "-j2"]);
        let program = scratch.path().join("program");
        assert!(run(program.to_str().unwrap(), &[]).trim().parse::<u32>().is_ok());
    }

    #[test]
    fn a_project_is_that_of_its_seed() {
        let scratch = testbed::scratch();
        let text = |seed| {
            let at = scratch.path().join(format!("{seed}"));
            Shape { files: 2, seed }.generate(&at).unwrap();
            fs::read_to_string(at.join("unit_1.c")).unwrap()
        };
        let first = text(1);
        assert_eq!(first, text(1));
        assert_ne!(first, text(2));
    }
}

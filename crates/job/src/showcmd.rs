//! Job files as command lines (`--showcmd`).

use crate::apply::Given;
use crate::invocation::Dialect;

/// A job file on its way to a command line.
///
/// Called as fio it is fio's text to the byte, though that text, pasted back, would not always mean
/// the same (a second `[global]` becomes options of the job before it). As fathom the text can be
/// pasted into a shell.
pub struct Shown {
    dialect: Dialect,
    text: String,
    /// How many global options are in `text`.
    globals: usize,
    jobs: bool,
}

impl Shown {
    /// Starts with the options that were given beside the file.
    pub fn new(dialect: Dialect, beside: &[Given]) -> Self {
        let globals = match dialect {
            Dialect::Fathom => beside.len(),
            Dialect::Fio => 0,
        };
        Shown { dialect, text: String::new(), globals, jobs: false }
    }

    /// A `[global]` section; `all` holds everything said globally so far.
    pub fn global(&mut self, all: &[Given]) {
        self.begin();
        if self.dialect == Dialect::Fathom && self.jobs && all.len() > self.globals {
            self.text += "--name=global ";
        }
        let new = match self.dialect {
            Dialect::Fathom => &all[self.globals..],
            Dialect::Fio => all,
        };
        self.options(new);
        self.globals = all.len();
    }

    /// A job section.
    pub fn job(&mut self, name: &str, own: &[Given]) {
        self.begin();
        self.jobs = true;
        let name = match self.dialect {
            Dialect::Fathom => quoted(name),
            Dialect::Fio => name.into(),
        };
        self.text += &format!("--name={name} ");
        self.options(own);
    }

    /// The line, with its newline; empty for a file without sections.
    pub fn finish(mut self) -> String {
        if self.dialect == Dialect::Fathom {
            self.text.truncate(self.text.trim_end().len());
        }
        self.text.push('\n');
        self.text
    }

    fn begin(&mut self) {
        if self.text.is_empty() {
            self.text += match self.dialect {
                Dialect::Fathom => "fathom run ",
                Dialect::Fio => "fio ",
            };
        }
    }

    fn options(&mut self, given: &[Given]) {
        for Given { name, value, .. } in given {
            self.text += &match (self.dialect, value) {
                (_, None) => format!("--{name} "),
                (Dialect::Fathom, Some(value)) => format!("--{name}={} ", quoted(value)),
                (Dialect::Fio, Some(value)) if *name == "description" => {
                    format!("--{name}=\"{value}\" ")
                }
                (Dialect::Fio, Some(value)) => format!("--{name}={value} "),
            };
        }
    }
}

/// A word that the shell leaves alone, in quotes if it needs them.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:,=+%@^-".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Origin;

    fn given(name: &'static str, value: &str) -> Given {
        Given { name, value: Some(value.into()), origin: Origin::command_line() }
    }

    #[test]
    fn printed_arguments_are_quoted_for_a_shell() {
        let mut shown = Shown::new(Dialect::Fathom, &[]);
        let mut all = vec![given("rw", "read")];
        shown.global(&all);
        shown
            .job("a b", &[given("filename", "it's"), Given { value: None, ..given("thread", "") }]);
        all.push(given("bs", "8k"));
        shown.global(&all);
        shown.job("c", &[]);
        assert_eq!(
            shown.finish(),
            "fathom run --rw=read --name='a b' --filename='it'\\''s' --thread \
             --name=global --bs=8k --name=c\n"
        );
    }

    #[test]
    fn fio_prints_globals_again_at_each_global_section() {
        let mut shown = Shown::new(Dialect::Fio, &[]);
        let mut all = vec![given("rw", "read"), given("bs", "4k")];
        shown.global(&all);
        shown.job("a", &[given("size", "1m"), given("description", "x")]);
        all.push(given("bs", "8k"));
        shown.global(&all);
        shown.job("b", &[]);
        assert_eq!(
            shown.finish(),
            "fio --rw=read --bs=4k --name=a --size=1m --description=\"x\" \
             --rw=read --bs=4k --bs=8k --name=b \n"
        );
        assert_eq!(Shown::new(Dialect::Fio, &[]).finish(), "\n");
    }
}

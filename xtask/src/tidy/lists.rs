//! Subcommands and engines are stated once: every other file reads the rows, so that adding one
//! changes no second list.

use super::Finding;
use crate::rust_text::{code_only, without_tests};
use crate::workspace;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What is stated once.
struct Stated {
    /// In messages.
    what: &'static str,
    /// The file that states it.
    home: &'static str,
    /// Reads the names of the rows in that file.
    names: fn(&str) -> BTreeSet<String>,
    /// Enum whose variants are the rows, and the file besides that matches on all of them.
    variants: Option<(&'static str, &'static str)>,
}

const STATED: [Stated; 2] = [
    Stated {
        what: "subcommands",
        home: "crates/cli/src/commands.rs",
        names: subcommands,
        variants: None,
    },
    Stated {
        what: "engines",
        home: "crates/record/src/engine.rs",
        names: engines,
        variants: Some(("Engine", "crates/engine/src/engines/mod.rs")),
    },
];

/// This many names in one array or match are a second list. An option of three engines is none.
const NAMES_MAX: usize = 4;

/// Every array, call or match of a product file that names too many subcommands or engines.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for stated in STATED {
        let home = root.join(stated.home);
        let text = fs::read_to_string(&home).with_context(|| format!("reading {}", stated.home))?;
        let names = (stated.names)(&text);
        if names.is_empty() {
            findings.push(Finding::new(stated.home, 0, format!("no {} found", stated.what)));
        }
        for source in workspace::sources(&root.join("crates"), &["rs"])? {
            let path = Path::new("crates").join(&source.path);
            if path == Path::new(stated.home) || !is_product(&path) {
                continue;
            }
            let variants = stated.variants.filter(|(_, other)| path != Path::new(other));
            for (line, count) in lists(without_tests(&source.text), &names, variants) {
                let message = format!(
                    "a second list of {} ({count} of them): read the rows of {}",
                    stated.what, stated.home
                );
                findings.push(Finding::new(&path, line, message));
            }
        }
    }
    Ok(findings)
}

fn is_product(path: &Path) -> bool {
    let is_test = |part: &str| part == "tests" || part.ends_with("tests.rs");
    let mut parts = path.iter().filter_map(|part| part.to_str());
    parts.clone().any(|part| part == "src") && !parts.any(is_test)
}

/// `Sync: "sync", …;` in `engines! { … }`.
fn engines(text: &str) -> BTreeSet<String> {
    let row = |line: &str| {
        let (variant, rest) = line.trim().split_once(": \"")?;
        let (name, _) = rest.split_once('"')?;
        variant.chars().all(char::is_alphanumeric).then(|| name.to_owned())
    };
    block(text, "engines! {").filter_map(row).collect()
}

/// `AppStep(app_step::Arguments) => …,` in `subcommands! { … }`, as clap names it.
fn subcommands(text: &str) -> BTreeSet<String> {
    let row = |line: &str| {
        let (variant, _) = line.trim().split_once('(')?;
        let is_variant = variant.chars().all(char::is_alphanumeric)
            && variant.starts_with(|first: char| first.is_uppercase());
        is_variant.then(|| kebab(variant))
    };
    block(text, "subcommands! {").filter_map(row).collect()
}

/// Lines from the one that is `begin` to the next brace at the margin.
fn block<'a>(text: &'a str, begin: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().skip_while(move |line| *line != begin).take_while(|line| *line != "}")
}

fn kebab(variant: &str) -> String {
    let mut name = String::new();
    for letter in variant.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

/// An open bracket, with the names that stand directly in it.
struct Group {
    line: usize,
    /// It is itself an element: a tuple in a list.
    is_element: bool,
    names: BTreeSet<String>,
}

/// Line and number of names of each list.
fn lists(
    text: &str,
    names: &BTreeSet<String>,
    variants: Option<(&str, &str)>,
) -> Vec<(usize, usize)> {
    let code: Vec<char> = code_only(text).chars().collect();
    let text: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut open: Vec<Group> = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < text.len() {
        let (mut end, mut name) = (at + 1, None);
        match code[at] {
            '(' | '[' | '{' => {
                let is_element = matches!(before(&code, at), Some('[' | ','));
                open.push(Group { line, is_element, names: BTreeSet::new() });
            }
            ')' | ']' | '}' => {
                let closed = open.pop().filter(|group| group.names.len() > NAMES_MAX);
                found.extend(closed.map(|group| (group.line, group.names.len())));
            }
            ' ' if text[at] == '"' => {
                end = (at + 1..text.len()).find(|&i| text[i] == '"').map_or(text.len(), |i| i + 1);
                let literal: String = text[at + 1..end - 1].iter().collect();
                name = Some(literal).filter(|literal| names.contains(literal));
            }
            first
                if first.is_alphabetic()
                    && !at.checked_sub(1).is_some_and(|i| is_word(code[i])) =>
            {
                let is_path = |c: &&char| is_word(**c) || **c == ':';
                let word: String = code[at..].iter().take_while(is_path).collect();
                end = at + word.chars().count();
                let enumeration = variants.map(|(name, _)| format!("{name}::"));
                name = Some(word).filter(|word| enumeration.is_some_and(|e| word.starts_with(&e)));
            }
            _ => {}
        }
        if let Some(name) = name.filter(|_| is_listed(&code, at, end)) {
            let is_first = before(&code, at) == Some('(');
            let depth = open.len();
            let outer = depth > 1 && is_first && open[depth - 1].is_element;
            if let Some(group) = open.get_mut(depth.wrapping_sub(1 + usize::from(outer))) {
                group.names.insert(name);
            }
        }
        line += text[at..end].iter().filter(|c| **c == '\n').count();
        at = end;
    }
    found
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The last character of code before a place, references passed over.
fn before(code: &[char], at: usize) -> Option<char> {
    code[..at].iter().rev().copied().find(|c| !c.is_whitespace() && *c != '&')
}

/// Whether an element of an array, or an alternative or arm of a match, stands from `at` to `end`.
fn is_listed(code: &[char], at: usize, end: usize) -> bool {
    let after: String = code[end..].iter().filter(|c| !c.is_whitespace()).take(2).collect();
    let is_arm = after == "=>" || after.starts_with('|') || after == "if";
    match before(code, at) {
        Some('[' | '(' | ',' | '|' | '{') => is_arm || after.starts_with([',', ']', ')']),
        // The arm before this one ends in a block.
        Some('}') => is_arm,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch;
    use super::*;

    const COMMANDS: (&str, &str) = (
        "crates/cli/src/commands.rs",
        "subcommands! {\n    /// Doc (text).\n    Run(A) => a,\n    AppStep(B) => b,\n    \
         Test(C) => c,\n    Knee(D) => d,\n    Watch(E) => e,\n}\nconst L: [&str; 5] = [\"run\", \
         \"app-step\", \"test\", \"knee\", \"watch\"];\n",
    );
    const ENGINES: (&str, &str) = (
        "crates/record/src/engine.rs",
        "engines! {\n    Sync: \"sync\", \"d\", X;\n    Psync: \"psync\", \"d\", X;\n    Mmap: \
         \"mmap\", \"d\", X;\n    Null: \"null\", \"d\", X;\n    Net: \"net\" or \"n\", \"d\", X;\n}\n",
    );

    fn found(file: &str, text: &str) -> Vec<String> {
        let root = scratch(&[COMMANDS, ENGINES, (file, text)]);
        check(root.path()).unwrap().iter().map(Finding::to_string).collect()
    }

    #[test]
    fn the_rows_are_read_from_their_files() {
        let names: Vec<String> = subcommands(COMMANDS.1).into_iter().collect();
        assert_eq!(names, ["app-step", "knee", "run", "test", "watch"]);
        let names: Vec<String> = engines(ENGINES.1).into_iter().collect();
        assert_eq!(names, ["mmap", "net", "null", "psync", "sync"]);
    }

    #[test]
    fn each_form_of_a_second_list_is_found() {
        for list in [
            "const A: [&str; 5] = [\"sync\", \"psync\", \"mmap\", \"null\", \"net\"];",
            "const A: &[(&str, u8)] =\n    &[(\"sync\", 1), (\"psync\", 2), (\"mmap\", 3), (\"null\", 4), \
             (\"net\", 5)];",
            "fn f(n: &str) { match n { \"sync\" => {} \"psync\" | \"mmap\" => g(), \"null\" if x => 1, \
             \"net\" => 2, _ => 3 } }",
            "fn f() { matches!(n, \"sync\" | \"psync\" | \"mmap\" | \"null\" | \"net\") }",
            "fn f() { match e { Engine::Sync => 1, Engine::Psync | Engine::Mmap => 2, Engine::Null => \
             3, Engine::Net => 4 } }",
        ] {
            let found = found("crates/a/src/b.rs", list);
            assert_eq!(found.len(), 1, "{list}: {found:?}");
            assert!(found[0].starts_with("crates/a/src/b.rs:"), "{found:?}");
            assert!(found[0].contains("a second list of engines (5 of them)"), "{found:?}");
        }
        let list = "const A: [&str; 5] = [\"run\", \"app-step\", \"test\", \"knee\", \"watch\"];";
        let found = found("crates/a/src/b.rs", list);
        assert!(found.len() == 1 && found[0].contains("of subcommands"), "{found:?}");
    }

    #[test]
    fn ordinary_use_is_no_list() {
        for (file, text) in [
            // Names of three engines that share an option.
            ("crates/a/src/b.rs", "const A: &[&str] = &[\"sync\", \"psync\", \"mmap\"];"),
            // Values that a match comes to.
            (
                "crates/a/src/b.rs",
                "fn f() { match x { 1 => (\"sync\", 1), 2 => (\"psync\", 1), 3 => (\"mmap\", 2), 4 => \
                 (\"null\", 1), _ => (\"net\", 1) } }",
            ),
            // One after the other.
            (
                "crates/a/src/b.rs",
                "fn f() { g(\"sync\"); g(\"psync\"); g(\"mmap\"); g(\"null\"); g(\"net\") }",
            ),
            // Where each engine is opened.
            (
                "crates/engine/src/engines/mod.rs",
                "fn f() { match e { Engine::Sync => 1, Engine::Psync => 2, Engine::Mmap => 3, \
                 Engine::Null => 4, Engine::Net => 5 } }",
            ),
            ("crates/a/src/b/tests.rs", "[\"sync\", \"psync\", \"mmap\", \"null\", \"net\"]"),
            ("crates/a/tests/b.rs", "[\"sync\", \"psync\", \"mmap\", \"null\", \"net\"]"),
        ] {
            assert!(found(file, text).is_empty(), "{text}: {:?}", found(file, text));
        }
    }

    #[test]
    fn a_home_without_rows_is_found() {
        let root = scratch(&[COMMANDS, ("crates/record/src/engine.rs", "enum Engine {}\n")]);
        assert_eq!(check(root.path()).unwrap().len(), 1);
    }
}

//! No option of fathom's is left in what a tool's user reads.

use crate::{dd, diskspd, hdparm, ior, iozone, mdtest};
use judge::checks::ALL;
use record::{Term, Terminology};
use std::collections::BTreeSet;

/// Options whose bare names are no words of English.
const UNMISTAKABLE: [&str; 7] =
    ["numjobs", "iodepth", "ioengine", "nrfiles", "openfiles", "thinktime", "rw"];

fn dd(operands: &str) -> Terminology {
    let operands: Vec<String> = operands.split(' ').map(str::to_owned).collect();
    dd::DdCommand::parse(&operands).unwrap().terminology()
}

fn terminologies() -> [Terminology; 8] {
    [
        dd("if=a of=b"),
        dd("if=a of=/dev/null"),
        dd("if=/dev/zero of=b count=1"),
        diskspd::TERMINOLOGY,
        hdparm::TERMINOLOGY,
        ior::TERMINOLOGY,
        iozone::TERMINOLOGY,
        mdtest::TERMINOLOGY,
    ]
}

/// Whether an option has this name, of the core or of an engine.
fn is_option(name: &str) -> bool {
    job::options::all().any(|option| option.names().any(|known| known == name))
}

/// Fathom's options that a text names without a command of fathom's before them.
fn options_named(text: &str) -> BTreeSet<String> {
    let mut of_fathom = false;
    let mut named = BTreeSet::new();
    for word in text.split([' ', ',', ';', '(', ')']) {
        let option = word.split('=').next().unwrap_or_default();
        let name = option.trim_start_matches('-');
        of_fathom = word == "run" || of_fathom && option.starts_with("--");
        let is_meant =
            option.starts_with("--") || name.contains('_') || UNMISTAKABLE.contains(&name);
        if is_meant && !of_fathom && is_option(name) {
            named.insert(option.to_owned());
        }
    }
    named
}

#[test]
fn remedies_name_the_flags_of_the_tool() {
    for terminology in terminologies() {
        let terms = || terminology.terms.iter().copied().flatten();
        let flags: BTreeSet<&str> = terms()
            .filter_map(|term| match term {
                Term::Flag(_, flag) | Term::Setting(_, _, flag) => Some(*flag),
                Term::Absent(_) => None,
            })
            .collect();
        for check in ALL {
            let remedy = (check.remedy)();
            // A remedy that no flag of the tool is for is one of fathom run.
            let text = remedy.in_terms(&terminology);
            let text = text.split("with fathom run, ").next().unwrap();
            let left: Vec<String> = options_named(text)
                .into_iter()
                .filter(|name| !flags.contains(name.as_str()))
                .collect();
            assert_eq!(left, Vec::<String>::new(), "[{}] {text}", check.id);
            assert!(remedy.is_empty() || !remedy.in_terms(&terminology).is_empty(), "{}", check.id);
        }
    }
}

#[test]
fn terms_are_for_options_that_there_are() {
    for terminology in terminologies() {
        for term in terminology.terms.iter().copied().flatten() {
            let (Term::Flag(option, _) | Term::Setting(option, ..) | Term::Absent(option)) = term;
            assert!(is_option(option), "{option}");
        }
    }
}

/// Literals in the source of the checks that a user of another tool can read: those with a blank that
/// docs/CHECKS.md is not alone to show.
fn literals_of_the_checks() -> Vec<String> {
    let checks = concat!(env!("CARGO_MANIFEST_DIR"), "/../judge/src/checks");
    let mut literals = Vec::new();
    for file in std::fs::read_dir(checks).unwrap() {
        let source = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let source = source.split("#[cfg(test)]").next().unwrap();
        let only_documented = ["//", "question:", "evidence:", "threshold:", "reason:"];
        let shown = source
            .lines()
            .map(str::trim_start)
            .filter(|line| !only_documented.iter().any(|beginning| line.starts_with(beginning)));
        // A backslash at the end of a line joins it with the next one's text.
        let joined: String = shown
            .map(|line| line.strip_suffix('\\').map_or(format!("{line}\n"), String::from))
            .collect();
        let quoted = joined.split('"').skip(1).step_by(2);
        literals.extend(quoted.filter(|text| text.contains(' ')).map(String::from));
    }
    literals
}

#[test]
fn literals_of_the_checks_mark_the_options_they_name() {
    let literals = literals_of_the_checks();
    assert!(literals.len() > 100, "{}", literals.len());
    for literal in literals {
        let unmarked: String = literal.split('`').step_by(2).collect();
        assert_eq!(options_named(&unmarked), BTreeSet::new(), "{literal}");
    }
}

#[test]
fn dd_opens_the_side_directly_that_is_a_file() {
    let remedy = || record::remedy::set("direct", 1);
    for (operands, said) in [
        ("if=a of=b", "use iflag=direct oflag=direct"),
        ("if=a of=/dev/null", "use iflag=direct"),
        ("if=/dev/zero of=b count=1", "use oflag=direct"),
    ] {
        assert_eq!(remedy().in_terms(&dd(operands)), said);
    }
}

//! Whatever the bytes, there are jobs or errors, and never a panic.

mod common;

use common::Texts;
use job::{Dialect, parse};
use proptest::prelude::*;

/// Lines that are nearly right, so that noise gets past the first check.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let names: Vec<&'static str> = job::options::all().flat_map(|def| def.names()).collect();
    let value = prop_oneof![
        "[0-9]{1,25}[kmgtpz%]?",
        "[-+*/%^().,:0-9a-z$\\{\\}]{0,30}",
        Just("$pagesize*(2+$ncpus)^9".to_string()),
        Just("${HOME}".to_string()),
        "\\PC{0,20}",
    ];
    prop_oneof![
        (prop::sample::select(names), value)
            .prop_map(|(name, value)| format!("{name}={value}").into_bytes()),
        "\\[[^\\n]{0,12}\\]?".prop_map(String::into_bytes),
        Just(b"[global]".to_vec()),
        Just(b"include quick.fio".to_vec()),
        prop::collection::vec(any::<u8>(), 0..40),
    ]
}

fn dialect() -> impl Strategy<Value = Dialect> {
    prop_oneof![Just(Dialect::Fathom), Just(Dialect::Fio)]
}

/// Errors or an answer; every error has a place and is one line.
fn check(args: &[String], dialect: Dialect, texts: &Texts) -> Result<(), TestCaseError> {
    if let Err(errors) = parse(args, dialect, texts) {
        prop_assert!(!errors.list.is_empty());
        for error in &errors.list {
            prop_assert!(!error.text.is_empty() && !error.text.contains('\n'), "{error}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_bytes_are_a_job_file_or_wrong(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        dialect in dialect(),
    ) {
        check(&["quick.fio".into()], dialect, &Texts::one(bytes))?;
    }

    #[test]
    fn any_lines_are_a_job_file_or_wrong(
        lines in prop::collection::vec(line(), 0..30),
        dialect in dialect(),
    ) {
        let text = [b"[a]".to_vec()].into_iter().chain(lines).collect::<Vec<_>>().join(&b'\n');
        check(&["--showcmd".into(), "quick.fio".into()], dialect, &Texts::one(text))?;
    }

    #[test]
    fn any_words_are_a_command_line_or_wrong(
        words in prop::collection::vec(prop_oneof![
            "-{0,3}[a-z_-]{0,12}(=\\PC{0,8})?",
            "\\PC{0,12}",
            line().prop_map(|line| format!("--{}", String::from_utf8_lossy(&line))),
        ], 0..12),
        dialect in dialect(),
    ) {
        check(&words, dialect, &Texts::one("[a]\n"))?;
    }
}

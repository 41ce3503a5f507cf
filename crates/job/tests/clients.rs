//! Which part of a command line goes to which server.

mod common;

use common::Texts;
use job::Dialect::Fio;
use job::{Client, Invocation};

fn parse(line: &str, files: &Texts) -> Result<Invocation, String> {
    let arguments: Vec<String> = line.split_whitespace().map(Into::into).collect();
    job::parse(&arguments, Fio, files).map_err(|errors| errors.to_string())
}

fn client(address: &str, arguments: &[&str], job_files: &[&str]) -> Client {
    let texts = |list: &[&str]| list.iter().map(|text| text.to_string()).collect();
    Client {
        address: address.into(),
        arguments: texts(arguments),
        job_files: texts(job_files),
        server_files: Vec::new(),
    }
}

#[test]
fn what_follows_a_server_is_for_it_and_what_stands_before_is_for_all() {
    let line = "--output-format=json --section=x --client=one a.fio --bs 8k --client=two --rw=read \
                b.fio --remote-config=c.fio --eta=never";
    let parsed = parse(line, &Texts::default()).unwrap();
    let one = client("one", &["--section=x", "--bs", "8k"], &["a.fio"]);
    let two = client("two", &["--section=x", "--rw=read"], &["b.fio"]);
    assert_eq!(parsed.clients, [one, Client { server_files: vec!["c.fio".into()], ..two }]);
    assert!(parsed.jobs.is_empty(), "they are read where they run");
    assert_eq!(parsed.job_files, [""; 0]);
}

#[test]
fn mistakes_of_names_are_found_before_anything_is_sent() {
    let wrong = parse("--client=one --iodeph=3", &Texts::default()).unwrap_err();
    assert!(wrong.contains("iodepth"), "{wrong}");
}

#[test]
fn a_job_file_before_the_first_server_is_for_all() {
    let parsed = parse("a.fio --client=one --client=two b.fio", &Texts::default()).unwrap();
    let expected = [client("one", &[], &["a.fio"]), client("two", &[], &["a.fio", "b.fio"])];
    assert_eq!(parsed.clients, expected);
}

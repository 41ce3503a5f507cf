//! Servers with a token and with TLS: who is served, who is refused, and why.

use crate::common::served::{Served, client};
use crate::common::{fathom, scratch};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use test_servers::Authority;

const JOB: [&str; 4] = ["--name=a", "--size=64k", "--bs=4k", "--rw=write"];

fn token_file(directory: &Path, name: &str, token: &str) -> String {
    let path = directory.join(name);
    fs::write(&path, token).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    format!("--token-file={}", path.display())
}

/// `fathom run` as a client of `served`, with these options.
#[track_caller]
fn asked(served: &Served, directory: &Path, options: &[&str], code: i32) -> crate::common::Ran {
    let own = served.client();
    client("run", directory, &[options, &[own.as_str()], &JOB].concat()).expect(code)
}

#[test]
fn a_server_with_a_token_serves_those_who_know_it() {
    let directory = scratch();
    let at = directory.path();
    let token = token_file(at, "token", "a-secret-of-some-length\n");
    let served = Served::start(at, &[&token]);
    let ran = asked(&served, at, &[&token, "--output-format=json"], 0);
    assert_eq!(ran.json()["client_stats"][0]["write"]["io_bytes"], 65536);
    asked(&served, at, &["--token=a-secret-of-some-length"], 0);
    for (options, why) in [
        (&[][..], "the server wants a token; give --token-file"),
        (&["--token=another-secret-of-length"], "the token of the client is another one"),
    ] {
        let ran = asked(&served, at, options, 1);
        assert!(ran.err.contains(why), "{}", ran.err);
    }
    // The server goes on after those it refused.
    asked(&served, at, &[&token], 0);
}

#[test]
fn a_client_with_a_token_does_not_trust_a_server_without() {
    let directory = scratch();
    let at = directory.path();
    let served = Served::start(at, &[]);
    let ran = asked(&served, at, &["--token=a-secret-of-some-length"], 1);
    assert!(ran.err.contains("the server has no token"), "{}", ran.err);
    assert!(!at.join("a.0.0").exists(), "nothing ran");
}

#[test]
fn an_encrypted_server_serves_those_who_trust_its_authority() {
    let directory = scratch();
    let at = directory.path();
    let (authority, stranger) = (Authority::new(), Authority::new());
    let (certificate, key) = authority.identity(&["127.0.0.1"]).files(at);
    let option = |name: &str, path: &Path| format!("--{name}={}", path.display());
    let (certificate, key) = (option("tls-cert", &certificate), option("tls-key", &key));
    let token = "--token=a-secret-of-some-length";
    let served = Served::start(at, &[&certificate, &key, token]);
    let trusted = option("tls-ca", &authority.file());
    // Live figures, logs and the record come back encrypted.
    let log = ["--write_lat_log=l", "--status-interval=100ms", "--runtime=1", "--time_based"];
    let options = [&[trusted.as_str(), token, "--output-format=json"][..], &log].concat();
    let own = served.client();
    let line = [&options[..3], &[own.as_str()], &JOB, &log[..1]].concat();
    let ran = client("run", at, &line).expect(0);
    assert_eq!(ran.json()["client_stats"][0]["write"]["total_ios"], 16);
    assert!(at.join("l_lat.1.log.127.0.0.1").exists(), "the log of the server");
    for (options, why) in [
        (vec![option("tls-ca", &stranger.file()), token.to_owned()], "certificate"),
        (vec![trusted.clone()], "the server wants a token"),
        (vec![token.to_owned()], "--tls-ca"),
    ] {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let ran = asked(&served, at, &options, 1);
        assert!(ran.err.contains(why), "{why}: {}", ran.err);
    }
}

#[test]
fn a_client_that_wants_tls_refuses_a_server_without() {
    let directory = scratch();
    let at = directory.path();
    let served = Served::start(at, &[]);
    let trusted = format!("--tls-ca={}", Authority::new().file().display());
    // The file is gone with its authority.
    let ran = asked(&served, at, &[&trusted], 2);
    assert!(ran.err.contains("--tls-ca: "), "{}", ran.err);
    let authority = Authority::new();
    let trusted = format!("--tls-ca={}", authority.file().display());
    let ran = asked(&served, at, &[&trusted], 1);
    assert!(ran.err.contains("no encrypted connection"), "{}", ran.err);
}

#[test]
fn options_of_the_wrong_side_are_refused() {
    let directory = scratch();
    let at = directory.path();
    let token = token_file(at, "token", "a-secret-of-some-length");
    let readable = at.join("readable");
    fs::write(&readable, "a-secret-of-some-length").unwrap();
    fs::set_permissions(&readable, fs::Permissions::from_mode(0o644)).unwrap();
    let readable = format!("--token-file={}", readable.display());
    for (line, why) in [
        (vec!["--token=x", "--name=a", "--ioengine=null", "--size=4k"], "--server and --client"),
        (vec!["--server=127.0.0.1,1", "--tls-ca=x"], "--tls-ca: is for --client"),
        (vec!["--server=127.0.0.1,1", "--tls-cert=x"], "give both or neither"),
        (vec!["--server=127.0.0.1,1", &token, "--token=x"], "give one of them"),
        (vec!["--server=127.0.0.1,1", &readable], "other users may read it"),
        (vec!["--client=127.0.0.1,1", "--tls-key=x", "--name=a"], "are for --server"),
    ] {
        let ran = fathom(at, &line);
        assert!(ran.code != 0 && ran.err.contains(why), "{line:?}: {} {}", ran.code, ran.err);
    }
}

//! `fathom app` with real database servers: those it starts, and one of the user's own.

use crate::common::*;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A directory that servers' users may enter, as those above the built program may not be.
fn open_scratch() -> TempDir {
    let scratch = tempfile::tempdir().unwrap();
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755)).unwrap();
    scratch
}

#[track_caller]
fn app(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM).arg("app").args(arguments).current_dir(directory))
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

/// Servers whose data lies below a directory.
fn servers_below(directory: &Path) -> Vec<String> {
    let listed = run(Command::new("ps").args(["-eo", "args"])).out;
    let name = directory.to_str().unwrap();
    let is_server =
        |line: &&str| ["mariadbd", "postgres"].iter().any(|server| line.contains(server));
    let ours = listed.lines().filter(is_server).filter(|line| line.contains(name));
    ours.filter(|line| !line.contains(FATHOM)).map(str::to_owned).collect()
}

fn phases(value: &Value) -> Vec<(String, String)> {
    let text = |phase: &Value, key: &str| phase[key].as_str().unwrap().to_owned();
    let phases = value["phases"].as_array().unwrap();
    phases.iter().map(|phase| (text(phase, "phase"), text(phase, "caches"))).collect()
}

#[track_caller]
fn is_tested_and_gone(database: &str) {
    let directory = open_scratch();
    let at = directory.path();
    let options = ["--rows=3000", "--repeat=2", "--json", "--no-record"];
    let ran = app(at, &[&[database], &options[..]].concat()).expect(0);
    let value = ran.json();
    let expected = [
        ("fetch", "warm"),
        ("insert", "warm"),
        ("count-cold", "dropped"),
        ("count-warm", "warm"),
        ("index", "warm"),
    ];
    let expected = expected.map(|(name, caches)| (format!("{database}-{name}"), caches.to_owned()));
    assert_eq!(phases(&value), expected);
    for phase in value["phases"].as_array().unwrap() {
        assert_eq!((&phase["amount"], &phase["rounds"]), (&3000.into(), &2.into()));
        assert!(phase["per_second"]["value"].as_f64().unwrap() > 0.0, "{phase}");
    }
    assert!(is_empty(at), "{ran:?}");
    assert_eq!(servers_below(at), Vec::<String>::new());
}

#[test]
fn mariadb_is_started_tested_and_gone() {
    is_tested_and_gone("mysql");
}

#[test]
fn postgresql_is_started_tested_and_gone() {
    is_tested_and_gone("postgres");
}

#[test]
fn a_signal_takes_the_server_along() {
    for signal in [Signal::INT, Signal::KILL] {
        let directory = open_scratch();
        let at = directory.path();
        let running = Running::fathom("app", at, &["postgres", "--rows=2000000", "--no-record"]);
        wait_until("the server", || !servers_below(at).is_empty());
        running.signal(signal);
        let ran = running.end();
        assert_eq!(ran.code, if signal == Signal::INT { 130 } else { -9 }, "{ran:?}");
        wait_until("the end of the server", || servers_below(at).is_empty());
        assert_eq!(is_empty(at), signal == Signal::INT, "only who is killed leaves anything");
    }
}

#[test]
fn a_terminal_that_goes_while_a_server_is_made_leaves_nothing() {
    let directory = open_scratch();
    let at = directory.path();
    let running = Running::fathom("app", at, &["postgres", "--rows=3000", "--no-record"]);
    wait_until("the scratch directory", || !is_empty(at));
    running.signal(Signal::HUP);
    assert_eq!(running.end().code, 129);
    wait_until("the end of the server", || servers_below(at).is_empty());
    assert!(is_empty(at));
}

/// A server of somebody's own, run by the test; it goes before its files do.
struct Theirs {
    server: apps::Server,
    _directory: TempDir,
}

impl Theirs {
    fn start(database: apps::Database) -> Theirs {
        let directory = open_scratch();
        let mut server = apps::Server::prepare(database, directory.path()).unwrap();
        server.start(&|| true).unwrap();
        Theirs { server, _directory: directory }
    }

    fn sockets(&self) -> String {
        self.server.sockets().display().to_string()
    }
}

#[test]
fn a_postgresql_of_ones_own_keeps_only_what_it_had() {
    let theirs = Theirs::start(apps::Database::Postgres);
    let sockets = theirs.sockets();
    let psql = |sql: &str| {
        system("psql", &["-h", &sockets, "-U", "fathom", "-d", "postgres", "-Atc", sql])
    };
    psql("CREATE TABLE precious AS SELECT 1 AS x");
    psql("CREATE ROLE guest LOGIN PASSWORD 'right'");
    let directory = scratch();
    let at = directory.path();
    let host = sockets.replace('/', "%2F");
    let dsn = format!("--dsn=postgres://fathom:se%40cret@{host}/postgres");
    let ran =
        app(at, &["postgres", &dsn, "--rows=2000", "--repeat=1", "--record=set.json", "--json"])
            .expect(0);
    let told = phases(&ran.json());
    assert_eq!(told[2], ("postgres-count-first".into(), "warm".into()), "{told:?}");
    assert_eq!(psql("SELECT relname FROM pg_stat_user_tables"), "precious");
    let record = fs::read_to_string(at.join("set.json")).unwrap();
    assert!(
        !record.contains("cret") && record.contains("postgres://fathom@"),
        "no password is kept"
    );
    // Who may not make a table is told so by the server, and nobody else's is touched.
    let dsn = format!("--dsn=postgres://guest@{host}/postgres");
    let ran = app(at, &["postgres", &dsn, "--rows=10", "--no-record"]).expect(1);
    assert!(ran.out.contains("permission denied for schema public"), "{}", ran.out);
    let dsn = format!("--dsn=postgres://nobody@{host}/postgres");
    let ran = app(at, &["postgres", &dsn, "--no-record"]).expect(3);
    assert!(ran.err.contains("role \"nobody\" does not exist"), "{}", ran.err);
    assert_eq!(psql("SELECT x FROM precious"), "1");
    fs::remove_file(at.join("set.json")).unwrap();
    assert!(is_empty(at));
}

#[test]
fn a_mariadb_of_ones_own_keeps_only_what_it_had() {
    let theirs = Theirs::start(apps::Database::Mysql);
    let socket = format!("{}/socket", theirs.sockets());
    let option = format!("--socket={socket}");
    let mariadb =
        |sql: &str| system("mariadb", &["--no-defaults", &option, "--user=root", "-BNe", sql]);
    mariadb(
        "CREATE DATABASE shop; CREATE TABLE shop.precious (x INT); INSERT INTO shop.precious VALUES (1)",
    );
    mariadb(
        "CREATE USER me@localhost IDENTIFIED BY 'se@cret'; GRANT ALL ON shop.* TO me@localhost",
    );
    let directory = scratch();
    let at = directory.path();
    let dsn =
        |password: &str| format!("--dsn=mysql://me:{password}@localhost/shop?socket={socket}");
    let options = ["--rows=2000", "--repeat=1", "--json", "--no-record"];
    let ran = app(at, &[&["mysql", dsn("se%40cret").as_str()], &options[..]].concat()).expect(0);
    assert_eq!(phases(&ran.json()).len(), 5);
    assert_eq!(mariadb("SHOW TABLES IN shop; SELECT x FROM shop.precious"), "precious\n1");
    let ran = app(at, &["mysql", &dsn("wrong"), "--no-record"]).expect(3);
    assert!(ran.err.contains("Access denied for user 'me'@'localhost'"), "{}", ran.err);
    assert!(!ran.err.contains("wrong"), "no password is shown: {}", ran.err);
    assert!(is_empty(at));
}

#[test]
fn servers_that_are_not_there_are_told() {
    let directory = scratch();
    let at = directory.path();
    let port = free_port();
    for (database, scheme) in [("postgres", "postgres"), ("mysql", "mariadb")] {
        let dsn = format!("--dsn={scheme}://me@127.0.0.1:{port}/shop");
        let ran = app(at, &[database, &dsn, "--no-record"]).expect(3);
        let refused = ran.err.contains("refused") || ran.err.contains("Can't connect to server");
        assert!(refused && ran.err.contains(&port.to_string()), "{}", ran.err);
    }
    for (arguments, says) in [
        (["mysql", "--dsn=postgres://x/y"], "names a postgres server, but the benchmark is mysql"),
        (["mysql,postgres", "--dsn=postgres://x/y"], "--dsn is for one server"),
        (["gzip", "--dsn=postgres://x/y"], "--dsn is only for mysql, postgres"),
        (["mysql", "--dsn=oracle://x/y"], "'oracle' is no database known here"),
        (["mysql", "--dsn=mysql://x"], "it names no database"),
    ] {
        let ran = app(at, &arguments).expect(2);
        assert!(ran.err.contains(says), "{arguments:?}: {}", ran.err);
    }
    let closed = at.join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let ran = app(at, &["postgres", "closed", "--no-record"]).expect(3);
    assert!(ran.err.contains("who must be able to enter every directory above"), "{}", ran.err);
    assert!(is_empty(&closed));
}

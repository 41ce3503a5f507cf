//! A server of PostgreSQL in a directory of its own, which can go away and come back.

use crate::tls::Identity;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Every user's password.
const PASSWORD: &str = "s3cret";

/// A server on loopback, whose users log in with a password. It is killed when the value is dropped or this
/// process is killed.
pub struct Postgres {
    directory: TempDir,
    port: u16,
    child: Option<Child>,
}

impl Postgres {
    /// Makes a server and starts it. With an identity it also speaks TLS.
    ///
    /// # Panics
    /// When PostgreSQL is not installed or does not start.
    #[track_caller]
    pub fn start(tls: Option<&Identity>) -> Postgres {
        let directory = testbed::scratch();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("a socket has an address").port();
        drop(listener);
        let mut server = Postgres { directory, port, child: None };
        let home = server.directory.path();
        std::fs::write(home.join("password"), PASSWORD).expect("a file");
        own(home);
        let passwords = format!("--pwfile={}", home.join("password").display());
        let mut make = server.command("initdb");
        make.args(["-A", "scram-sha-256", "-U", "owner", "-E", "UTF8", "--locale=C.UTF-8", "-N"]);
        make.arg(passwords).arg("-D").arg(home.join("data")).stdout(Stdio::null());
        assert!(make.status().expect("initdb").success(), "initdb failed");
        if let Some((certificate, key)) = tls.map(|identity| identity.files(home)) {
            let settings = format!(
                "ssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'\n",
                certificate.display(),
                key.display()
            );
            let file = home.join("data/postgresql.auto.conf");
            std::fs::write(&file, settings).expect("a file");
            own(home);
            let mut close = Command::new("chmod");
            assert!(close.arg("600").arg(&key).status().expect("chmod").success());
        }
        server.resume();
        server
    }

    /// The address of a database for a user.
    pub fn address(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}:{PASSWORD}@127.0.0.1:{}/{database}", self.port)
    }

    /// Runs statements as the owner of the server, and returns what they print.
    ///
    /// # Panics
    /// When they fail.
    #[track_caller]
    pub fn sql(&self, database: &str, statements: &str) -> String {
        let mut psql = testbed::command("psql");
        psql.args(["-At", "-v", "ON_ERROR_STOP=1", "-d", &self.address("owner", database), "-c"]);
        let done = psql.arg(statements).output().expect("psql");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{statements}: {said}");
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    /// Makes a user who may log in.
    ///
    /// # Panics
    /// When the server does not.
    #[track_caller]
    pub fn add_user(&self, name: &str) {
        self.sql("postgres", &format!("CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'"));
    }

    /// Kills the server, as a power cut would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // SIGQUIT ends its children too (PostgreSQL's documentation, "Shutting Down the Server").
            let mut quit = Command::new("kill");
            let _ = quit.args(["-QUIT", &child.id().to_string()]).status();
            let _ = child.wait();
        }
    }

    /// Starts the server again where it was.
    ///
    /// # Panics
    /// When it does not answer within a minute.
    #[track_caller]
    pub fn resume(&mut self) {
        let home = self.directory.path();
        let log = std::fs::File::create(home.join("log")).expect("a file");
        let mut start = self.command("postgres");
        start.arg("-D").arg(home.join("data")).arg("-k").arg(home);
        // Nobody measures it.
        for setting in ["fsync=off", "listen_addresses=127.0.0.1", "max_connections=200"] {
            start.args(["-c", setting]);
        }
        start.args(["-p", &self.port.to_string()]).stdin(Stdio::null()).stdout(Stdio::null());
        self.child = Some(start.stderr(log).spawn().expect("postgres"));
        let patience = Instant::now() + Duration::from_secs(60);
        let answers = || {
            let mut ask = Command::new("pg_isready");
            ask.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
            ask.status().is_ok_and(|status| status.success())
        };
        while !answers() {
            let said = std::fs::read_to_string(home.join("log")).unwrap_or_default();
            assert!(Instant::now() < patience, "no server: {said}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// A program of the server's, as a user that it agrees to run as.
    fn command(&self, program: &str) -> Command {
        let mut command = testbed::command("setpriv");
        command.args(["--pdeathsig", "QUIT", "--reuid=postgres", "--regid=postgres"]);
        command.args(["--clear-groups", "--"]).arg(programs().join(program));
        command.current_dir("/");
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Debian keeps the programs of each version in a directory.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").expect("the package postgresql");
    let versions = versions.map(|entry| entry.expect("an entry").path().join("bin"));
    versions.filter(|path| path.join("initdb").exists()).max().expect("the package postgresql")
}

/// Gives a directory to the user of the server.
fn own(directory: &Path) {
    let mut chown = Command::new("chown");
    chown.args(["-R", "postgres:postgres"]).arg(directory);
    assert!(chown.status().expect("chown").success());
}

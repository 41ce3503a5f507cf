//! Temporary database servers. Each runs in a scratch directory as a user without privileges,
//! listens on a private socket, and stops when its value is dropped.

use crate::client::ClientCall;
use crate::command::{run_to_end, stderr_summary};
use crate::connection::Connection;
use crate::programs::{self, Program};
use crate::{Database, Failure};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest time to wait for the first answer of a server.
const START_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Bytes of the end of a failed server's log that the message quotes.
const TOLD: usize = 1500;
/// The path of a socket has at most 107 characters (unix(7)). This many are left for its directory.
const SOCKETS_PATH_MAX: usize = 90;

/// Starts a program that ends with this process, and drops privileges.
const SETPRIV: Program = Program { name: "setpriv", package: "util-linux" };

/// A server, running or not.
pub struct Server {
    database: Database,
    program: PathBuf,
    setpriv: PathBuf,
    /// The user that runs the server, if it is not this process's user.
    user: Option<User>,
    data: PathBuf,
    log: PathBuf,
    /// The directory of the socket.
    sockets: PathBuf,
    /// The temporary directory of the socket, if the path beside the data is too long.
    _elsewhere: Option<TempDir>,
    child: Option<Child>,
}

struct User {
    name: String,
    user: u32,
    group: u32,
}

impl User {
    /// A user without privileges, if this process runs as root, because servers refuse to run as
    /// root.
    fn for_server(database: Database) -> Result<Option<User>, Failure> {
        if !geteuid().is_root() {
            return Ok(None);
        }
        let found = [database.user(), "nobody"].into_iter().find_map(|name| {
            let number = |option| id(option, name);
            Some(User { name: name.into(), user: number("-u")?, group: number("-g")? })
        });
        let none =
            || Failure(format!("there is neither a user '{}' nor 'nobody'", database.user()));
        found.map(Some).ok_or_else(none)
    }
}

/// The id that id(1) prints for a user.
fn id(option: &str, name: &str) -> Option<u32> {
    let output = Command::new("id").args([option, name]).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// The directory of the socket: beside the data, or a temporary directory if that path is too long.
fn place_of_sockets(home: &Path) -> Result<(PathBuf, Option<TempDir>), Failure> {
    let beside = home.join("sockets");
    if beside.as_os_str().len() <= SOCKETS_PATH_MAX {
        return Ok((beside, None));
    }
    let elsewhere = tempfile::Builder::new().prefix("fathom-app-").tempdir();
    let elsewhere =
        elsewhere.map_err(|e| Failure(format!("cannot make a place for a socket: {e}")))?;
    Ok((elsewhere.path().to_path_buf(), Some(elsewhere)))
}

impl Server {
    /// Creates the files of a server in an existing directory. Starts nothing.
    ///
    /// # Errors
    /// A program is not installed, with the package that holds it; the files cannot be made.
    pub fn prepare(database: Database, directory: &Path) -> Result<Server, Failure> {
        let programs: Vec<PathBuf> =
            database.server().iter().copied().map(programs::find).collect::<Result<_, _>>()?;
        let [make, program] = &programs[..] else {
            return Err(Failure(format!("{} has no server", database.name())));
        };
        let setpriv = programs::find(SETPRIV)?;
        let user = User::for_server(database)?;
        let home = directory.join(database.name());
        let (sockets, elsewhere) = place_of_sockets(&home)?;
        for owned in [&home, &sockets] {
            if !owned.exists() {
                fs::create_dir(owned).map_err(|error| Failure::io("make", owned, &error))?;
            }
            let given = user.as_ref().map_or(Ok(()), |u| chown(owned, Some(u.user), Some(u.group)));
            let closed =
                given.and_then(|()| fs::set_permissions(owned, fs::Permissions::from_mode(0o700)));
            closed.map_err(|error| Failure::io("give away", owned, &error))?;
        }
        let (data, log) = (home.join("data"), directory.join(format!("{}.log", database.name())));
        let server = Server {
            database,
            program: program.clone(),
            setpriv,
            user,
            data,
            log,
            sockets,
            _elsewhere: elsewhere,
            child: None,
        };
        server.make(make)?;
        Ok(server)
    }

    fn make(&self, program: &Path) -> Result<(), Failure> {
        let mut command = self.command(program);
        match self.database {
            Database::Mysql => command.args([
                "--no-defaults",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                &format!("--datadir={}", self.data.display()),
            ]),
            _ => command
                .args(["-A", "trust", "-U", "fathom", "-E", "UTF8", "--locale=C", "-D"])
                .arg(&self.data),
        };
        let name = program.display().to_string();
        run_to_end(&mut command, &name).map_err(|failure| self.explained(failure))
    }

    /// Adds a hint to a failure: the server's user may lack access to a directory above the data.
    fn explained(&self, failure: Failure) -> Failure {
        match (&self.user, failure.0.contains("ermission denied")) {
            (Some(user), true) => Failure(format!(
                "{} (the server runs as '{}', who must be able to enter every directory above {})",
                failure.0,
                user.name,
                self.data.display()
            )),
            _ => failure,
        }
    }

    /// A command that runs a program as the server's user. It ends with this process and receives
    /// no signals from the terminal.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(&self.setpriv);
        command.args(["--pdeathsig", "TERM"]);
        if let Some(user) = &self.user {
            command.args(["--clear-groups", &format!("--reuid={}", user.user)]);
            command.arg(format!("--regid={}", user.group));
        }
        command.arg("--").arg(program).process_group(0).current_dir("/");
        command
    }

    /// How to connect to the server.
    ///
    /// # Errors
    /// The client is not installed.
    pub fn connection(&self) -> Result<Connection, Failure> {
        let sockets = self.sockets.display();
        let arguments = match self.database {
            Database::Mysql => vec![
                "--no-defaults".into(),
                format!("--socket={sockets}/socket"),
                "--user=root".into(),
                "--database=mysql".into(),
            ],
            _ => ["-h", &sockets.to_string(), "-U", "fathom", "-d", "postgres"]
                .map(Into::into)
                .into(),
        };
        ClientCall::new(self.database, arguments, Vec::new()).map(Connection::Client)
    }

    /// The directory of the socket.
    pub fn sockets(&self) -> &Path {
        &self.sockets
    }

    /// Starts the server unless it runs, and waits until it answers. Stops waiting when
    /// `should_continue` returns false.
    ///
    /// # Errors
    /// Why it does not answer, with the end of its log.
    pub fn start(&mut self, should_continue: &dyn Fn() -> bool) -> Result<(), Failure> {
        if self.child.is_some() {
            return Ok(());
        }
        let mut command = self.command(&self.program);
        self.arguments(&mut command);
        let log =
            File::create(&self.log).map_err(|error| Failure::io("write", &self.log, &error))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let failed =
            |e: std::io::Error| Failure(format!("'{}' cannot be run: {e}", self.program.display()));
        self.child = Some(command.spawn().map_err(failed)?);
        let connection = self.connection()?;
        let began = Instant::now();
        loop {
            let Err(why) = connection.open().map(drop) else { return Ok(()) };
            let ended =
                self.child.as_mut().is_none_or(|child| !matches!(child.try_wait(), Ok(None)));
            if ended || began.elapsed() > START_TIMEOUT || !should_continue() {
                self.stop();
                let failure = Failure(format!(
                    "the {} server does not answer: {why}{}",
                    self.database.name(),
                    self.last_words()
                ));
                return Err(self.explained(failure));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn arguments(&self, command: &mut Command) {
        let (data, sockets) = (self.data.display(), self.sockets.display());
        match self.database {
            Database::Mysql => command.args([
                "--no-defaults".to_owned(),
                format!("--datadir={data}"),
                format!("--tmpdir={data}"),
                format!("--socket={sockets}/socket"),
                format!("--pid-file={sockets}/pid"),
                "--skip-networking".to_owned(),
                // A restarted server must start with an empty buffer pool.
                "--innodb-buffer-pool-dump-at-shutdown=OFF".to_owned(),
                "--innodb-buffer-pool-load-at-startup=OFF".to_owned(),
            ]),
            _ => command.args([
                "-D".to_owned(),
                data.to_string(),
                "-c".to_owned(),
                "listen_addresses=".to_owned(),
                "-c".to_owned(),
                format!("unix_socket_directories={sockets}"),
            ]),
        };
    }

    /// ": " and the end of the log.
    fn last_words(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        stderr_summary(&log[log.len().saturating_sub(TOLD)..])
    }

    /// Stops the server as its manual says, after it has written everything. Kills it after a
    /// minute.
    pub fn stop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // PostgreSQL ends sessions on SIGINT; on SIGTERM it waits for them.
        let signal = if self.database == Database::Postgres { Signal::INT } else { Signal::TERM };
        if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
            // A server that has already ended needs no signal.
            let _ = kill_process(pid, signal);
        }
        let began = Instant::now();
        while matches!(child.try_wait(), Ok(None)) {
            if began.elapsed() > START_TIMEOUT {
                let _ = child.kill();
                let _ = child.wait();
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::tests::executes_every_statement;

    /// A directory that the server's user may enter.
    fn open_scratch() -> TempDir {
        let scratch = tempfile::tempdir().unwrap();
        fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755)).unwrap();
        scratch
    }

    fn takes_all_and_is_gone(database: Database) {
        let scratch = open_scratch();
        let mut server = Server::prepare(database, scratch.path()).unwrap();
        let connection = server.connection().unwrap();
        assert!(connection.open().is_err(), "nothing runs yet");
        server.start(&|| true).unwrap();
        executes_every_statement(&connection);
        server.stop();
        assert!(connection.open().is_err(), "nothing runs any more");
        server.start(&|| true).unwrap();
        let pid = server.child.as_ref().unwrap().id();
        drop(server);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn sockets_lie_where_their_paths_are_short() {
        let (beside, elsewhere) = place_of_sockets(Path::new("/data/x/postgres")).unwrap();
        assert_eq!(beside, Path::new("/data/x/postgres/sockets"));
        assert!(elsewhere.is_none());
        let deep = format!("/data/{}", "deep/".repeat(20));
        let (sockets, elsewhere) = place_of_sockets(Path::new(&deep)).unwrap();
        assert!(sockets.as_os_str().len() <= SOCKETS_PATH_MAX && sockets.is_dir());
        drop(elsewhere);
        assert!(!sockets.exists());
    }

    #[test]
    fn mariadb_executes_every_statement_and_leaves_nothing() {
        takes_all_and_is_gone(Database::Mysql);
    }

    #[test]
    fn postgresql_executes_every_statement_and_leaves_nothing() {
        takes_all_and_is_gone(Database::Postgres);
    }

    #[test]
    fn a_server_that_cannot_start_says_why() {
        let scratch = open_scratch();
        let mut server = Server::prepare(Database::Postgres, scratch.path()).unwrap();
        fs::remove_file(server.data.join("PG_VERSION")).unwrap();
        let error = server.start(&|| true).unwrap_err();
        assert!(error.0.contains("PG_VERSION"), "{error}");
        let closed = scratch.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
        let error = Server::prepare(Database::Postgres, &closed).err().unwrap();
        assert!(error.0.contains("who must be able to enter every directory"), "{error}");
    }
}

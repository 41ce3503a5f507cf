//! Sessions with database servers through their own clients (psql, mariadb). The clients support
//! every way to log in, and users know their messages.

use crate::command::{read_tail, stderr_summary};
use crate::rows::Rows;
use crate::session::Session;
use crate::{Database, Failure, programs};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

/// Rows of one INSERT. A statement then stays well below the server's largest packet.
const ROWS_AT_ONCE: u64 = 500;

/// The command line of a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientCall {
    database: Database,
    program: PathBuf,
    arguments: Vec<String>,
    /// Variables set only for the client. Passwords are here because other users cannot see them in
    /// the list of processes.
    environment: Vec<(String, String)>,
}

impl ClientCall {
    /// The client of a database, called with `arguments` after the arguments for use by a program.
    ///
    /// # Errors
    /// It is not installed.
    pub(crate) fn new(
        database: Database,
        arguments: Vec<String>,
        environment: Vec<(String, String)>,
    ) -> Result<ClientCall, Failure> {
        let own: &[&str] = match database {
            Database::Sqlite => return Err(Failure("SQLite needs no client".into())),
            Database::Postgres => &["-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1"],
            Database::Mysql => &["--batch", "--skip-column-names", "--unbuffered"],
        };
        let client = programs::find_any(database.clients())?;
        // mariadb requires the options that name a file of defaults to come first.
        let (first, rest): (Vec<_>, Vec<_>) =
            arguments.into_iter().partition(|argument| argument.contains("-defaults"));
        let own = own.iter().map(|argument| (*argument).to_owned());
        Ok(ClientCall {
            database,
            program: client,
            arguments: first.into_iter().chain(own).chain(rest).collect(),
            environment,
        })
    }
}

/// A running client.
pub(crate) struct Client {
    database: Database,
    child: Child,
    to: Option<BufWriter<ChildStdin>>,
    from: BufReader<ChildStdout>,
    complaints: Option<JoinHandle<Vec<u8>>>,
    marks: u64,
}

impl Client {
    /// Starts the client, and waits until the server has answered.
    pub(crate) fn open(call: &ClientCall) -> Result<Client, Failure> {
        let name = call.program.display();
        let failed = |error: std::io::Error| Failure(format!("'{name}' cannot be run: {error}"));
        let mut command = Command::new(&call.program);
        command.args(&call.arguments).envs(call.environment.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (Some(to), Some(from), Some(complaints)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Failure(format!("'{name}' has no pipes")));
        };
        let mut client = Client {
            database: call.database,
            child,
            to: Some(BufWriter::with_capacity(1 << 18, to)),
            from: BufReader::new(from),
            complaints: Some(std::thread::spawn(move || read_tail(complaints))),
            marks: 0,
        };
        client.execute("SELECT 1")?;
        Ok(client)
    }

    fn send(&mut self, text: &str) -> Result<(), Failure> {
        let sent = self.to.as_mut().map(|to| to.write_all(text.as_bytes()));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.exit_failure()),
        }
    }

    /// Waits until all sent statements are done. Returns the first line of the answer.
    fn wait(&mut self) -> Result<String, Failure> {
        self.marks += 1;
        let mark = format!("fathom-mark-{}", self.marks);
        self.send(&format!("SELECT '{mark}';\n"))?;
        if self.to.as_mut().is_none_or(|to| to.flush().is_err()) {
            return Err(self.exit_failure());
        }
        let mut first: Option<String> = None;
        loop {
            let mut line = String::new();
            match self.from.read_line(&mut line) {
                Ok(1..) if line.trim() == mark => return Ok(first.unwrap_or_default()),
                Ok(1..) => {
                    first.get_or_insert_with(|| line.trim().to_owned());
                }
                _ => return Err(self.exit_failure()),
            }
        }
    }

    /// The reason why a client ended unexpectedly.
    fn exit_failure(&mut self) -> Failure {
        self.to = None;
        let mut rest = Vec::new();
        // Further output is not an answer to a statement.
        let _ = self.from.read_to_end(&mut rest);
        let stderr =
            self.complaints.take().and_then(|stderr| stderr.join().ok()).unwrap_or_default();
        let _ = self.child.wait();
        match stderr_summary(&stderr).as_str() {
            "" => Failure(format!("the client of {} ended without a word", self.database.name())),
            stderr => Failure(format!("{}{stderr}", self.database.name())),
        }
    }

    fn copy(&mut self, table: &str, rows: &Rows) -> Result<(), Failure> {
        self.send(&format!("COPY {table} FROM STDIN;\n"))?;
        let mut line = String::new();
        rows.each(|row| {
            line.clear();
            let _ = writeln!(
                line,
                "{}\t{}\t{}\t{}\t{}\t{}",
                row.id, row.customer, row.city, row.kind, row.amount, row.note
            );
            self.send(&line)
        })?;
        self.send("\\.\n")
    }

    fn insert(&mut self, table: &str, rows: &Rows) -> Result<(), Failure> {
        self.send("START TRANSACTION;\n")?;
        let mut sql = String::new();
        rows.each(|row| {
            sql += if sql.is_empty() { "" } else { "," };
            let _ = write!(
                sql,
                "({},{},'{}',{},{},'{}')",
                row.id, row.customer, row.city, row.kind, row.amount, row.note
            );
            let full = (row.id + 1) % ROWS_AT_ONCE == 0 || row.id + 1 == rows.count;
            if !full {
                return Ok(());
            }
            self.send(&format!("INSERT INTO {table} VALUES {};\n", std::mem::take(&mut sql)))
        })?;
        self.send("COMMIT;\n")
    }
}

impl Session for Client {
    fn execute(&mut self, sql: &str) -> Result<String, Failure> {
        self.send(&format!("{sql};\n"))?;
        self.wait()
    }

    fn fill(&mut self, table: &str, rows: &Rows) -> Result<(), Failure> {
        match self.database {
            Database::Postgres => self.copy(table, rows)?,
            Database::Mysql | Database::Sqlite => self.insert(table, rows)?,
        }
        self.wait().map(drop)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The client ends the session at the end of its input.
        self.to = None;
        let _ = self.child.wait();
    }
}

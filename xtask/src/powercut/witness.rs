//! Databases that commit rows beside the writes, and say each to the host. After the cut they have to be
//! there.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian puts each version of PostgreSQL: VERSION/bin, and VERSION below the second one.
const POSTGRES: [&str; 2] = ["/usr/lib/postgresql", "/usr/share/postgresql"];

/// Who runs PostgreSQL, which refuses root: nobody.
const USER: u32 = 65534;

/// A database that commits rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witness {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

impl Witness {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Witness::Sqlite => "SQLite",
            Witness::Postgres => "PostgreSQL",
        }
    }

    /// Lines of shell for the guest that commit row after row on what is mounted, and say "ROW n" after
    /// the commit of row n. What an earlier cut left in the table is dropped first.
    pub fn commit_rows(self) -> Result<String> {
        const NEW: &str = "drop table if exists t; create table t(n integer)";
        Ok(match self {
            Witness::Sqlite => format!(
                "(sqlite3 /mnt/test.db '{NEW}'; n=0; while n=$((n+1)); \
                 sqlite3 /mnt/test.db \"insert into t values($n)\"; do echo \"ROW $n\"; done) &"
            ),
            // psql shows what a statement returns when the server says that it is committed.
            Witness::Postgres => format!(
                "{} (psql='{} -h /tmp -U postgres -qAt'; $psql -c '{NEW}'; n=0; while n=$((n+1)); do \
                 echo \"insert into t values($n) returning 'ROW ' || n;\"; done | $psql) &",
                start_postgres()?,
                newest()?.join("bin/psql").display(),
            ),
        })
    }

    /// Lines of shell for the guest that say "WITNESS ok n" if the database is whole and row n is the
    /// last one, and something else otherwise.
    pub fn check_rows(self) -> Result<String> {
        Ok(match self {
            Witness::Sqlite => "echo WITNESS $(sqlite3 /mnt/test.db \
                                'pragma integrity_check; select max(n) from t' 2>&1);"
                .to_owned(),
            Witness::Postgres => format!(
                "{} echo WITNESS $({} -h /tmp -U postgres -qAt -c \"select case when count(*) = max(n) \
                 then 'ok ' else 'rows are missing before ' end || max(n) from t\" 2>&1); \
                 kill -INT $(head -n 1 /mnt/pg/postmaster.pid); \
                 while [ -e /mnt/pg/postmaster.pid ]; do sleep 0.1; done;",
                start_postgres()?,
                newest()?.join("bin/psql").display(),
            ),
        })
    }

    /// What the guest needs besides the tools that it always has: programs, and directories of theirs.
    pub fn files(self) -> Result<Vec<PathBuf>> {
        let Witness::Postgres = self else { return Ok(Vec::new()) };
        let newest = newest()?;
        let version = newest.file_name().context("a directory has a name")?;
        let shared = Path::new(POSTGRES[1]).join(version);
        // The server insists on its directory of libraries.
        let own = ["bin/postgres", "bin/psql", "lib/plpgsql.so"].map(|name| newest.join(name));
        Ok(own.into_iter().chain([shared.join("timezonesets")]).collect())
    }

    /// Makes in `directory` what the filesystem holds at first. `None`: nothing.
    pub fn initial_files(self, directory: &Path) -> Result<Option<PathBuf>> {
        let Witness::Postgres = self else { return Ok(None) };
        let files = directory.join("files");
        let cluster = files.join("pg");
        let _ = fs::remove_dir_all(&files);
        fs::create_dir_all(&cluster)?;
        let mut initdb = Command::new(newest()?.join("bin/initdb"));
        initdb.args(["--username=postgres", "--auth=trust", "--wal-segsize=1", "--no-sync"]);
        initdb.args(["--encoding=UTF8", "--locale=C", "--pgdata"]).arg(&cluster);
        if rustix::process::geteuid().is_root() {
            use std::os::unix::process::CommandExt;
            chown(&cluster, Some(USER), Some(USER))?;
            fs::set_permissions(&cluster, fs::Permissions::from_mode(0o700))?;
            // The way to this project may be closed to others.
            initdb.current_dir("/").uid(USER).gid(USER);
        }
        let output = initdb.output().context("initdb (postgresql)")?;
        ensure!(output.status.success(), "initdb: {}", String::from_utf8_lossy(&output.stderr));
        fs::OpenOptions::new()
            .append(true)
            .open(cluster.join("postgresql.conf"))
            .and_then(|mut file| std::io::Write::write_all(&mut file, SETTINGS.as_bytes()))?;
        Ok(Some(files))
    }
}

/// Every setting of durability has its default. The guest has a few MiB for logs and no network.
const SETTINGS: &str = "listen_addresses = ''
unix_socket_directories = '/tmp'
shared_buffers = 4MB
min_wal_size = 2MB
max_wal_size = 16MB
timezone = 'GMT'
log_timezone = 'GMT'
jit = off
";

/// Lines of shell that start the server, and wait until it answers or has given up. Each power-on has
/// the same processes, so the number in a lock file of before the cut may be that of another one.
fn start_postgres() -> Result<String> {
    let bin = newest()?.join("bin");
    let bin = bin.display();
    Ok(format!(
        "mkdir -p /etc /dev/shm; chmod 1777 /tmp /dev/shm; \
         echo pg:x:$(stat -c %u /mnt/pg):$(stat -c %g /mnt/pg)::/:/bin/sh >/etc/passwd; \
         rm -f /tmp/pg.ended /mnt/pg/postmaster.pid; \
         (su pg -c '{bin}/postgres -D /mnt/pg' >/tmp/pg.log 2>&1; touch /tmp/pg.ended) & \
         until {bin}/psql -h /tmp -U postgres -qAtc 'select 1' >/dev/null 2>&1 || \
         [ -e /tmp/pg.ended ]; do sleep 0.1; done; [ -e /tmp/pg.ended ] && cat /tmp/pg.log;"
    ))
}

/// The directory of the newest PostgreSQL that is installed.
fn newest() -> Result<PathBuf> {
    let versions = fs::read_dir(POSTGRES[0]).into_iter().flatten().flatten();
    let numbered = versions.filter_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        entry.path().join("bin/initdb").exists().then(|| (number, entry.path()))
    });
    let newest = numbered.max().context("PostgreSQL is not installed (postgresql)")?;
    Ok(newest.1)
}

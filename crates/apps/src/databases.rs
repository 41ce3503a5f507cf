//! The databases there are tests for.

use crate::programs::Program;
use serde::{Deserialize, Serialize};

/// A database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Database {
    /// SQLite, which is part of this program.
    Sqlite,
    /// MySQL and MariaDB.
    Mysql,
    /// PostgreSQL.
    Postgres,
}

impl Database {
    /// As it is typed: "sqlite", "mysql", "postgres".
    pub fn name(self) -> &'static str {
        match self {
            Database::Sqlite => "sqlite",
            Database::Mysql => "mysql",
            Database::Postgres => "postgres",
        }
    }

    /// Programs that talk to it, the first that is there; none where none is needed.
    pub(crate) fn clients(self) -> &'static [Program] {
        const MARIADB: &str = "mariadb-client";
        match self {
            Database::Sqlite => &[],
            // The second is MySQL's own, and takes the same options.
            Database::Mysql => &[
                Program { name: "mariadb", package: MARIADB },
                Program { name: "mysql", package: MARIADB },
            ],
            Database::Postgres => &[Program { name: "psql", package: "postgresql-client" }],
        }
    }

    /// The programs that make and run one of its servers.
    pub(crate) fn server(self) -> &'static [Program] {
        const MARIADB: &str = "mariadb-server";
        match self {
            Database::Sqlite => &[],
            Database::Mysql => &[
                Program { name: "mariadb-install-db", package: MARIADB },
                Program { name: "mariadbd", package: MARIADB },
            ],
            Database::Postgres => &[
                Program { name: "initdb", package: "postgresql" },
                Program { name: "postgres", package: "postgresql" },
            ],
        }
    }

    /// The user that Debian's package runs it as.
    pub(crate) fn user(self) -> &'static str {
        if self == Database::Mysql { "mysql" } else { "postgres" }
    }
}

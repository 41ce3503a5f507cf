//! The supported databases.

use crate::programs::Program;
use record::named;
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

named!(Database: Sqlite "sqlite", Mysql "mysql", Postgres "postgres");

impl Database {
    /// Its client programs: the first one installed is used. Empty if none is needed.
    pub(crate) fn clients(self) -> &'static [Program] {
        const MARIADB: &str = "mariadb-client";
        match self {
            Database::Sqlite => &[],
            // MySQL's own client takes the same options.
            Database::Mysql => &[
                Program { name: "mariadb", package: MARIADB },
                Program { name: "mysql", package: MARIADB },
            ],
            Database::Postgres => &[Program { name: "psql", package: "postgresql-client" }],
        }
    }

    /// The programs that set up and run a server.
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

    /// The user that runs the server of Debian's package.
    pub(crate) fn user(self) -> &'static str {
        if self == Database::Mysql { "mysql" } else { "postgres" }
    }
}

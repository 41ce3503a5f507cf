//! The phases of a database benchmark: fetch rows into a temporary table, insert them into a permanent
//! one, count them cold and warm, and index three columns.

use super::request::{AppRequest, DatabaseTarget, PlannedPhase};
use crate::Database;
use crate::rows::Rows;
use crate::session::Statement;
use crate::task::{Action, Caches, Task, Timed};
use record::{Amount, Nanos, WorkUnit};
use std::path::Path;
use suite::app::Phase;

/// Name of the phase of the user's statements.
const SQL: &str = "sql";

/// Assumed rows a second, for the expected time.
const ROWS_PER_SECOND: f64 = 100_000.0;

/// One phase of the benchmark.
struct Test {
    name: &'static str,
    label: &'static str,
    before: Vec<Statement>,
    timed: Statement,
    caches: Caches,
    /// It writes data that a sync can write to the disk within its time. fathom cannot sync the data of
    /// a remote server.
    writes: bool,
    restart: bool,
}

pub(super) fn phases(
    request: &AppRequest,
    database: Database,
    target: &DatabaseTarget,
    directory: &Path,
) -> Vec<PlannedPhase> {
    let tests = tests(request, target);
    tests.into_iter().map(|test| planned(request, database, target, directory, test)).collect()
}

fn tests(request: &AppRequest, target: &DatabaseTarget) -> Vec<Test> {
    let rows = Rows { count: request.rows, seed: request.seed };
    let table = || target.table.clone();
    let fetch = || vec![Statement::Temporary, Statement::Fetch(rows)];
    let count = || Statement::Count(table(), request.rows);
    // fathom cannot empty the memory of a remote server.
    let caches = if target.restarts { request.caches() } else { Caches::Left };
    let (first, first_label) = match target.restarts {
        true => ("count-cold", "count all rows, cold"),
        false => ("count-first", "count all rows, first time"),
    };
    let tests = vec![
        Test {
            name: "fetch",
            label: "fetch rows into a temporary table",
            before: vec![Statement::Temporary],
            timed: Statement::Fetch(rows),
            caches,
            writes: target.restarts,
            restart: false,
        },
        Test {
            name: "insert",
            label: "insert them into a permanent table",
            before: [vec![Statement::Table(table())], fetch()].concat(),
            timed: Statement::Insert(table()),
            caches,
            writes: target.restarts,
            restart: false,
        },
        Test {
            name: first,
            label: first_label,
            before: Vec::new(),
            timed: count(),
            caches: if target.restarts { Caches::Emptied } else { Caches::Left },
            writes: false,
            restart: target.restarts,
        },
        Test {
            name: "count-warm",
            label: "count all rows again",
            before: vec![count()],
            timed: count(),
            caches: Caches::Left,
            writes: false,
            restart: false,
        },
        Test {
            name: "index",
            label: "index over three columns",
            before: Vec::new(),
            timed: Statement::Index(table()),
            caches,
            writes: target.restarts,
            restart: false,
        },
    ];
    tests.into_iter().chain(own_statements(request, target, caches)).collect()
}

/// The user's statements.
fn own_statements(request: &AppRequest, target: &DatabaseTarget, caches: Caches) -> Option<Test> {
    let sql = request.sql.as_ref()?.replace("{table}", &target.table);
    Some(Test {
        name: SQL,
        label: "statements of --sql",
        before: Vec::new(),
        timed: Statement::Script(sql),
        caches,
        writes: target.restarts,
        restart: false,
    })
}

fn planned(
    request: &AppRequest,
    database: Database,
    target: &DatabaseTarget,
    directory: &Path,
    test: Test,
) -> PlannedPhase {
    // The time of a test excludes connecting.
    let connect = Statement::Connect;
    let before = std::iter::once(connect).chain(test.before).map(Action::Database).collect();
    let mut timed = vec![Timed { name: test.name.into(), action: Action::Database(test.timed) }];
    let synced = request.sync && test.writes;
    timed.extend(synced.then(|| Timed { name: "sync".into(), action: Action::Sync }));
    PlannedPhase {
        phase: Phase {
            name: format!("{}-{}", database.name(), test.name),
            label: format!("{}: {}", database.name(), test.label),
            work: database.name().into(),
            duration: Nanos(((request.rows as f64 / ROWS_PER_SECOND + 1.0) * 1e9) as u64),
        },
        task: Task {
            directory: directory.into(),
            before,
            caches: test.caches,
            database: Some(target.connection.clone()),
            timed,
            amount: (test.name != SQL)
                .then_some(Amount { count: request.rows, unit: WorkUnit::Rows }),
        },
        server: (target.restarts && database != Database::Sqlite).then_some(database),
        restart: test.restart && database != Database::Sqlite,
    }
}

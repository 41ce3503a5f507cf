//! The tests with a database: rows are fetched into a temporary table, inserted into a permanent one,
//! counted before and after they are in memory, and indexed over three columns.

use super::{AppRequest, DatabaseTarget, PlannedPhase};
use crate::Database;
use crate::rows::Rows;
use crate::session::Statement;
use crate::task::{Action, Caches, Task, Timed};
use record::{Amount, Nanos, WorkUnit};
use std::path::Path;
use suite::app::Phase;

/// Rows a second, for a guess at the time it takes.
const PACE: f64 = 100_000.0;

/// One of the tests.
struct Test {
    name: &'static str,
    label: &'static str,
    before: Vec<Statement>,
    timed: Statement,
    caches: Caches,
    /// What it writes is written out within its time, where that is asked for; that of a server
    /// elsewhere cannot be.
    writes: bool,
    restart: bool,
}

pub(super) fn phases(
    request: &AppRequest,
    database: Database,
    base: &DatabaseTarget,
    directory: &Path,
) -> Vec<PlannedPhase> {
    let tests = tests(request, base);
    tests.into_iter().map(|test| planned(request, database, base, directory, test)).collect()
}

fn tests(request: &AppRequest, base: &DatabaseTarget) -> Vec<Test> {
    let rows = Rows { count: request.rows, seed: request.seed };
    let table = || base.table.clone();
    let fetched = || vec![Statement::Temporary, Statement::Fetch(rows)];
    let count = || Statement::Count(table(), request.rows);
    // What a server elsewhere has in memory is its own affair.
    let caches = if base.restarts { request.caches() } else { Caches::Left };
    let (first, first_label) = match base.restarts {
        true => ("count-cold", "count all rows, cold"),
        false => ("count-first", "count all rows, first time"),
    };
    vec![
        Test {
            name: "fetch",
            label: "fetch rows into a temporary table",
            before: vec![Statement::Temporary],
            timed: Statement::Fetch(rows),
            caches,
            writes: base.restarts,
            restart: false,
        },
        Test {
            name: "insert",
            label: "insert them into a permanent table",
            before: [vec![Statement::Table(table())], fetched()].concat(),
            timed: Statement::Insert(table()),
            caches,
            writes: base.restarts,
            restart: false,
        },
        Test {
            name: first,
            label: first_label,
            before: Vec::new(),
            timed: count(),
            caches: if base.restarts { Caches::Emptied } else { Caches::Left },
            writes: false,
            restart: base.restarts,
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
            writes: base.restarts,
            restart: false,
        },
    ]
}

fn planned(
    request: &AppRequest,
    database: Database,
    base: &DatabaseTarget,
    directory: &Path,
    test: Test,
) -> PlannedPhase {
    // Connecting is no part of any test.
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
            duration: Nanos(((request.rows as f64 / PACE + 1.0) * 1e9) as u64),
        },
        task: Task {
            directory: directory.into(),
            before,
            caches: test.caches,
            database: Some(base.connection.clone()),
            timed,
            amount: Some(Amount { count: request.rows, unit: WorkUnit::Rows }),
        },
        server: (base.restarts && database != Database::Sqlite).then_some(database),
        restart: test.restart && database != Database::Sqlite,
    }
}

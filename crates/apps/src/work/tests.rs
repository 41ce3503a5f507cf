use super::*;
use crate::Connection;
use crate::task::{Caches, Task};
use record::Bytes;

fn request(kinds: &[Kind]) -> AppRequest {
    AppRequest {
        kinds: kinds.to_vec(),
        size: Bytes(64 << 20),
        files: 1000,
        sources: 40,
        rows: 5000,
        seed: 1,
        jobs: 2,
        sync: true,
        cold: true,
        tree: None,
        command: None,
        sql: None,
    }
}

fn names(plan: &[PlannedPhase]) -> Vec<&str> {
    plan.iter().map(|planned| planned.phase.name.as_str()).collect()
}

#[test]
fn every_benchmark_has_its_phases_in_order() {
    let sqlite = Kind::Database(Database::Sqlite);
    let base = DatabaseTarget {
        connection: Connection::Sqlite("/x/y.db".into()),
        table: "t".into(),
        restarts: true,
    };
    let all = request(&[Kind::Gzip, Kind::Gunzip, Kind::Copy, Kind::Compile, sqlite]);
    let plan = all.plan(Path::new("/x"), &[base]);
    assert_eq!(
        names(&plan),
        [
            "gzip",
            "gunzip",
            "copy",
            "configure",
            "make",
            "sqlite-fetch",
            "sqlite-insert",
            "sqlite-count-cold",
            "sqlite-count-warm",
            "sqlite-index"
        ]
    );
    assert_eq!(plan[0].phase.label, "gzip an archive of 64 MiB");
    let parts: Vec<usize> = plan.iter().map(|planned| planned.task.timed.len()).collect();
    assert_eq!(parts, [2, 2, 2, 2, 2, 2, 2, 1, 1, 2], "phases that only read have no sync");
    let warm = plan.iter().filter(|planned| planned.task.caches == Caches::Left);
    assert_eq!(names(&warm.cloned().collect::<Vec<_>>()), ["sqlite-count-warm"]);
    assert!(plan.iter().all(|planned| planned.server.is_none() && !planned.restart));
}

#[test]
fn own_statements_are_a_phase_after_the_others() {
    let sqlite = Kind::Database(Database::Sqlite);
    let target = DatabaseTarget {
        connection: Connection::Sqlite("/x/y.db".into()),
        table: "shop".into(),
        restarts: true,
    };
    let sql = Some("SELECT * FROM {table} WHERE amount > 5".to_owned());
    let plan = AppRequest { sql, ..request(&[sqlite]) }.plan(Path::new("/x"), &[target]);
    assert_eq!(names(&plan).last(), Some(&"sqlite-sql"));
    let task = &plan.last().unwrap().task;
    let text = format!("{:?}", task.timed);
    assert!(text.contains("SELECT * FROM shop WHERE amount > 5"), "{text}");
    assert_eq!((task.amount, task.timed.len()), (None, 2), "with its sync");
}

#[test]
fn only_a_server_that_fathom_runs_is_restarted() {
    let postgres = Kind::Database(Database::Postgres);
    let base = |restarts| DatabaseTarget {
        connection: Connection::Sqlite("/x".into()),
        table: "t".into(),
        restarts,
    };
    let plan = request(&[postgres]).plan(Path::new("/x"), &[base(true)]);
    let restarted: Vec<_> = plan.iter().filter(|planned| planned.restart).cloned().collect();
    assert_eq!(names(&restarted), ["postgres-count-cold"]);
    assert!(plan.iter().all(|planned| planned.server == Some(Database::Postgres)));
    let plan = request(&[postgres]).plan(Path::new("/x"), &[base(false)]);
    assert_eq!(plan[2].phase.name, "postgres-count-first");
    assert!(plan.iter().all(|planned| planned.server.is_none() && !planned.restart));
    assert!(request(&[postgres]).plan(Path::new("/x"), &[]).is_empty());
}

#[test]
fn the_tree_of_a_user_is_only_copied() {
    let own = UserTree { path: "/home/me/src".into(), files: 7, bytes: 3 << 20 };
    let with = |command: Option<&str>| AppRequest {
        tree: Some(own.clone()),
        command: command.map(str::to_owned),
        ..request(&[Kind::Copy, Kind::Compile])
    };
    let plan = with(None).plan(Path::new("/x"), &[]);
    assert_eq!(names(&plan), ["copy", "compile"]);
    assert_eq!(plan[1].phase.label, "make -j2, 7 files");
    let printed = |plan: &[PlannedPhase]| format!("{:?}", plan);
    let touching = printed(&plan).matches("/home/me/src").count();
    let copying = printed(&plan).matches("\"--\", \"/home/me/src\", \"/x/tree\"").count();
    assert_eq!(touching, copying, "{plan:?}");
    let plan = with(Some("ninja")).plan(Path::new("/x"), &[]);
    assert_eq!(plan[1].phase.label, "ninja, 7 files");
    assert_eq!(plan[1].task.amount, None);
}

#[test]
fn the_space_needed_grows_with_the_request() {
    let space = |kinds: &[Kind]| request(kinds).space();
    assert_eq!(space(&[Kind::Copy]), 128 << 20);
    assert!(space(&[Kind::Copy, Kind::Gzip]) > space(&[Kind::Gzip]));
    let own = UserTree { path: "/x".into(), files: 1, bytes: 1 << 30 };
    let large = AppRequest { tree: Some(own), ..request(&[Kind::Copy]) };
    assert_eq!(large.space(), 2 << 30);
}

#[test]
fn a_task_survives_serialization() {
    let base = DatabaseTarget {
        connection: Connection::Sqlite("/x/y.db".into()),
        table: "t".into(),
        restarts: true,
    };
    for planned in
        request(&[Kind::Compile, Kind::Database(Database::Sqlite)]).plan(Path::new("/x"), &[base])
    {
        let text = serde_json::to_string(&planned.task).unwrap();
        assert_eq!(serde_json::from_str::<Task>(&text).unwrap(), planned.task);
    }
}

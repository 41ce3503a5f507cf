//! Archives on a server of PostgreSQL.

use crate::testing::{HOUR_MS, START_MS, add, archive, record};
use crate::{Archive, Filter, Lineage, Location, Now, Role, RunId, SetId, SetInfo};
use judge::Measure;
use record::{Cell, RunRecord};
use test_servers::{Authority, Postgres};

const NOW: Now = Now { unix_ms: START_MS + 100 * HOUR_MS, utc_offset_seconds: 0 };

fn opened(server: &Postgres, user: &str) -> Archive {
    Archive::open(&at(server, user)).unwrap()
}

fn at(server: &Postgres, user: &str) -> Location {
    Location::explicit(server.address(user, "postgres"))
}

/// Runs of sets, runs with labels, runs that failed, and one that was not judged.
fn fill(archive: &mut Archive) -> Vec<RunId> {
    let mut ids: Vec<RunId> =
        (0..6).map(|hour| add(archive, &record(["a", "b"][hour as usize % 2], hour))).collect();
    let set = SetInfo { id: SetId::random(), seed: u64::MAX, name: "/data/sweep".into() };
    for round in 0..3 {
        let cell = Cell { name: "depth 8".into(), round, at: Vec::new() };
        let run = RunRecord { cell: Some(cell), ..record("c", 10 + u64::from(round)) };
        let lineage = Lineage { kind: "sweep".into(), set: Some(set.clone()) };
        ids.push(archive.add(&run, &lineage).unwrap());
    }
    let interrupted = RunRecord { interrupted_by: Some(2), ..record("a", 20) };
    ids.push(add(archive, &interrupted));
    archive.tag(&ids[0], "base").unwrap();
    archive.tag(&ids[0], "also").unwrap();
    archive.set_note(&ids[1], "100% of it_all").unwrap();
    ids
}

#[test]
fn a_server_answers_as_a_file_does() {
    let server = Postgres::start(None);
    let (_directory, mut file) = archive();
    let ids = fill(&mut file);
    let mut there = opened(&server, "owner");
    assert_eq!(there.copy_from(&file, &ids).unwrap().copied, ids.len() as u64);
    assert_eq!(there.copy_from(&file, &ids).unwrap().skipped, ids.len() as u64, "once each");
    for words in [
        "",
        "job=a,c",
        "job=A",
        "job=*",
        "-job=a",
        "100%",
        "it_all",
        "t_al",
        "tag=base",
        "iops>3k sort=-iops",
        "read.p99>1us sort=p99",
        "sort=job limit=3",
        "limit=2 offset=3",
        "offset=8",
        "since=4d",
        "iodepth>31.5 errors<0.5 iodepth<=32",
        "kind=sweep",
        "interrupted=yes",
        "verdict=unknown",
        "device=nvme0n1p1 host=web1",
        "bs=4k rw=randread sort=-p99",
    ] {
        let filter = Filter::parse(words, NOW).unwrap();
        assert_eq!(there.list(&filter).unwrap(), file.list(&filter).unwrap(), "{words}");
        assert_eq!(there.count(&filter).unwrap(), file.count(&filter).unwrap(), "{words}");
        let figures = |archive: &Archive| archive.figures(&filter, &Measure::parse("p99").unwrap());
        assert_eq!(figures(&there).unwrap(), figures(&file).unwrap(), "{words}");
    }
    for name in ["latest", "latest~1", "latest~5", "latest~100", "base", ids[3].short(), "nothing"]
    {
        let found = |archive: &Archive| archive.load_named(name).map_err(|error| error.to_string());
        assert_eq!(found(&there), found(&file), "{name}");
    }
    for id in &ids {
        assert_eq!(there.previous_row(id).unwrap(), file.previous_row(id).unwrap());
        assert_eq!(there.json(id).unwrap(), file.json(id).unwrap());
        let run = file.load(id).unwrap();
        assert_eq!(there.find_same(&run).unwrap(), file.find_same(&run).unwrap());
    }
    assert_eq!(there.tags().unwrap(), file.tags().unwrap());
    let set = |archive: &Archive| archive.find_set("sweep", "/data/sweep").unwrap();
    assert_eq!(set(&there), set(&file));
    there.remove(&ids[..9]).unwrap();
    assert_eq!(server.sql("postgres", "SELECT count(*) FROM fathom.records"), "1");
    assert_eq!(server.sql("postgres", "SELECT count(*) FROM fathom.sets"), "0");
}

#[test]
fn a_hundred_writers_at_once_lose_nothing() {
    let server = Postgres::start(None);
    let write = |writer: u64| {
        let mut archive = opened(&server, "owner");
        (0..3).map(|n| add(&mut archive, &record("a", 3 * writer + n))).collect::<Vec<RunId>>()
    };
    let mut ids: Vec<RunId> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..100).map(|writer| scope.spawn(move || write(writer))).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    ids.sort();
    let mut there = opened(&server, "owner").ids(&Filter::all()).unwrap();
    there.sort();
    assert_eq!((ids.len(), there), (300, ids));
}

#[test]
fn a_server_that_comes_back_is_used_again() {
    let mut server = Postgres::start(None);
    let mut archive = opened(&server, "owner");
    let before = add(&mut archive, &record("a", 1));
    server.kill();
    let lost = archive.add(&record("a", 2), &Lineage::alone("run")).unwrap_err().to_string();
    assert!(lost.contains("127.0.0.1") && !lost.contains("s3cret"), "{lost}");
    server.resume();
    let after = add(&mut archive, &record("a", 3));
    assert_eq!(archive.ids(&Filter::all()).unwrap(), [after, before]);
}

#[test]
fn roles_have_the_rights_that_were_granted() {
    let server = Postgres::start(None);
    let mut owner = opened(&server, "owner");
    let id = add(&mut owner, &record("a", 1));
    for (name, rights) in [("looker", Role::Reader), ("logger", Role::Writer)] {
        server.add_user(name);
        let refused = Archive::open_existing(&at(&server, name)).err().unwrap().to_string();
        assert!(refused.contains("fathom runs grant"), "{refused}");
        owner.grant(rights, name).unwrap();
    }
    let mut reader = Archive::open_existing(&at(&server, "looker")).unwrap();
    assert_eq!(reader.list(&Filter::all()).unwrap().len(), 1);
    assert!(reader.load(&id).is_ok());
    let run = record("b", 2);
    assert!(reader.add(&run, &Lineage::alone("run")).is_err());
    assert!(reader.tag(&id, "x").is_err());
    let mut writer = opened(&server, "logger");
    let added = add(&mut writer, &run);
    writer.tag(&added, "x").unwrap();
    writer.set_note(&added, "y").unwrap();
    assert!(writer.untag(&added, "x").unwrap());
    assert!(writer.remove(&[id]).is_err(), "a writer removes nothing");
    assert_eq!(owner.count(&Filter::all()).unwrap(), 2);
    let (_directory, file) = archive();
    assert!(file.grant(Role::Reader, "looker").unwrap_err().to_string().contains("it is a file"));
}

#[test]
fn certificates_are_verified() {
    let authority = Authority::new();
    let server = Postgres::start(Some(&authority.identity(&["127.0.0.1"])));
    let open = |parameters: &str| {
        let address = server.address("owner", "postgres");
        Archive::open(&Location::explicit(format!("{address}?{parameters}")))
            .map(|archive| archive.count(&Filter::all()).unwrap())
            .map_err(|error| error.to_string())
    };
    let trusted = format!("sslmode=require&sslrootcert={}", authority.file().display());
    assert_eq!(open(&trusted), Ok(0));
    assert_eq!(open("sslmode=disable"), Ok(0));
    assert!(open("sslmode=require").unwrap_err().contains("certificate"));
    let stranger = Authority::new();
    let other = format!("sslrootcert={}", stranger.file().display());
    assert!(open(&other).unwrap_err().contains("certificate"));
}

#[test]
fn a_newer_schema_and_no_archive_are_said() {
    let server = Postgres::start(None);
    let none = Archive::open_existing(&at(&server, "owner")).err().unwrap().to_string();
    assert!(none.contains("no archive yet") && !none.contains("s3cret"), "{none}");
    drop(opened(&server, "owner"));
    server.sql("postgres", "UPDATE fathom.schema_version SET version = 99");
    let newer = Archive::open(&at(&server, "owner")).err().unwrap().to_string();
    assert!(newer.contains("has schema 99") && newer.contains("use a newer fathom"), "{newer}");
    let wrong = Location::explicit("postgres://me:pw@127.0.0.1:http/x").check().unwrap_err();
    assert!(wrong.to_string().contains("expected postgres://USER@HOST:PORT/DATABASE"), "{wrong}");
}

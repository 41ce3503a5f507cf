use super::*;
use crate::testing::{add, archive, record};
use crate::{Archive, Filter, Lineage};
use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn an_archive_is_made_with_its_directory_and_for_its_owner_alone() {
    let directory = testbed::scratch();
    let path = directory.path().join("a/b/archive.db");
    let place = Location { path: path.clone(), is_explicit: false };
    assert!(matches!(Archive::open_existing(&place), Err(ArchiveError::Missing { .. })));
    assert!(!path.parent().unwrap().exists(), "reading makes nothing");
    drop(Archive::open(&place).unwrap());
    assert_eq!(names(path.parent().unwrap()), ["archive.db"], "nothing left over");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    let connection = Connection::open(&path).unwrap();
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get(0)).unwrap();
    let mode: String =
        connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    let [application, version]: [i64; 2] = ["application_id", "user_version"].map(pragma);
    assert_eq!((mode.as_str(), version), ("wal", SCHEMA.len() as i64));
    assert_eq!(application, i64::from(APPLICATION));
}

#[test]
fn an_empty_file_is_taken_as_a_place() {
    let directory = testbed::scratch();
    let place = Location::explicit(directory.path().join("made-by-mktemp"));
    File::create(&place.path).unwrap();
    add(&mut Archive::open(&place).unwrap(), &record("a", 1));
    assert_eq!(Archive::open(&place).unwrap().count(&Filter::all()).unwrap(), 1);
}

#[test]
fn files_of_other_programs_are_refused_and_left_alone() {
    let directory = testbed::scratch();
    let [database, text, folder] = ["b.db", "c.txt", "d"].map(|name| directory.path().join(name));
    Connection::open(&database).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    fs::write(&text, "words").unwrap();
    fs::create_dir(&folder).unwrap();
    for (path, what) in [
        (&database, "an SQLite file of another program"),
        (&text, "no SQLite file"),
        (&folder, "a directory"),
    ] {
        let before = fs::read(path).ok();
        let place = Location::explicit(path);
        for error in
            [Archive::open(&place).err(), Archive::open_existing(&place).err(), place.check().err()]
        {
            let error = error.unwrap().to_string();
            assert!(error.contains(what) && error.contains("left alone"), "{error}");
        }
        assert_eq!(fs::read(path).ok(), before);
    }
    assert_eq!(names(directory.path()), ["b.db", "c.txt", "d"]);
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let (directory, archive) = archive();
    let place = archive.place.clone();
    archive.connection.pragma_update(None, "user_version", 99).unwrap();
    drop(archive);
    let before = fs::read(&place.path).unwrap();
    let error = Archive::open(&place).err().unwrap().to_string();
    assert!(error.contains("has schema 99") && error.contains("use a newer fathom"), "{error}");
    assert_eq!(fs::read(&place.path).unwrap(), before);
    assert_eq!(names(directory.path()), ["archive.db"]);
}

#[test]
fn an_older_schema_is_copied_and_then_brought_up_in_place() {
    let (directory, mut archive) = archive();
    add(&mut archive, &record("a", 1));
    let place = archive.place.clone();
    drop(archive);
    let next = "ALTER TABLE runs ADD COLUMN colour TEXT NOT NULL DEFAULT 'green'";
    let newer = [SCHEMA, &[next]].concat();
    let mut messages = Vec::new();
    let connection = open(&place, Mode::Existing, &newer, &mut messages).unwrap();
    let colour: String = connection
        .query_row("SELECT colour FROM runs WHERE job = 'a'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(colour, "green");
    assert_eq!(version(&connection).unwrap(), newer.len() as i64);
    drop(connection);
    let backup: Vec<String> =
        names(directory.path()).into_iter().filter(|name| name.contains(".schema-1-")).collect();
    assert_eq!(backup.len(), 1);
    assert!(messages[0].contains(&backup[0]), "{messages:?}");
    let old = Location::explicit(directory.path().join(&backup[0]));
    let old = Archive::open(&old).unwrap();
    assert_eq!(old.count(&Filter::all()).unwrap(), 1, "the copy is an archive as it was");
    assert!(open(&place, Mode::Existing, &newer, &mut messages).is_ok() && messages.len() == 1);
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let (_directory, mut archive) = archive();
    add(&mut archive, &record("a", 1));
    let place = archive.place.clone();
    drop(archive);
    let steps = ["ALTER TABLE runs ADD COLUMN colour TEXT", "ALTER TABLE nothing ADD COLUMN x"];
    let newer = [SCHEMA, &steps].concat();
    assert!(open(&place, Mode::Make, &newer, &mut Vec::new()).is_err());
    let archive = Archive::open(&place).unwrap();
    assert_eq!(version(&archive.connection).unwrap(), SCHEMA.len() as i64);
    assert_eq!(archive.list(&Filter::all()).unwrap().len(), 1);
    assert!(archive.connection.prepare("SELECT colour FROM runs").is_err());
}

/// Overwrites a part of a file.
fn spoil(path: &Path, from: u64, bytes: usize) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(from)).unwrap();
    file.write_all(&vec![0xa5; bytes]).unwrap();
}

#[test]
fn a_damaged_archive_is_put_aside_and_a_new_one_begun() {
    // Where only we write, a head that is gone is damage as well.
    for (from, bytes, is_explicit) in [(100, 8000, true), (100, 8000, false), (0, 100, false)] {
        let (directory, mut archive) = archive();
        for hour in 0..5 {
            add(&mut archive, &record("a", hour));
        }
        let place = Location { is_explicit, ..archive.place.clone() };
        drop(archive);
        spoil(&place.path, from, bytes);
        assert!(matches!(Archive::open_existing(&place), Err(ArchiveError::Damaged { .. })));
        let mut archive = Archive::open(&place).unwrap();
        let messages = archive.messages();
        assert!(messages.len() == 1 && messages[0].contains("was damaged"), "{messages:?}");
        add(&mut archive, &record("b", 9));
        assert_eq!(archive.list(&Filter::all()).unwrap().len(), 1);
        let aside = names(directory.path()).into_iter().find(|name| name.contains(".corrupt-"));
        let aside = directory.path().join(aside.unwrap());
        assert!(messages[0].contains(aside.to_str().unwrap()));
        assert!(fs::metadata(aside).unwrap().len() > 8000, "nothing is removed");
    }
}

#[test]
fn damage_that_shows_while_a_run_is_added_costs_no_run() {
    let (directory, mut archive) = archive();
    for hour in 0..5 {
        add(&mut archive, &record("a", hour));
    }
    let place = archive.place.clone();
    drop(archive);
    // The first page is whole: opening sees nothing.
    let length = fs::metadata(&place.path).unwrap().len();
    spoil(&place.path, 4096, length as usize - 4096);
    let mut archive = Archive::open(&place).unwrap();
    assert_eq!(archive.messages(), [""; 0]);
    let id = archive.add(&record("b", 9), &Lineage::alone("run")).unwrap();
    assert_eq!(archive.load(&id).unwrap(), record("b", 9));
    assert!(archive.messages()[0].contains("was damaged"));
    assert!(names(directory.path()).iter().any(|name| name.contains(".corrupt-")));
}

#[test]
fn two_that_find_it_damaged_put_it_aside_once() {
    let (directory, mut archive) = archive();
    add(&mut archive, &record("a", 1));
    let place = archive.place.clone();
    drop(archive);
    let length = fs::metadata(&place.path).unwrap().len();
    spoil(&place.path, 4096, length as usize - 4096);
    let [mut one, mut two] = [0, 1].map(|_| Archive::open(&place).unwrap());
    one.add(&record("b", 1), &Lineage::alone("run")).unwrap();
    two.add(&record("c", 2), &Lineage::alone("run")).unwrap();
    assert_eq!(Archive::open(&place).unwrap().count(&Filter::all()).unwrap(), 2);
    let aside = names(directory.path()).into_iter().filter(|name| {
        name.contains(".corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm")
    });
    assert_eq!(aside.count(), 1);
}

#[test]
fn an_archive_that_cannot_be_written_to_is_read_all_the_same() {
    let (directory, mut archive) = archive();
    let id = add(&mut archive, &record("a", 1));
    let place = archive.place.clone();
    drop(archive);
    let there = directory.path().join("mounted # 1?");
    fs::create_dir(&there).unwrap();
    fs::copy(&place.path, there.join("archive.db")).unwrap();
    let path = there.to_str().unwrap();
    let _mounted = testbed::Mounted::new(&["--bind", "-o", "ro"], path, there.clone());
    let place = Location::explicit(there.join("archive.db"));
    let archive = Archive::open_existing(&place).unwrap();
    assert_eq!(archive.load(&id).unwrap(), record("a", 1));
    let mut archive = archive;
    let error = archive.tag(&id, "x").unwrap_err().to_string();
    assert!(error.contains("cannot be written"), "{error}");
}

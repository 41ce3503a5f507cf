use super::*;
use crate::testing::{add, archive, connection, record};
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
fn a_new_archive_and_its_directory_are_accessible_only_by_the_owner() {
    let directory = testbed::scratch();
    let path = directory.path().join("a/b/archive.db");
    let location = Location { path: path.clone(), is_explicit: false };
    assert!(matches!(Archive::open_existing(&location), Err(ArchiveError::Missing { .. })));
    assert!(!path.parent().unwrap().exists(), "reading makes nothing");
    drop(Archive::open(&location).unwrap());
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
fn an_empty_file_becomes_an_archive() {
    let directory = testbed::scratch();
    let location = Location::explicit(directory.path().join("made-by-mktemp"));
    File::create(&location.path).unwrap();
    add(&mut Archive::open(&location).unwrap(), &record("a", 1));
    assert_eq!(Archive::open(&location).unwrap().count(&Filter::all()).unwrap(), 1);
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
        let location = Location::explicit(path);
        for error in [
            Archive::open(&location).err(),
            Archive::open_existing(&location).err(),
            location.check().err(),
        ] {
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
    let location = archive.location.clone();
    connection(&archive).pragma_update(None, "user_version", 99).unwrap();
    drop(archive);
    let before = fs::read(&location.path).unwrap();
    let error = Archive::open(&location).err().unwrap().to_string();
    assert!(error.contains("has schema 99") && error.contains("use a newer fathom"), "{error}");
    assert_eq!(fs::read(&location.path).unwrap(), before);
    assert_eq!(names(directory.path()), ["archive.db"]);
}

#[test]
fn an_archive_with_an_older_schema_is_copied_and_migrated() {
    let (directory, mut archive) = archive();
    add(&mut archive, &record("a", 1));
    let location = archive.location.clone();
    drop(archive);
    let next = "ALTER TABLE runs ADD COLUMN colour TEXT NOT NULL DEFAULT 'green'";
    let newer = [SCHEMA, &[next]].concat();
    let mut messages = Vec::new();
    let connection = open(&location, Mode::Existing, &newer, &mut messages).unwrap();
    let colour: String = connection
        .query_row("SELECT colour FROM runs WHERE job = 'a'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(colour, "green");
    assert_eq!(version(&connection).unwrap(), newer.len() as i64);
    drop(connection);
    let mark = format!(".schema-{}-", SCHEMA.len());
    let backup: Vec<String> =
        names(directory.path()).into_iter().filter(|name| name.contains(&mark)).collect();
    assert_eq!(backup.len(), 1);
    assert!(messages[0].contains(&backup[0]), "{messages:?}");
    let old = Location::explicit(directory.path().join(&backup[0]));
    let old = Archive::open(&old).unwrap();
    assert_eq!(old.count(&Filter::all()).unwrap(), 1, "the copy is an archive as it was");
    assert!(open(&location, Mode::Existing, &newer, &mut messages).is_ok() && messages.len() == 1);
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let (_directory, mut archive) = archive();
    add(&mut archive, &record("a", 1));
    let location = archive.location.clone();
    drop(archive);
    let steps = ["ALTER TABLE runs ADD COLUMN colour TEXT", "ALTER TABLE nothing ADD COLUMN x"];
    let newer = [SCHEMA, &steps].concat();
    assert!(open(&location, Mode::Make, &newer, &mut Vec::new()).is_err());
    let archive = Archive::open(&location).unwrap();
    assert_eq!(version(connection(&archive)).unwrap(), SCHEMA.len() as i64);
    assert_eq!(archive.list(&Filter::all()).unwrap().len(), 1);
    assert!(connection(&archive).prepare("SELECT colour FROM runs").is_err());
}

/// Overwrites a part of a file.
fn overwrite(path: &Path, from: u64, bytes: usize) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(from)).unwrap();
    file.write_all(&vec![0xa5; bytes]).unwrap();
}

#[test]
fn a_damaged_archive_is_renamed_and_replaced_by_a_new_one() {
    // At the standard location, a missing header is damage too, because only fathom writes there.
    for (from, bytes, is_explicit) in [(100, 8000, true), (100, 8000, false), (0, 100, false)] {
        let (directory, mut archive) = archive();
        for hour in 0..5 {
            add(&mut archive, &record("a", hour));
        }
        let location = Location { is_explicit, ..archive.location.clone() };
        drop(archive);
        overwrite(&location.path, from, bytes);
        assert!(matches!(Archive::open_existing(&location), Err(ArchiveError::Damaged { .. })));
        let mut archive = Archive::open(&location).unwrap();
        let messages = archive.messages();
        assert!(messages.len() == 1 && messages[0].contains("was damaged"), "{messages:?}");
        add(&mut archive, &record("b", 9));
        assert_eq!(archive.list(&Filter::all()).unwrap().len(), 1);
        let renamed = names(directory.path()).into_iter().find(|name| name.contains(".corrupt-"));
        let renamed = directory.path().join(renamed.unwrap());
        assert!(messages[0].contains(renamed.to_str().unwrap()));
        assert!(fs::metadata(renamed).unwrap().len() > 8000, "nothing is removed");
    }
}

#[test]
fn a_run_is_kept_if_damage_is_found_while_adding_it() {
    let (directory, mut archive) = archive();
    for hour in 0..5 {
        add(&mut archive, &record("a", hour));
    }
    let location = archive.location.clone();
    drop(archive);
    // The first page is intact, so opening finds no damage.
    let length = fs::metadata(&location.path).unwrap().len();
    overwrite(&location.path, 4096, length as usize - 4096);
    let mut archive = Archive::open(&location).unwrap();
    assert_eq!(archive.messages(), [""; 0]);
    let id = archive.add(&record("b", 9), &Lineage::alone("run")).unwrap();
    assert_eq!(archive.load(&id).unwrap(), record("b", 9));
    assert!(archive.messages()[0].contains("was damaged"));
    assert!(names(directory.path()).iter().any(|name| name.contains(".corrupt-")));
}

#[test]
fn two_programs_that_find_damage_rename_the_archive_once() {
    let (directory, mut archive) = archive();
    add(&mut archive, &record("a", 1));
    let location = archive.location.clone();
    drop(archive);
    let length = fs::metadata(&location.path).unwrap().len();
    overwrite(&location.path, 4096, length as usize - 4096);
    let [mut one, mut two] = [0, 1].map(|_| Archive::open(&location).unwrap());
    one.add(&record("b", 1), &Lineage::alone("run")).unwrap();
    two.add(&record("c", 2), &Lineage::alone("run")).unwrap();
    assert_eq!(Archive::open(&location).unwrap().count(&Filter::all()).unwrap(), 2);
    let renamed = names(directory.path()).into_iter().filter(|name| {
        name.contains(".corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm")
    });
    assert_eq!(renamed.count(), 1);
}

#[test]
fn a_read_only_archive_can_be_read() {
    let (directory, mut archive) = archive();
    let id = add(&mut archive, &record("a", 1));
    let location = archive.location.clone();
    drop(archive);
    let mount_point = directory.path().join("mounted # 1?");
    fs::create_dir(&mount_point).unwrap();
    fs::copy(&location.path, mount_point.join("archive.db")).unwrap();
    let path = mount_point.to_str().unwrap();
    let _mounted = testbed::Mounted::new(&["--bind", "-o", "ro"], path, mount_point.clone());
    let location = Location::explicit(mount_point.join("archive.db"));
    let archive = Archive::open_existing(&location).unwrap();
    assert_eq!(archive.load(&id).unwrap(), record("a", 1));
    let mut archive = archive;
    let error = archive.tag(&id, "x").unwrap_err().to_string();
    assert!(error.contains("cannot be written"), "{error}");
}

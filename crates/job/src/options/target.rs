//! What a job is called and which files it works on.

use super::Group::{Job, Target};
use super::field::{field, paths};
use super::row::{NO_MAX, boolean, choice, int, rows, text, value};
use super::{Choice, OptionDef};

const LOCKS: &[Choice] = &[
    value("none", "no locking"),
    value("exclusive", "one worker at a time"),
    value("readwrite", "many readers or one writer"),
];

const FILE_TYPES: &[Choice] = &[
    value("none", "any type"),
    value("file", "regular files"),
    value("block", "block devices"),
    value("char", "character devices"),
];

pub(super) const ROWS: &[OptionDef] = rows! {
    /// Free text kept with the job
    ///
    /// Shown in the report and kept in the record. It is never interpreted: use it to note the
    /// purpose of the run.
    "description" => text(Job).sets(field!(identity.description)),

    /// Name of the job
    ///
    /// In a job file the section header names the job, and this replaces that name in reports. On
    /// the command line it begins a new job, and the options after it belong to that job.
    "name" => text(Job).sets(field!(identity.name)),

    /// Start after all workers of the named job have ended
    ///
    /// The named job must be defined before this one, and its name must be unique. To wait for all
    /// earlier jobs, use stonewall.
    "wait_for" => text(Job).sets(field!(identity.wait_for)),

    /// Hosts that run the job, split by commas
    ///
    /// A name may have '*' for any characters and '?' for one. Other hosts leave the job out: the
    /// ranks of mpirun share one job file. Without it, every host runs the job.
    "hosts" => text(Job).sets_with(|job, v| {
        job.identity.hosts = v.text().split(',').map(|name| name.trim().to_owned()).collect();
        Ok(())
    }),

    /// Files or devices to work on, split by colons
    ///
    /// Clones and jobs that name the same path share it. With several paths, size is divided among
    /// them unless filesize is given. An nrfiles in the same section of a job file has no effect;
    /// one set later than filename (on the command line, or in a section below a [global] with
    /// filename) limits how many of the paths are used. Write a colon inside a path as '\:'.
    /// Relative paths are relative to directory if that is given. Without filename, each clone gets
    /// its own files, named by filename_format.
    "filename" => text(Target).sets_with(|job, v| {
        // Oracle: a list takes the place of a number given before it.
        job.target.nrfiles = None;
        job.target.filenames = paths(v.text());
        Ok(())
    }),

    /// Lock files around each I/O
    ///
    /// Workers that share a file take a lock before each I/O and release it afterwards. Latency
    /// includes the wait for the lock, so do not compare it with runs without locks.
    "lockfile" => choice(Target, LOCKS).default("none").sets(field!(target.lockfile)),

    /// Type that every target must have
    ///
    /// A target of another type is an error. fio takes the type for granted and skips its check.
    /// Newer than fio 3.33.
    "filetype" => choice(Target, FILE_TYPES).default("none").sets(field!(target.file_type)),

    /// Directories for the files of the job, split by colons
    ///
    /// Clones use the directories round robin: the first clone works in the first directory, the
    /// second clone in the second. Files given by filename are all in the first directory. Write a
    /// colon inside a path as '\:'.
    "directory" => text(Target).sets(field!(target.directories)),

    /// Format of generated file names
    ///
    /// $jobname, $jobnum (counts clones from 0) and $filenum (counts files of a clone from 0) are
    /// replaced. Without $jobnum clones share files; without $jobname jobs share files. Directories
    /// in the format are created.
    "filename_format" => text(Target)
        .default("$jobname.$jobnum.$filenum")
        .sets(field!(target.filename_format)),

    /// Number of the first generated file name
    ///
    /// $filenum of filename_format counts from it.
    "filenum_first" => int(Target, 0, NO_MAX).default("0").sets(field!(target.filenum_first)),

    /// Prefix file names with the client's address
    ///
    /// For jobs that a client sends to a server over a network: file names in `directory` begin
    /// with the address of the server, so that servers can share it. Local runs use no prefix.
    "unique_filename" => boolean(Target).default("1").sets(field!(!served.plain_names)),

    /// Work on every file below a directory
    ///
    /// Every regular file below the directory becomes a target, in the order of paths; links are
    /// not followed. size is divided among the files as with filename, which may be given as well;
    /// nrfiles limits the number of files.
    "opendir" => text(Target).sets(field!(target.opendir)),
};

//! What a job is called and which files it works on.

use super::Group::{Job, Target};
use super::field::{field, paths};
use super::row::{boolean, choice, text, value};
use super::{Choice, OptionDef};

const LOCKS: &[Choice] = &[
    value("none", "no locking"),
    value("exclusive", "one worker at a time"),
    value("readwrite", "many readers or one writer"),
];

const FILE_TYPES: &[Choice] = &[
    value("none", "look at each target"),
    value("file", "all are regular files"),
    value("block", "all are block devices"),
    value("char", "all are character devices"),
];

pub(super) const ROWS: &[OptionDef] = &[
    text(Job, "description", "Free text kept with the job")
        .long(
            "Shown in the report and kept in the record. It is never interpreted, so it is the \
             place for what the numbers are to prove.",
        )
        .sets(field!(identity.description)),
    text(Job, "name", "Name of the job")
        .long(
            "In a job file the section header names the job, and this replaces that name in \
             reports. On the command line it begins a new job: options after it belong to that \
             job.",
        )
        .sets(field!(identity.name)),
    text(Job, "wait_for", "Start after all workers of the named job have ended")
        .long(
            "The job named must stand before this one, and only one job may have that name. For \
             a barrier behind everything that stands before, use stonewall.",
        )
        .sets(field!(identity.wait_for)),
    text(Target, "filename", "Files or devices to work on, split by colons")
        .long(
            "All clones of the job and all jobs that name the same path share it. With several \
             paths, size is divided among them unless filesize says otherwise. An nrfiles in the \
             same section of a job file has no effect; one set later than filename (on the command \
             line, or in a section below a [global] with filename) takes no more than so many of \
             the paths. A colon that is part of a path is written as '\\:'. Relative paths lie in \
             directory if that is given. Without filename, each clone gets files of its own, \
             named by filename_format.",
        )
        .sets_with(|job, v| {
            // Oracle: a list takes the place of a number given before it.
            job.target.nrfiles = None;
            job.target.filenames = paths(v.text());
            Ok(())
        }),
    choice(Target, "lockfile", LOCKS, "Lock files around each I/O")
        .default("none")
        .long(
            "Workers that share a file take a lock before each I/O and give it back afterwards. \
             The wait for the lock is part of the latency the application would see, so do not \
             compare such figures with those of an unlocked run.",
        )
        .sets(field!(target.lockfile)),
    choice(Target, "filetype", FILE_TYPES, "Take this type for granted instead of looking")
        .default("none")
        .long(
            "Every target is looked at all the same before anything is written to it; one that is \
             of another type is an error. Newer than fio 3.33.",
        )
        .sets(field!(target.file_type)),
    text(Target, "directory", "Where files are made, split by colons")
        .long(
            "Several directories are dealt out to the clones in turn: the first clone works in \
             the first, the second in the second, and so on round. Files given by filename all \
             lie in the first one. A colon that is part of a path is written as '\\:'.",
        )
        .sets(field!(target.directories)),
    text(Target, "filename_format", "How made-up file names look")
        .default("$jobname.$jobnum.$filenum")
        .long(
            "$jobname, $jobnum (counts clones from 0) and $filenum (counts files of a clone from \
             0) are replaced. Leaving out $jobnum lets clones share files, leaving out $jobname \
             lets jobs share them. A path makes its directories first.",
        )
        .sets(field!(target.filename_format)),
    boolean(Target, "unique_filename", "Prefix file names with the client's address")
        .default("1")
        .long(
            "For jobs that a client sends to a server over a network: in a `directory` that \
             servers share, names of files begin with the address of each. Files of a local run \
             are named without.",
        )
        .sets(field!(!served.plain_names)),
    text(Target, "opendir", "Work on every file below a directory").long(
        "The directory is walked before the run and every regular file in it becomes a \
         target, in the order of their paths; links are not followed. size is divided among them as \
         among those of filename, which may be given as well; nrfiles takes only so many of \
         them.",
    )
    .sets(field!(target.opendir)),
];

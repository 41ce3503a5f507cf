//! The ways in which a program asks for durability. Each is judged by itself.

use serde::{Deserialize, Serialize};

/// A durability class: how data is written, and which call promises that it survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// O_DIRECT writes, then fdatasync.
    DirectFdatasync,
    /// O_DIRECT and O_DSYNC: every write is durable when it returns.
    Dsync,
    /// O_DIRECT and RWF_DSYNC: the kernel sends force unit access where the device has it.
    Fua,
    /// Buffered writes, then fsync.
    Fsync,
    /// Buffered writes, then fdatasync.
    Fdatasync,
    /// Buffered writes, then sync_file_range, which promises nothing.
    SyncFileRange,
    /// Buffered writes, then syncfs.
    Syncfs,
    /// Appended records, each followed by fdatasync: a database's journal.
    Append,
    /// A new file, fsync, rename over the old one, fsync of the directory.
    Rename,
}

record::named!(Class:
    DirectFdatasync "direct-fdatasync",
    Dsync "dsync",
    Fua "fua",
    Fsync "fsync",
    Fdatasync "fdatasync",
    SyncFileRange "sync-file-range",
    Syncfs "syncfs",
    Append "append",
    Rename "rename",
);

/// Every class.
pub const CLASSES: [Class; 9] = [
    Class::DirectFdatasync,
    Class::Dsync,
    Class::Fua,
    Class::Fsync,
    Class::Fdatasync,
    Class::SyncFileRange,
    Class::Syncfs,
    Class::Append,
    Class::Rename,
];

impl Class {
    /// The class with this name.
    pub fn named(name: &str) -> Option<Class> {
        CLASSES.into_iter().find(|class| class.name() == name)
    }

    /// Whether its last call promises durability.
    pub fn promises(self) -> bool {
        self != Class::SyncFileRange
    }

    /// Whether it writes with O_DIRECT.
    pub fn is_direct(self) -> bool {
        matches!(self, Class::DirectFdatasync | Class::Dsync | Class::Fua)
    }

    /// Whether each write is durable by itself, without a flush of the whole cache that follows it.
    pub fn is_write_through(self) -> bool {
        matches!(self, Class::Dsync | Class::Fua)
    }

    /// Whether each write makes a file of its own.
    pub fn is_of_files(self) -> bool {
        self == Class::Rename
    }

    /// Whether it works on a block device. Others need a filesystem.
    pub fn works_on_devices(self) -> bool {
        !matches!(self, Class::Syncfs | Class::Rename)
    }

    /// The most writes that one acknowledgement covers.
    pub fn batch_max(self) -> u64 {
        match self {
            Class::Dsync | Class::Fua | Class::Append | Class::Rename => 1,
            _ => 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_found_by_its_name_and_recorded_under_it() {
        for class in CLASSES {
            assert_eq!(Class::named(class.name()), Some(class));
            let recorded = serde_json::to_string(&class).unwrap();
            assert_eq!(recorded, format!("\"{}\"", class.name()));
        }
        assert_eq!(Class::named("sync"), None);
    }
}

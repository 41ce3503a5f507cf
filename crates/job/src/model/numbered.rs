//! Numbered objects of a store, in place of blocks of files.

/// `object_set` and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectSet {
    /// `object_set`; `None`: blocks of files.
    pub work: Option<ObjectWork>,
    /// `object_count`, of all clones together.
    pub count: u64,
    /// `object_mix`.
    pub mix: ObjectMix,
    /// `object_range`, in bytes; 0: whole objects.
    pub range: u64,
    /// `object_part_size`, in bytes; 0: each object is one request.
    pub part_size: u64,
    /// `object_part_concurrent`.
    pub part_concurrent: u64,
    /// `object_max_keys`.
    pub max_keys: u64,
}

impl Default for ObjectSet {
    fn default() -> Self {
        ObjectSet {
            work: None,
            count: 0,
            mix: ObjectMix::default(),
            range: 0,
            part_size: 0,
            part_concurrent: 4,
            max_keys: 1000,
        }
    }
}

/// What is done with numbered objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectWork {
    /// New ones are put.
    Put,
    /// Those that are there are fetched.
    #[default]
    Get,
    /// They are asked for their attributes.
    Stat,
    /// Their keys are listed.
    List,
    /// Each is deleted once.
    Delete,
    /// A mix of the others, without lists.
    Mixed,
}

impl ObjectWork {
    /// Every kind with its name.
    const NAMES: [(ObjectWork, &str); 6] = [
        (ObjectWork::Put, "put"),
        (ObjectWork::Get, "get"),
        (ObjectWork::Stat, "stat"),
        (ObjectWork::List, "list"),
        (ObjectWork::Delete, "delete"),
        (ObjectWork::Mixed, "mixed"),
    ];

    /// The one of this name.
    pub fn named(name: &str) -> Option<ObjectWork> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(work, _)| *work)
    }

    /// As it is typed.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(work, _)| *work == self).map_or("", |(_, name)| name)
    }

    /// Whether objects have to be there for it.
    pub fn needs_objects(self) -> bool {
        self != ObjectWork::Put
    }
}

/// Shares of a mix; only their proportions matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectMix {
    /// Of objects fetched.
    pub get: u32,
    /// Of objects asked for their attributes.
    pub stat: u32,
    /// Of objects put.
    pub put: u32,
    /// Of objects deleted.
    pub delete: u32,
}

/// The shares that users of S3 benchmarks know.
impl Default for ObjectMix {
    fn default() -> Self {
        ObjectMix { get: 45, stat: 30, put: 15, delete: 10 }
    }
}

//! Numbered objects of a store, instead of blocks of files.

use super::named::named;
use super::pattern::ReadWrite;
use record::with_defaults;
use std::fmt;
use std::str::FromStr;

with_defaults! {
    /// `object_set` and its companions.
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
        pub part_concurrent: u64 = 4,
        /// `object_max_keys`.
        pub max_keys: u64 = 1000,
    }
}

/// The requests on numbered objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectWork {
    /// Put new objects.
    Put,
    /// Get existing objects.
    #[default]
    Get,
    /// Get attributes.
    Stat,
    /// List keys.
    List,
    /// Delete each object once.
    Delete,
    /// A mix of the others except lists.
    Mixed,
}

impl ObjectWork {
    /// The kind of I/O it counts as.
    pub fn rw(self) -> ReadWrite {
        match self {
            ObjectWork::Put => ReadWrite::RandWrite,
            ObjectWork::Delete => ReadWrite::RandTrim,
            ObjectWork::Mixed => ReadWrite::RandRw,
            ObjectWork::Get | ObjectWork::Stat | ObjectWork::List => ReadWrite::RandRead,
        }
    }

    /// Whether it needs existing objects.
    pub fn needs_objects(self) -> bool {
        self != ObjectWork::Put
    }
}

/// Shares of a mix; only their proportions matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectMix {
    /// Gets.
    pub get: u32,
    /// Stats.
    pub stat: u32,
    /// Puts.
    pub put: u32,
    /// Deletes.
    pub delete: u32,
}

/// The default shares of warp, a benchmark for S3.
impl Default for ObjectMix {
    fn default() -> Self {
        ObjectMix { get: 45, stat: 30, put: 15, delete: 10 }
    }
}

impl fmt::Display for ObjectMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.get, self.stat, self.put, self.delete)
    }
}

impl FromStr for ObjectMix {
    type Err = String;

    /// `get/stat/put/delete`.
    fn from_str(text: &str) -> Result<ObjectMix, String> {
        let shares: Option<Vec<u32>> =
            text.split('/').map(|share| share.trim().parse().ok().filter(|s| *s <= 1000)).collect();
        match shares.as_deref() {
            Some(&[get, stat, put, delete]) if get + stat + put + delete > 0 => {
                Ok(ObjectMix { get, stat, put, delete })
            }
            _ => Err(format!(
                "expected the shares of gets, stats, puts and deletes, such as 45/30/15/10, got \
                 '{text}'"
            )),
        }
    }
}

named!(ObjectWork: Put "put", Get "get", Stat "stat", List "list", Delete "delete", Mixed "mixed");

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(text: &str) -> Result<ObjectMix, String> {
        text.parse()
    }

    #[test]
    fn shares_of_a_mix_are_four_numbers() {
        let all = ObjectMix { get: 45, stat: 30, put: 15, delete: 10 };
        assert_eq!(mix("45/30/15/10"), Ok(all));
        assert_eq!(mix("1/0/0/0"), Ok(ObjectMix { get: 1, stat: 0, put: 0, delete: 0 }));
        for wrong in
            ["", "1/2/3", "1/2/3/4/5", "0/0/0/0", "a/1/1/1", "-1/1/1/1", "9999999999/1/1/1"]
        {
            assert!(mix(wrong).unwrap_err().contains("45/30/15/10"), "{wrong}");
        }
    }
}

//! Ids of runs and sets.

use record::SplitMix64;
use rustix::rand::{GetRandomFlags, getrandom};
use serde::Serialize;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Digits of an id that are shown. Of a hundred archives of ten thousand runs, one has two runs
/// with the same eight digits.
const DIGITS_SHOWN: usize = 8;

/// Sixteen random hexadecimal digits from the kernel's generator, or from the clock until that is ready.
fn random_digits() -> String {
    let mut bytes = [0; 8];
    if getrandom(&mut bytes, GetRandomFlags::NONBLOCK) != Ok(bytes.len()) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seed = now.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(48);
        bytes = SplitMix64::new(seed).bits().to_be_bytes();
    }
    format!("{:016x}", u64::from_be_bytes(bytes))
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub(crate) String);

        impl $name {
            /// A new id.
            pub fn random() -> $name {
                $name(random_digits())
            }

            /// All digits.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The first digits, as they are shown.
            pub fn short(&self) -> &str {
                self.0.get(..DIGITS_SHOWN).unwrap_or(&self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A run: 16 random hexadecimal digits, so that ids stay unique when archives are merged.
    RunId
);
id!(
    /// A set of runs that were made together; as [`RunId`].
    SetId
);

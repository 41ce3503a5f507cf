//! Ids of runs and sets.

use serde::Serialize;
use std::fmt;

/// Digits of an id that are shown. Of a hundred archives of ten thousand runs, one has two runs
/// with the same eight digits.
const DIGITS_SHOWN: usize = 8;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub(crate) String);

        impl $name {
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

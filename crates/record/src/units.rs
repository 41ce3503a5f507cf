//! Units as types, so that bytes cannot be added to a time.

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $name {
            type Output = Self;
            /// Saturates at zero: a difference of two stamps or sizes is never negative.
            fn sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self(0), Add::add)
            }
        }
    };
}

unit!(
    /// A size or an amount of data, in bytes.
    Bytes
);
unit!(
    /// A duration, or a moment counted from a stated origin, in nanoseconds.
    Nanos
);

impl Nanos {
    /// One second.
    pub const SECOND: Nanos = Nanos(1_000_000_000);

    /// A duration of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Nanos(ms * 1_000_000)
    }

    /// Whole milliseconds, rounded down.
    pub const fn millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds as a real number.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

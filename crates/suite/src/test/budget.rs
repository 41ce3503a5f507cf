//! The time of each part of a test, and the size of its file.

use crate::saturate::Rounds;
use record::{Bytes, Direction, Nanos};

/// A smaller region fits into caches, so random I/O in it shows nothing about the device.
pub(super) const LEAST: Bytes = Bytes(8 << 20);

/// The length of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    /// Half a minute: one round.
    Quick,
    /// About two minutes: five rounds, which bound a mean twice as well as three longer ones.
    #[default]
    Normal,
    /// Random writes until the disk is steady, then five long rounds.
    Thorough,
}

/// Time of each part.
pub(super) struct Budget {
    /// Longest time for filling the file.
    pub fill: Nanos,
    /// Random writes before the measurement.
    pub rounds_to_steady: Option<Rounds>,
    /// The directions for which a knee is searched. Writes without a search use the knee of reads.
    pub sweeps: &'static [Direction],
    pub sweep_ramp: Nanos,
    pub sweep_time: Nanos,
    pub rounds: u32,
    pub ramp: Nanos,
    pub time: Nanos,
}

const fn ms(ms: u64) -> Nanos {
    Nanos::from_millis(ms)
}

impl Length {
    pub(super) fn budget(self) -> Budget {
        match self {
            Length::Quick => Budget {
                fill: ms(6_000),
                rounds_to_steady: None,
                sweeps: &[Direction::Read],
                sweep_ramp: ms(100),
                sweep_time: ms(350),
                rounds: 1,
                ramp: ms(250),
                time: ms(1_600),
            },
            Length::Normal => Budget {
                fill: ms(20_000),
                rounds_to_steady: None,
                sweeps: &[Direction::Read, Direction::Write],
                sweep_ramp: ms(150),
                sweep_time: ms(600),
                rounds: 5,
                ramp: ms(350),
                time: ms(1_900),
            },
            Length::Thorough => Budget {
                fill: ms(300_000),
                rounds_to_steady: Some(Rounds {
                    round: Some(ms(20_000)),
                    rounds_max: 25,
                    ..Rounds::default()
                }),
                sweeps: &[Direction::Read, Direction::Write],
                sweep_ramp: ms(500),
                sweep_time: ms(3_000),
                rounds: 5,
                ramp: ms(2_000),
                time: ms(10_000),
            },
        }
    }

    /// Size of the file if there is room: large enough that random I/O does not hit the caches of a disk,
    /// and small enough that filling it takes less time than measuring.
    fn size(self) -> Bytes {
        Bytes(match self {
            Length::Quick => 1 << 30,
            Length::Normal => 2 << 30,
            Length::Thorough => 16 << 30,
        })
    }
}

/// Why the file of a test has no suitable size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// A tenth of the free space is too little.
    #[error(
        "only {} MiB are free, and a test uses at most a tenth: make room, or set --size to {} MiB or \
         more",
        mib(free), mib(&LEAST)
    )]
    NoRoom {
        /// The free space.
        free: Bytes,
    },
    /// The requested size exceeds the free space.
    #[error(
        "--size: {} MiB do not fit, only {} MiB are free: use a smaller size, or make room",
        mib(asked),
        mib(free)
    )]
    TooLarge {
        /// The requested size.
        asked: Bytes,
        /// The free space.
        free: Bytes,
    },
    /// The requested size is too small for a test.
    #[error(
        "--size: {} bytes are too few to tell a disk from its cache: use {} MiB or more",
        asked.0, mib(&LEAST)
    )]
    TooSmall {
        /// The requested size.
        asked: Bytes,
    },
}

impl SizeError {
    /// The message for callers without an option for the size.
    pub fn without_option(&self) -> String {
        match self {
            SizeError::NoRoom { free } => format!(
                "only {} MiB are free, and at most a tenth is used: make room until {} MiB are \
                 free",
                mib(free),
                mib(&LEAST) * 10
            ),
            other => other.to_string(),
        }
    }
}

fn mib(bytes: &Bytes) -> u64 {
    bytes.0 >> 20
}

/// Size of the file: the requested size, or the size for the length of the test but at most a tenth of
/// the free space. Rounded down to whole MiB.
pub fn size(length: Length, free: Bytes, asked: Option<Bytes>) -> Result<Bytes, SizeError> {
    let whole = |bytes: u64| Bytes(bytes / crate::target::LARGE.0 * crate::target::LARGE.0);
    match asked {
        Some(asked) if asked > free => Err(SizeError::TooLarge { asked, free }),
        Some(asked) if asked < LEAST => Err(SizeError::TooSmall { asked }),
        Some(asked) => Ok(whole(asked.0)),
        None => {
            let size = whole(length.size().0.min(free.0 / 10));
            if size < LEAST { Err(SizeError::NoRoom { free }) } else { Ok(size) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_size_comes_from_free_space_and_question() {
        let gib = |n: u64| Bytes(n << 30);
        assert_eq!(size(Length::Quick, gib(1000), None), Ok(gib(1)));
        assert_eq!(size(Length::Normal, gib(1000), None), Ok(gib(2)));
        assert_eq!(size(Length::Normal, gib(1000), Some(gib(300))), Ok(gib(300)));
        assert_eq!(size(Length::Normal, gib(5), None), Ok(Bytes(512 << 20)));
        for (free, asked, says) in [
            (Bytes(50 << 20), None, "only 50 MiB are free"),
            (gib(1), Some(gib(2)), "2048 MiB do not fit, only 1024 MiB are free"),
            (gib(1), Some(Bytes(4096)), "4096 bytes are too few"),
        ] {
            let error = size(Length::Quick, free, asked).unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("--size"), "{error}");
        }
        let none = size(Length::Quick, Bytes(50 << 20), None).unwrap_err().without_option();
        assert!(none.contains("only 50 MiB are free") && !none.contains("--size"), "{none}");
    }

    proptest! {
        #[test]
        fn never_more_than_a_tenth_without_being_asked(free: u64) {
            for length in [Length::Quick, Length::Normal, Length::Thorough] {
                if let Ok(size) = size(length, Bytes(free), None) {
                    prop_assert!(size.0 <= free / 10 && size.0.is_multiple_of(1 << 20));
                }
            }
        }
    }
}

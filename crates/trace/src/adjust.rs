//! Changes to the events of a log before the replay.

use crate::event::{Event, Kind};

/// The kinds of I/O that are skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skip {
    /// Reads.
    pub read: bool,
    /// Writes.
    pub write: bool,
    /// Trims.
    pub trim: bool,
    /// fsync and fdatasync.
    pub sync: bool,
}

/// The changes to the events of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjust {
    /// All I/O goes to one file, which is always open.
    pub redirected: bool,
    /// Offsets are divided by this; at least 1.
    pub scale: u64,
    /// Offsets are then rounded down to a multiple of this power of two; 1 changes nothing.
    pub align: u64,
    /// Speed, per cent of the recorded one; at least 1.
    pub speed: u64,
    /// The kinds of I/O that are skipped.
    pub skip: Skip,
}

impl Default for Adjust {
    fn default() -> Self {
        Adjust { redirected: false, scale: 1, align: 1, speed: 100, skip: Skip::default() }
    }
}

impl Adjust {
    /// The changed event; `None` if it is skipped.
    pub fn apply(&self, event: Event) -> Option<Event> {
        let skip = &self.skip;
        let skipped = match event.kind {
            Kind::Read => skip.read,
            Kind::Write => skip.write,
            Kind::Trim => skip.trim,
            Kind::Sync | Kind::Datasync => skip.sync,
            Kind::Open | Kind::Close => self.redirected,
            Kind::Forget => false,
        };
        if skipped {
            return None;
        }
        let at = match self.speed {
            100 => event.at,
            speed => {
                let at = u128::from(event.at) * 100 / u128::from(speed.max(1));
                u64::try_from(at).unwrap_or(u64::MAX)
            }
        };
        let offset = event.offset / self.scale.max(1);
        let offset = offset - offset % self.align.max(1);
        let file = if self.redirected { 0 } else { event.file };
        Some(Event { at, offset, file, ..event })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: Kind) -> Event {
        Event { at: 1000, offset: 9001, length: 512, file: 3, kind }
    }

    #[test]
    fn nothing_changes_unless_asked_for() {
        assert_eq!(Adjust::default().apply(event(Kind::Read)), Some(event(Kind::Read)));
    }

    #[test]
    fn times_and_places_are_scaled() {
        let adjust =
            Adjust { redirected: true, scale: 2, align: 4096, speed: 200, ..Adjust::default() };
        let changed = Event { at: 500, offset: 4096, length: 512, file: 0, kind: Kind::Write };
        assert_eq!(adjust.apply(event(Kind::Write)), Some(changed));
        assert_eq!(adjust.apply(event(Kind::Open)), None);
        let slow = Adjust { speed: 1, ..Adjust::default() };
        let late = Event { at: u64::MAX - 1, ..event(Kind::Read) };
        assert_eq!(slow.apply(late).map(|e| e.at), Some(u64::MAX));
    }

    #[test]
    fn kinds_are_left_out() {
        let skip = Skip { read: true, sync: true, ..Skip::default() };
        let adjust = Adjust { skip, ..Adjust::default() };
        for (kind, stays) in [
            (Kind::Read, false),
            (Kind::Write, true),
            (Kind::Trim, true),
            (Kind::Sync, false),
            (Kind::Datasync, false),
            (Kind::Open, true),
        ] {
            assert_eq!(adjust.apply(event(kind)).is_some(), stays, "{kind:?}");
        }
    }
}

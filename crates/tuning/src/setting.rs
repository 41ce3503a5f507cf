//! What can be varied, by name.

use crate::Error;

/// Something of the machine that a sweep can vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Setting {
    /// The filesystem that the work is done on: one newly made for the cell.
    Fs,
    /// The options that the filesystem under the target is mounted with.
    Mount,
    /// The I/O scheduler of the disks under the target.
    Scheduler,
    /// Requests a disk queues (nr_requests).
    NrRequests,
    /// What is read ahead of sequential reads through the page cache, in KiB (read_ahead_kb).
    ReadAhead,
}

impl Setting {
    /// All, in the order in which they are to be set: each may undo what comes after it.
    pub const ALL: [Setting; 5] =
        [Setting::Fs, Setting::Mount, Setting::Scheduler, Setting::NrRequests, Setting::ReadAhead];

    /// The setting of this name.
    pub fn from_name(name: &str) -> Option<Setting> {
        Setting::ALL.into_iter().find(|setting| setting.name() == name)
    }

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Setting::Fs => "fs",
            Setting::Mount => "mount",
            Setting::Scheduler => "scheduler",
            Setting::NrRequests => "nr_requests",
            Setting::ReadAhead => "read_ahead_kb",
        }
    }

    /// Whether to change it means to make or mount a filesystem: seconds, not milliseconds.
    pub fn is_expensive(self) -> bool {
        matches!(self, Setting::Fs | Setting::Mount)
    }

    /// Looks whether a value can be one of this setting at all, whatever the machine.
    ///
    /// # Errors
    /// What a value looks like.
    pub fn check(self, value: &str) -> Result<(), Error> {
        let of = |allowed: fn(char) -> bool| !value.is_empty() && value.chars().all(allowed);
        let (fits, expected) = match self {
            Setting::Scheduler => (
                of(|c| c.is_ascii_alphanumeric() || "-_".contains(c)),
                "the name of an I/O scheduler, such as none or mq-deadline",
            ),
            Setting::Fs => (
                of(|c| c.is_ascii_alphanumeric() || "-_".contains(c)),
                "a type of filesystem, such as ext4 or xfs",
            ),
            Setting::Mount => (
                // A dash at its beginning would be an option of mount(8) itself.
                of(|c| !c.is_whitespace() && !c.is_control()) && !value.starts_with('-'),
                "options of mount(8), such as noatime",
            ),
            Setting::NrRequests => (number(value, 1), "a number of requests, such as 64"),
            Setting::ReadAhead => (number(value, 0), "KiB as a plain number, such as 128"),
        };
        match fits {
            true => Ok(()),
            false => Err(Error::usage(format!("{}={value}: expected {expected}", self.name()))),
        }
    }
}

/// What fits the kernel's own type for either, and is not less than `least`.
fn number(value: &str, least: u32) -> bool {
    value.bytes().all(|b| b.is_ascii_digit()) && value.parse().is_ok_and(|n: u32| n >= least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_settings_and_back() {
        for setting in Setting::ALL {
            assert_eq!(Setting::from_name(setting.name()), Some(setting));
        }
        assert_eq!(Setting::from_name("iodepth"), None);
    }

    #[test]
    fn values_that_are_none_are_told_from_those_a_machine_may_know() {
        for (setting, value) in [
            (Setting::Scheduler, "mq-deadline"),
            (Setting::Fs, "ext4"),
            (Setting::Mount, "noatime,data=writeback"),
            (Setting::NrRequests, "64"),
            (Setting::ReadAhead, "0"),
        ] {
            setting.check(value).unwrap();
        }
        for (setting, value) in [
            (Setting::Scheduler, ""),
            (Setting::Scheduler, "a/b"),
            (Setting::Fs, "../x"),
            (Setting::Fs, "ext4 -F"),
            (Setting::Mount, "--bind"),
            (Setting::Mount, "a b"),
            (Setting::NrRequests, "0"),
            (Setting::NrRequests, "+5"),
            (Setting::NrRequests, "64k"),
            (Setting::ReadAhead, "99999999999"),
            (Setting::ReadAhead, "-1"),
        ] {
            let error = setting.check(value).unwrap_err();
            assert!(error.text.contains(setting.name()), "{error}");
            assert_eq!(error.kind, crate::Kind::Usage);
        }
    }
}

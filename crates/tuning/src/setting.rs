//! The settings that a sweep can vary.

use crate::Error;
use record::named;

/// A setting of the machine that a sweep can vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Setting {
    /// The type of the filesystem, newly made for the cell.
    Fs,
    /// The mount options of the filesystem of the target.
    Mount,
    /// The I/O scheduler of the disks under the target.
    Scheduler,
    /// Requests in the queue of a disk (nr_requests).
    NrRequests,
    /// Read-ahead of the page cache, in KiB (read_ahead_kb).
    ReadAhead,
}

named! {
    Setting: Fs "fs", Mount "mount", Scheduler "scheduler", NrRequests "nr_requests",
        ReadAhead "read_ahead_kb"
}

impl Setting {
    /// All settings in the order of applying them: each may reset later ones.
    pub const ALL: [Setting; 5] =
        [Setting::Fs, Setting::Mount, Setting::Scheduler, Setting::NrRequests, Setting::ReadAhead];

    /// The setting of this name.
    pub fn from_name(name: &str) -> Option<Setting> {
        Setting::ALL.into_iter().find(|setting| setting.name() == name)
    }

    /// Whether changing it makes or mounts a filesystem, which takes seconds.
    pub fn is_expensive(self) -> bool {
        matches!(self, Setting::Fs | Setting::Mount)
    }

    /// Checks the syntax of a value.
    ///
    /// # Errors
    /// The expected syntax.
    pub fn check(self, value: &str) -> Result<(), Error> {
        let consists_of =
            |allowed: fn(char) -> bool| !value.is_empty() && value.chars().all(allowed);
        let (fits, expected) = match self {
            Setting::Scheduler => (
                consists_of(|c| c.is_ascii_alphanumeric() || "-_".contains(c)),
                "the name of an I/O scheduler, such as none or mq-deadline",
            ),
            Setting::Fs => (
                consists_of(|c| c.is_ascii_alphanumeric() || "-_".contains(c)),
                "a type of filesystem, such as ext4 or xfs",
            ),
            Setting::Mount => (
                // A leading dash would be an option of mount(8) itself.
                consists_of(|c| !c.is_whitespace() && !c.is_control()) && !value.starts_with('-'),
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

/// Whether the value is a number of at least `least` that fits the kernel's type.
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
    fn invalid_values_are_refused_and_unknown_names_are_accepted() {
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

//! Fields of the job that options set: the path of a field yields setter and getter of a row.

use super::def::Value;
use crate::model::{DelayRange, Job, Named, ObjectMix, ReadUse, Secret, Size};
use record::{Bytes, Nanos, PerDirection};
use std::sync::LazyLock;

/// A job without options.
pub(super) static DEFAULT: LazyLock<Job> = LazyLock::new(Job::default);

/// The [`Access`] of a field of the job:
/// - `field!(syncing.fsync)`: the value is the field;
/// - `field!(timing.runtime or none)`: 0 stands for no value;
/// - `field!(!queue.direct)`: the switch means the opposite of the field;
/// - `field!(queue.offload = "offload")`: the field is true for this choice;
/// - `field!(rate.cycle in MILLISECOND)`: a time from a plain number of a unit.
macro_rules! field {
    ($($field:ident).+) => {
        $crate::options::Access {
            set: |job, value| $crate::options::field::Field::read(&mut job.$($field).+, value),
            get: Some(|job| {
                let default = &$crate::options::field::DEFAULT.$($field).+;
                $crate::options::field::changed(&job.$($field).+, default)
            }),
        }
    };
    ($($field:ident).+ or none) => {
        $crate::options::Access {
            set: |job, value| {
                $crate::options::field::Field::read(&mut job.$($field).+, value)?;
                $crate::options::field::Field::drop_zero(&mut job.$($field).+);
                Ok(())
            },
            ..field!($($field).+)
        }
    };
    (!$($field:ident).+) => {
        $crate::options::Access {
            set: |job, value| {
                job.$($field).+ = !value.flag();
                Ok(())
            },
            get: Some(|job| {
                let default = &$crate::options::field::DEFAULT.$($field).+;
                $crate::options::field::changed(&!job.$($field).+, &!default)
            }),
        }
    };
    ($($field:ident).+ = $on:literal) => {
        $crate::options::Access {
            set: |job, value| {
                job.$($field).+ = value.text() == $on;
                Ok(())
            },
            get: Some(|job| job.$($field).+.then(|| $on.to_owned())),
        }
    };
    ($($field:ident).+ in $unit:ident) => {
        $crate::options::Access {
            set: |job, value| {
                job.$($field).+ = record::Nanos(value.count().saturating_mul($unit.0)).into();
                Ok(())
            },
            get: None,
        }
    };
}
pub(super) use field;

/// A field as typed, if it is not the default.
pub(super) fn changed<T: Field>(field: &T, default: &T) -> Option<String> {
    (field != default).then(|| field.show())
}

/// A type of fields that options set.
pub(super) trait Field: PartialEq {
    /// Stores a value. The error says what is wrong with it.
    fn read(&mut self, value: &Value) -> Result<(), String>;
    /// The value as typed.
    fn show(&self) -> String;
    /// Turns 0 into "no value", if the type supports that.
    fn drop_zero(&mut self) {}
}

/// Types that one method of [`Value`] reads and one expression shows.
macro_rules! fields {
    ($($type:ty: |$value:ident| $read:expr, |$field:ident| $show:expr;)+) => {
        $(impl Field for $type {
            fn read(&mut self, $value: &Value) -> Result<(), String> {
                *self = $read;
                Ok(())
            }

            fn show(&self) -> String {
                let $field = self;
                $show
            }
        })+
    };
}

fields! {
    bool: |value| value.flag(), |on| u8::from(*on).to_string();
    u8: |value| value.small(), |number| number.to_string();
    u16: |value| u16::try_from(value.count()).unwrap_or(u16::MAX), |number| number.to_string();
    i32: |value| value.int() as i32, |number| number.to_string();
    u64: |value| value.count(), |number| number.to_string();
    f64: |value| value.float()?, |number| number.to_string();
    Bytes: |value| value.bytes(), |bytes| bytes.0.to_string();
    Nanos: |value| value.time(), |time| format!("{}ns", time.0);
    String: |value| value.string(), |text| text.clone();
    Secret: |value| Secret(value.string()), |_secret| "***".into();
    Vec<u32>: |value| numbers(value.text())?, |list| join(list.iter(), ",");
    Vec<String>: |value| paths(value.text()), |list| {
        join(list.iter().map(|path| path.replace(':', r"\:")), ":")
    };
    Size: |value| value.size(), |size| match size {
        Size::Bytes(bytes) => bytes.0.to_string(),
        Size::Percent(percent) => format!("{percent}%"),
        Size::Zones(zones) => format!("{zones}z"),
    };
    DelayRange: |value| value.times().into(), |range| {
        format!("{}ns-{}ns", range.low.0, range.high.0)
    };
    ObjectMix: |value| value.text().parse()?, |mix| mix.to_string();
    ReadUse: |value| match value.count() {
        0 => ReadUse::Nothing,
        every => ReadUse::Touch(every),
    }, |read_use| match read_use {
        ReadUse::Touch(every) => every.to_string(),
        ReadUse::Nothing | ReadUse::NullDevice => "0".into(),
    };
    (u8, u8): |value| value.pair(), |pair| format!("{},{}", pair.0, pair.1);
    (u16, u16): |value| value.pair(), |pair| format!("{},{}", pair.0, pair.1);
}

impl Field for u32 {
    /// A number, or a choice that is a number. The kernel uses the largest number for "none".
    fn read(&mut self, value: &Value) -> Result<(), String> {
        let number = match value {
            Value::Text(text) => text.parse().map_err(|_| "expected a number")?,
            other => other.count(),
        };
        let fits = u32::try_from(number).ok().filter(|number| *number != u32::MAX);
        *self = fits.ok_or_else(|| format!("must be below {}, got {number}", u32::MAX))?;
        Ok(())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl<T: Named> Field for T {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        let name = value.text();
        *self = T::from_name(name).ok_or_else(|| format!("'{name}' is no value of it"))?;
        Ok(())
    }

    fn show(&self) -> String {
        self.name_of().to_owned()
    }
}

impl<T: Field + Default> Field for Option<T> {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        let mut field = T::default();
        field.read(value)?;
        *self = Some(field);
        Ok(())
    }

    fn show(&self) -> String {
        self.as_ref().map_or(String::new(), Field::show)
    }

    fn drop_zero(&mut self) {
        self.take_if(|field| *field == T::default());
    }
}

/// A type of values given by direction.
pub(super) trait ByDirection: Copy + Default + PartialEq {
    fn read(value: &Value) -> PerDirection<Option<Self>>;
    fn show(self) -> String;
}

impl ByDirection for u64 {
    fn read(value: &Value) -> PerDirection<Option<u64>> {
        value.counts()
    }

    fn show(self) -> String {
        self.to_string()
    }
}

impl ByDirection for Bytes {
    fn read(value: &Value) -> PerDirection<Option<Bytes>> {
        value.counts().map(|_, count| count.map(Bytes))
    }

    fn show(self) -> String {
        self.0.to_string()
    }
}

impl ByDirection for Nanos {
    fn read(value: &Value) -> PerDirection<Option<Nanos>> {
        value.counts().map(|_, nanoseconds| nanoseconds.map(Nanos))
    }

    fn show(self) -> String {
        format!("{}ns", self.0)
    }
}

impl ByDirection for (Bytes, Bytes) {
    fn read(value: &Value) -> PerDirection<Option<(Bytes, Bytes)>> {
        value.ranges()
    }

    fn show(self) -> String {
        format!("{}-{}", self.0.0, self.1.0)
    }
}

/// Directions without a value keep their earlier values.
impl<T: ByDirection> Field for PerDirection<Option<T>> {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        let given = T::read(value);
        *self = PerDirection::from_fn(|direction| given[direction].or(self[direction]));
        Ok(())
    }

    fn show(&self) -> String {
        join(self.iter().map(|(_, given)| given.map_or(String::new(), T::show)), ",")
    }

    fn drop_zero(&mut self) {
        *self = self.map(|_, given| given.filter(|given| *given != T::default()));
    }
}

impl Field for PerDirection<u8> {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        let given = value.counts();
        *self = PerDirection::from_fn(|direction| {
            given[direction].map_or(self[direction], |number| number.min(u8::MAX.into()) as u8)
        });
        Ok(())
    }

    fn show(&self) -> String {
        join(self.iter().map(|(_, number)| number), ",")
    }
}

fn join(parts: impl Iterator<Item = impl ToString>, separator: &str) -> String {
    parts.map(|part| part.to_string()).collect::<Vec<_>>().join(separator)
}

/// The largest accepted number of a CPU or node.
const NUMBER_MAX: u32 = 65_535;

/// Numbers and ranges split by commas, each once, ascending.
pub(super) fn numbers(text: &str) -> Result<Vec<u32>, String> {
    let fail = || format!("expected numbers and ranges such as 0,5,8-15, got '{text}'");
    let number = |part: &str| -> Result<u32, String> {
        part.trim().parse().ok().filter(|number| *number <= NUMBER_MAX).ok_or_else(fail)
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        let (low, high) = match part.split_once('-') {
            Some((low, high)) => (number(low)?, number(high)?),
            None => (number(part)?, number(part)?),
        };
        if low > high {
            return Err(format!("the range '{part}' is backwards"));
        }
        all.extend(low..=high);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// Splits at colons; `\:` is a colon of the path itself.
pub(super) fn paths(text: &str) -> Vec<String> {
    // No path holds a NUL byte, so it can stand for the escaped colons meanwhile.
    let escaped = text.replace(r"\:", "\0");
    let parts = escaped.split(':').filter(|path| !path.is_empty());
    parts.map(|path| path.replace('\0', ":")).collect()
}

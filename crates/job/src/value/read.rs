//! How setters read a value. The kind of a row fixes the variant, so that another one is a mistake
//! in the table, which its tests would meet.

use crate::model::Size;
use crate::options::Value;
use record::{Bytes, Nanos, PerDirection};

impl Value {
    /// Text as typed.
    pub(crate) fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            other => unreachable!("{other:?} is no text"),
        }
    }

    /// Text as typed, owned.
    pub(crate) fn string(&self) -> String {
        self.text().into()
    }

    /// A single whole number.
    pub(crate) fn int(&self) -> i64 {
        match self {
            Value::Ints { values: [Some(number), ..], .. } => *number,
            other => unreachable!("{other:?} is no whole number"),
        }
    }

    /// A single whole number of a row whose minimum is 0 or more.
    pub(crate) fn count(&self) -> u64 {
        self.int().unsigned_abs()
    }

    /// A single amount of bytes.
    pub(crate) fn bytes(&self) -> Bytes {
        match self {
            Value::Size(Size::Bytes(bytes)) => *bytes,
            other => Bytes(other.count()),
        }
    }

    /// A number of a row whose maximum is 255 or less.
    pub(crate) fn small(&self) -> u8 {
        u8::try_from(self.int()).unwrap_or(u8::MAX)
    }

    /// A switch.
    pub(crate) fn flag(&self) -> bool {
        match self {
            Value::Bool(on) => *on,
            other => unreachable!("{other:?} is no switch"),
        }
    }

    /// A duration.
    pub(crate) fn time(&self) -> Nanos {
        match self {
            Value::Time(time) => *time,
            other => unreachable!("{other:?} is no time"),
        }
    }

    /// Shortest and longest duration.
    pub(crate) fn times(&self) -> (Nanos, Nanos) {
        match self {
            Value::TimeRange(low, high) => (*low, *high),
            other => unreachable!("{other:?} is no range of times"),
        }
    }

    /// A size.
    pub(crate) fn size(&self) -> Size {
        match self {
            Value::Size(size) => *size,
            other => unreachable!("{other:?} is no size"),
        }
    }

    /// Real numbers.
    pub(crate) fn floats(&self) -> Vec<f64> {
        match self {
            Value::Floats(numbers) => numbers.clone(),
            other => unreachable!("{other:?} is no list of numbers"),
        }
    }

    /// One real number: the first of a list, as in the oracle.
    pub(crate) fn float(&self) -> Result<f64, String> {
        self.floats().first().copied().ok_or_else(|| "expected one number, got none".to_owned())
    }

    /// Whole numbers for reads and for writes; 0 where there is none.
    pub(crate) fn pair<T: TryFrom<u64> + Default>(&self) -> (T, T) {
        let counts = self.counts();
        let fit = |count: Option<u64>| T::try_from(count.unwrap_or(0)).unwrap_or_default();
        (fit(counts.read), fit(counts.write))
    }

    /// Numbers by direction, those left out filled in by fio's rule.
    pub(crate) fn counts(&self) -> PerDirection<Option<u64>> {
        match self.spread() {
            Value::Ints { values: [read, write, trim], .. } => {
                PerDirection { read, write, trim }.map(|_, n| n.map(i64::unsigned_abs))
            }
            other => unreachable!("{other:?} is no list of whole numbers"),
        }
    }

    /// Ranges by direction.
    pub(crate) fn ranges(&self) -> PerDirection<Option<(Bytes, Bytes)>> {
        match self.spread() {
            Value::Ranges { values: [read, write, trim], .. } => PerDirection { read, write, trim },
            other => unreachable!("{other:?} is no list of ranges"),
        }
    }

    /// The same value with every direction filled in that it stands for.
    pub(crate) fn spread(&self) -> Value {
        match self {
            Value::Ints { values, commas } => {
                Value::Ints { values: spread(*values, *commas), commas: 2 }
            }
            Value::Ranges { values, commas } => {
                Value::Ranges { values: spread(*values, *commas), commas: 2 }
            }
            other => other.clone(),
        }
    }
}

/// fio's rule for values by direction: what has no comma after it counts for the rest as well.
pub(crate) fn spread<T: Clone>(values: [Option<T>; 3], commas: u8) -> [Option<T>; 3] {
    let [read, write, trim] = values;
    match commas {
        0 => [read.clone(), read.clone(), read],
        1 => [read, write.clone(), write],
        _ => [read, write, trim],
    }
}

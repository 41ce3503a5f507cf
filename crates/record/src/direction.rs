//! Which way data moves.

use crate::named;
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// Which way the data of an I/O moves. The order is fio's: read, write, trim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the target.
    Read,
    /// To the target.
    Write,
    /// The target forgets a range (discard).
    Trim,
}

named!(Direction: Read "read", Write "write", Trim "trim");

impl Direction {
    /// All directions, in fio's order.
    pub const ALL: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];
}

/// One value for each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerDirection<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

impl<T> PerDirection<T> {
    /// Builds one value per direction.
    pub fn from_fn(mut make: impl FnMut(Direction) -> T) -> Self {
        PerDirection {
            read: make(Direction::Read),
            write: make(Direction::Write),
            trim: make(Direction::Trim),
        }
    }

    /// The same value for every direction.
    pub fn all(value: T) -> Self
    where
        T: Clone,
    {
        PerDirection { read: value.clone(), write: value.clone(), trim: value }
    }

    /// The three values with their directions, in fio's order.
    pub fn iter(&self) -> impl Iterator<Item = (Direction, &T)> {
        Direction::ALL.into_iter().map(move |d| (d, &self[d]))
    }

    /// Another value computed from each.
    pub fn map<U>(&self, mut f: impl FnMut(Direction, &T) -> U) -> PerDirection<U> {
        PerDirection::from_fn(|d| f(d, &self[d]))
    }
}

impl<T> Index<Direction> for PerDirection<T> {
    type Output = T;
    fn index(&self, direction: Direction) -> &T {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
            Direction::Trim => &self.trim,
        }
    }
}

impl<T> IndexMut<Direction> for PerDirection<T> {
    fn index_mut(&mut self, direction: Direction) -> &mut T {
        match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
            Direction::Trim => &mut self.trim,
        }
    }
}

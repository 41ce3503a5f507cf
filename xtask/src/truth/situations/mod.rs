//! The situations, by what limits them.

mod cache;
mod contention;
mod guest;
mod limits;
mod load;
mod objects;
mod storage;

use super::situation::Situation;

/// Every situation that is made on this machine.
pub fn all() -> impl Iterator<Item = &'static Situation> {
    [storage::ALL, cache::ALL, limits::ALL, load::ALL, contention::ALL, objects::ALL]
        .into_iter()
        .flatten()
}

/// Those that are made in a guest.
pub fn in_guest() -> impl Iterator<Item = &'static Situation> {
    guest::ALL.iter()
}

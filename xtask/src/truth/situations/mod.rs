//! The situations, by what limits them.

mod cache;
mod contention;
mod limits;
mod load;
mod objects;
mod storage;

use super::situation::Situation;

/// Every situation.
pub fn all() -> impl Iterator<Item = &'static Situation> {
    [storage::ALL, cache::ALL, limits::ALL, load::ALL, contention::ALL, objects::ALL]
        .into_iter()
        .flatten()
}

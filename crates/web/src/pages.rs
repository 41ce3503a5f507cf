//! The pages.

pub mod compare;
pub mod live;
pub mod machine;
mod parts;
mod reports;
pub mod run;
pub mod runs;
pub mod start;
pub mod sweep;
pub mod trends;

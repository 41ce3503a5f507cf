//! Does storage keep what it acknowledged, when its power is cut?
//!
//! The tester writes [sectors that describe themselves](sector) in an order that follows from
//! [a seed](session), in several [durability classes](class). Each acknowledgement becomes a line of a
//! [log](promises) on another machine before the tester goes on. After the cut, [`check`] tells of each
//! acknowledged write what is left of it, [`statistics`] what that allows to say about the rate of
//! losses, and [`layer`] who is to be suspected. [`checker`] checks a whole target, [`campaign`] repeats
//! writes and checks.
//!
//! [`server`] keeps the promises, [`client`] talks to it, over [TLS](remote::tls) if both want it, [`mod@write`] and
//! [`storage`] write, and [`report`] says what a check found.

pub mod campaign;
pub mod check;
pub mod checker;
pub mod class;
pub mod client;
pub mod layer;
pub mod promises;
pub mod protocol;
pub mod report;
pub mod sector;
pub mod server;
pub mod session;
#[cfg(test)]
mod simulated;
pub mod statistics;
pub mod storage;
#[cfg(test)]
mod tests;
mod wire;
pub mod write;

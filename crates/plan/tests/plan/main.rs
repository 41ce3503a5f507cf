//! Rules of resolution, each on an invented machine. "Oracle" says what fio 3.33 was seen to do.

mod engines;
mod names;
mod numbered;
mod objects;
mod order;
mod pace;
mod placing;
mod properties;
mod safety;
mod sizes;
mod support;

//! A connection, encrypted or not.

use std::io::{Read, Write};

/// A connection, encrypted or not.
pub trait Wire: Read + Write + Send {}

impl<T: Read + Write + Send> Wire for T {}

//! Values for a job that a client sent to a server.

/// Values for a job on a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Address at which the client reached the server. It is part of file names, to keep the files
    /// of several servers in a shared directory apart. `None` without a network.
    pub address: Option<String>,
    /// File names do not contain the address (`unique_filename=0`).
    pub plain_names: bool,
}

//! What a job is told when it comes from a client.

/// Where the job runs, when that is a server's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Address by which the client reached the server: what tells its files from those of other
    /// servers in a directory that they share. `None` without a network.
    pub address: Option<String>,
    /// Names of files do without it (`unique_filename=0`).
    pub plain_names: bool,
}

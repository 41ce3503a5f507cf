//! Ranks that an MPI launcher starts, with Open MPI and MPICH.

#[path = "../common/mod.rs"]
mod common;

mod mpi;
mod suites;

//! The runs of a diagnosis.

use record::Nanos;

/// One run of the diagnosis.
pub(super) struct Probe {
    pub name: &'static str,
    pub description: &'static str,
    pub rw: &'static str,
    pub depth: u32,
    pub engine: Engine,
    pub more: &'static [&'static str],
    pub time: Nanos,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Engine {
    Usual,
    Synchronous,
    /// An asynchronous engine other than the usual one.
    Other,
}

const fn reads(name: &'static str, description: &'static str, depth: u32) -> Probe {
    let (engine, time) = (Engine::Usual, Nanos::from_millis(2_000));
    Probe { name, description, rw: "randread", depth, engine, more: &[], time }
}

const fn writes(name: &'static str, description: &'static str, depth: u32) -> Probe {
    Probe { rw: "randwrite", ..reads(name, description, depth) }
}

/// A moderate depth, typical of applications with several I/Os in flight.
pub(super) const MODERATE: u32 = 16;
pub(super) const DEEP: u32 = 64;

/// The runs of a diagnosis after the fill, in order.
pub(super) const PROBES: [Probe; 8] = [
    reads("path", "path: random reads 4 KiB, depth 4", 4),
    reads("depth-1", "saturation or stalls: random reads, depth 1", 1),
    reads("depth-16", "saturation or stalls: random reads, depth 16", MODERATE),
    reads("depth-64", "saturation or stalls: random reads, depth 64", DEEP),
    Probe {
        engine: Engine::Other,
        ..reads("engine", "CPU or device: the same with another engine, depth 16", MODERATE)
    },
    Probe {
        time: Nanos::from_millis(12_000),
        ..writes("sustained", "sustained load: random writes, depth 16", MODERATE)
    },
    Probe { engine: Engine::Synchronous, ..writes("write", "durability: single writes 4 KiB", 1) },
    Probe {
        engine: Engine::Synchronous,
        more: &["--fsync=1"],
        ..writes("write-fsync", "durability: the same, each followed by fsync", 1)
    },
];

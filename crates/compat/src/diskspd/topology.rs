//! The topology of CPUs, numbered as by DISKSPD: from 0, without gaps.

use record::Facts;
use std::collections::{BTreeMap, BTreeSet};

/// The CPUs of a machine.
#[derive(Debug, Default)]
pub(super) struct Topology {
    places: BTreeMap<u32, Place>,
    pub nodes: usize,
    /// 0: neither sockets nor cores are known.
    pub sockets: usize,
    pub cores: usize,
    /// Kinds of cores; 0: unknown; above 1: some cores are faster.
    pub classes: usize,
}

/// A CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub socket: usize,
    pub node: u32,
    pub core: usize,
    /// The class of its core; the fastest cores have the highest.
    pub class: usize,
}

impl Topology {
    /// The topology in the facts of a machine.
    pub fn from_facts(facts: &Facts) -> Topology {
        let cpu = &facts.cpu;
        let all = cpu.places.values();
        let sockets: BTreeSet<u32> = all.clone().map(|place| place.socket).collect();
        let cores: BTreeSet<u32> = all.clone().map(|place| place.core).collect();
        let classes: BTreeSet<u32> = all.filter_map(|place| place.capacity).collect();
        let node = |cpu_number: &u32| {
            cpu.nodes
                .iter()
                .find(|(_, cpus)| cpus.contains(cpu_number))
                .map_or(0, |(node, _)| *node)
        };
        let places = cpu.places.iter().map(|(number, place)| {
            let place = Place {
                socket: sockets.range(..place.socket).count(),
                node: node(number),
                core: cores.range(..place.core).count(),
                class: place.capacity.map_or(0, |capacity| classes.range(..capacity).count()),
            };
            (*number, place)
        });
        Topology {
            places: places.collect(),
            nodes: cpu.nodes.len().max(1),
            sockets: sockets.len(),
            cores: cores.len(),
            classes: classes.len(),
        }
    }

    /// The place of a CPU; `None`: unknown.
    pub fn place(&self, cpu: u32) -> Option<Place> {
        self.places.get(&cpu).copied()
    }

    /// The CPUs of each socket or core, by its number.
    pub fn groups(&self, of: fn(&Place) -> usize) -> BTreeMap<usize, Vec<u32>> {
        let mut groups: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (cpu, place) in &self.places {
            groups.entry(of(place)).or_default().push(*cpu);
        }
        groups
    }

    /// Whether cores have more than one CPU.
    pub fn has_threads(&self) -> bool {
        self.cores < self.places.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::CpuPlace;

    #[test]
    fn sockets_cores_and_classes_are_counted_from_zero() {
        let mut facts = Facts::default();
        for (cpu, socket, core, capacity) in
            [(0, 0, 0, 1024), (1, 0, 0, 1024), (4, 2, 4, 512), (5, 2, 5, 512)]
        {
            let place = CpuPlace { socket, core, capacity: Some(capacity) };
            facts.cpu.places.insert(cpu, place);
        }
        facts.cpu.nodes = [(0, vec![0, 1]), (1, vec![4, 5])].into();
        let topology = Topology::from_facts(&facts);
        assert_eq!(
            (topology.nodes, topology.sockets, topology.cores, topology.classes),
            (2, 2, 3, 2)
        );
        assert!(topology.has_threads());
        assert_eq!(topology.place(5), Some(Place { socket: 1, node: 1, core: 2, class: 0 }));
        assert_eq!(topology.place(1), Some(Place { socket: 0, node: 0, core: 0, class: 1 }));
        assert_eq!(
            topology.groups(|place| place.socket),
            [(0, vec![0, 1]), (1, vec![4, 5])].into()
        );
        assert_eq!(Topology::from_facts(&Facts::default()).place(0), None);
    }
}

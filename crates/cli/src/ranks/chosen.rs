//! The ranks that take part in a run.

use std::collections::BTreeMap;

/// The ranks that take part in a run: at most so many of each host, and of these at most so many. Ranks
/// whose host is not known are lost; they stay, so that the report names them.
pub fn chosen(hosts: &[String], per_host: Option<u64>, most: Option<u32>) -> Vec<u32> {
    let mut on_host: BTreeMap<&String, u64> = BTreeMap::new();
    let ranks = hosts.iter().zip(0..).filter_map(|(host, rank)| {
        let number = on_host.entry(host).or_default();
        *number += 1;
        let is_chosen = host.is_empty() || per_host.is_none_or(|most| *number <= most);
        is_chosen.then_some(rank)
    });
    ranks.take(most.map_or(usize::MAX, |most| most as usize)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_chosen_by_host_and_number() {
        let hosts: Vec<String> =
            ["a", "a", "b", "", "b", "b", "c"].iter().map(|host| (*host).into()).collect();
        assert_eq!(chosen(&hosts, None, None), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(chosen(&hosts, Some(1), None), [0, 2, 3, 6]);
        assert_eq!(chosen(&hosts, Some(2), Some(4)), [0, 1, 2, 3]);
        assert_eq!(chosen(&hosts, None, Some(3)), [0, 1, 2]);
    }
}

//! The tree in which parts are added: a binomial tree, so n ranks need about log2 n steps.

/// The place of a rank in the tree of those that take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where its sum goes; `None` for the root.
    pub parent: Option<u32>,
    /// Whose sums it adds.
    pub children: Vec<u32>,
}

impl Place {
    /// The place of `rank` among `size` ranks without those in `without`. `None` if it is in there.
    pub fn of_rank(rank: u32, size: u32, without: &[u32]) -> Option<Place> {
        let members: Vec<u32> = (0..size).filter(|rank| !without.contains(rank)).collect();
        let own = members.binary_search(&rank).ok()?;
        let mut children = Vec::new();
        let mut step = 1;
        while own & step == 0 && step < members.len() {
            children.extend(members.get(own + step).copied());
            step <<= 1;
        }
        let parent = (own != 0).then(|| members[own & (own - 1)]);
        Some(Place { parent, children })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_reached_once_whoever_is_left_out() {
        for size in 1..70 {
            for without in [vec![], vec![1], vec![2, 3, size - 1]] {
                let without: Vec<u32> = without.into_iter().filter(|rank| *rank > 0).collect();
                let place = |rank| Place::of_rank(rank, size, &without);
                let (mut reached, mut next) = (vec![], vec![0]);
                while let Some(rank) = next.pop() {
                    let place = place(rank).unwrap();
                    assert!(place.children.len() <= 7, "{place:?}");
                    for child in &place.children {
                        assert_eq!(
                            self::Place::of_rank(*child, size, &without).unwrap().parent,
                            Some(rank)
                        );
                    }
                    next.extend(place.children);
                    reached.push(rank);
                }
                reached.sort_unstable();
                let all: Vec<u32> = (0..size).filter(|rank| !without.contains(rank)).collect();
                assert_eq!(reached, all);
            }
        }
    }
}

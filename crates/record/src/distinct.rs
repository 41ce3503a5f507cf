//! Lists without repetitions.

/// The items without repetitions, in the order of their first appearance.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once: Vec<T> = Vec::new();
    for item in items {
        if !once.contains(&item) {
            once.push(item);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_of_equal_items_stays_in_its_place() {
        assert_eq!(super::distinct([3, 1, 3, 2, 1]), [3, 1, 2]);
        assert!(super::distinct::<u8>([]).is_empty());
    }
}

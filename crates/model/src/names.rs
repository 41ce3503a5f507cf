//! Classes of names: files and threads whose names differ only in numbers belong together.

use std::collections::HashMap;

/// A name with each run of digits, and each long run of hexadecimal digits, as one '#'.
pub fn pattern(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    let mut rest = name;
    while !rest.is_empty() {
        let hex = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let has_digit = rest[..hex].bytes().any(|byte| byte.is_ascii_digit());
        let length = if hex >= 8 && has_digit { hex } else { digits };
        if length > 0 {
            pattern.push('#');
            rest = &rest[length..];
            continue;
        }
        let Some(first) = rest.chars().next() else { break };
        pattern.push(first);
        rest = &rest[first.len_utf8()..];
    }
    pattern
}

/// Numbers of classes, of which there are at most so many; later ones share the last.
#[derive(Clone, Debug)]
pub struct Classes {
    names: Vec<String>,
    by_name: HashMap<String, u32>,
    most: usize,
}

impl Classes {
    /// At most `most` classes.
    pub fn new(most: usize) -> Classes {
        Classes { names: Vec::new(), by_name: HashMap::new(), most }
    }

    /// The class of a name.
    pub fn class(&mut self, name: &str) -> u32 {
        if let Some(class) = self.by_name.get(name) {
            return *class;
        }
        if self.names.len() + 1 >= self.most {
            if self.names.len() < self.most {
                self.names.push("others".into());
            }
            return self.most as u32 - 1;
        }
        self.names.push(name.to_owned());
        let class = self.names.len() as u32 - 1;
        self.by_name.insert(name.to_owned(), class);
        class
    }

    /// The name of a class.
    pub fn name(&self, class: u32) -> &str {
        self.names.get(class as usize).map_or("unknown", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_numbers_are_alike() {
        assert_eq!(pattern("/db/base/16384/2619_fsm"), "/db/base/#/#_fsm");
        assert_eq!(pattern("/log/00000001000000000000002A"), "/log/#");
        assert_eq!(pattern("/data/cafe.db"), "/data/cafe.db");
        assert_eq!(pattern("kworker/u4:2"), "kworker/u#:#");
        assert_eq!(pattern(""), "");
    }

    #[test]
    fn late_classes_share_the_last() {
        let mut classes = Classes::new(3);
        let all: Vec<u32> = ["a", "b", "c", "d", "a"].iter().map(|n| classes.class(n)).collect();
        assert_eq!(all, [0, 1, 2, 2, 0]);
        assert_eq!((classes.name(0), classes.name(2)), ("a", "others"));
    }
}

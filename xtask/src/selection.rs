//! Choosing by words, as `--only` and `--cases` do.

/// Whether a name holds one of these words, or there are none.
pub fn is_chosen(name: &str, words: &[String]) -> bool {
    words.is_empty() || words.iter().any(|word| name.contains(word.as_str()))
}

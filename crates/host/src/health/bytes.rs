//! Numbers in the answers of disks.

/// A little-endian number of up to 8 bytes; `None` beyond the end.
pub(super) fn read_le(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A big-endian number of up to 8 bytes; `None` beyond the end.
pub(super) fn read_be(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_the_answer_ends() {
        let bytes = [1, 2, 3];
        assert_eq!((read_le(&bytes, 0, 2), read_be(&bytes, 0, 2)), (Some(0x0201), Some(0x0102)));
        assert_eq!((read_le(&bytes, 2, 2), read_be(&bytes, 3, 1)), (None, None));
        assert_eq!(read_le(&bytes, usize::MAX, 2), None);
    }
}

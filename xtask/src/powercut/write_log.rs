//! The log of dm-log-writes, a second oracle: the kernel's own account of what was durable. It holds a
//! write once a flush that followed it, or its own force unit access, is complete.

use anyhow::{Result, ensure};

const MAGIC: u64 = 0x6a_7366_7773_6872;
const SECTOR: usize = 512;
const DISCARD: u64 = 4;
const MARK: u64 = 8;

/// A write of the log.
#[derive(Debug, PartialEq)]
pub struct Logged<'a> {
    offset: usize,
    data: &'a [u8],
}

/// Reads the log.
pub fn parse(log: &[u8]) -> Result<Vec<Logged<'_>>> {
    let number = |at: usize| {
        let bytes = log.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        u64::from_le_bytes(bytes.unwrap_or_default())
    };
    ensure!(number(0) == MAGIC && number(8) == 1, "no log of dm-log-writes, version 1");
    let mut at = SECTOR;
    let mut writes = Vec::new();
    for _ in 0..number(16) {
        let [sector, sectors, flags] = [number(at), number(at + 8), number(at + 16)];
        at += SECTOR;
        if flags & (DISCARD | MARK) != 0 {
            continue;
        }
        let length = sectors as usize * SECTOR;
        let Some(data) = log.get(at..at + length) else { break };
        at += length;
        if length > 0 {
            writes.push(Logged { offset: sector as usize * SECTOR, data });
        }
    }
    Ok(writes)
}

/// A disk of zeros on which the writes were made.
pub fn replayed(writes: &[Logged], bytes: usize) -> Vec<u8> {
    let mut image = vec![0; bytes];
    for Logged { offset, data } in writes {
        if let Some(place) = image.get_mut(*offset..offset + data.len()) {
            place.copy_from_slice(data);
        }
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sector(numbers: &[u64]) -> Vec<u8> {
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes.resize(SECTOR, 0);
        bytes
    }

    #[test]
    fn a_log_is_replayed_in_its_order_up_to_its_end() {
        let mut log = sector(&[MAGIC, 1, 4, SECTOR as u64]);
        // A write of two sectors, a flush, a mark, and a write over the second sector.
        log.extend([sector(&[1, 2, 0]), vec![1; 2 * SECTOR], sector(&[0, 0, 1])].concat());
        log.extend([sector(&[0, 0, MARK, 3]), sector(&[2, 1, 2]), vec![2; SECTOR]].concat());
        let writes = parse(&log).unwrap();
        assert_eq!(writes.len(), 2);
        let image = replayed(&writes, 4 * SECTOR);
        let firsts: Vec<u8> = image.chunks(SECTOR).map(|sector| sector[0]).collect();
        assert_eq!(firsts, [0, 1, 2, 0]);
        assert_eq!(replayed(&writes[..1], 4 * SECTOR)[2 * SECTOR], 1);
        assert_eq!(parse(&log[..log.len() - 1]).unwrap().len(), 1);
        assert!(parse(&[0; SECTOR]).is_err());
    }
}

//! Which task touches which bytes, in which order.
//!
//! # Rules
//! - A shared file has segments of a block for each task; a file of a task has its blocks in a row.
//! - `-C` shifts readers by the tasks of a host, as many hosts further as -Q says; -W by one more. On one
//!   host that is a whole turn: nothing moves.
//! - `-Z` shifts each reader by a number of its own, `-ZZ` by one permutation of all.
//! - `-z` shuffles the transfers of a block, the same way in each segment. In a shared file each
//!   transfer of a segment goes to a task that is drawn. `-zz` reads each block at a drawn place.

use super::{IorCommand, Phase};
use suite::Draw;

/// The transfers of a task, in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Transfers {
    /// One after the other in each block. The first block begins at `offset`, the next `period` bytes
    /// later.
    Sequential { offset: u64, period: u64 },
    /// These transfers, by number. `repeats`: the same in each block, counted from its beginning.
    Listed { numbers: Vec<u64>, repeats: bool },
}

/// The seeds of a repetition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeds {
    /// Of the order of transfers.
    pub offsets: u64,
    /// Of the tasks that read the data of others.
    pub tasks: u64,
}

/// The task whose data each task touches in a phase.
pub(super) fn owners(call: &IorCommand, phase: Phase, seed: u64) -> Vec<u32> {
    let own: Vec<u32> = (0..call.tasks).collect();
    if phase.writes() {
        return own;
    }
    let mut draw = Draw::new(seed);
    match call.reorder_random {
        0 if call.reorder => {
            let nodes = call.task_offset + u64::from(phase == Phase::Check);
            let shift = nodes.wrapping_mul(call.next_node.into()) % u64::from(call.tasks);
            let shifted = |task: u32| ((u64::from(task) + shift) % u64::from(call.tasks)) as u32;
            own.into_iter().map(shifted).collect()
        }
        0 => own,
        1 => {
            let shifted = |task: u32| (task + draw.below(call.tasks.into()) as u32) % call.tasks;
            own.into_iter().map(shifted).collect()
        }
        _ => shuffled(own, &mut draw),
    }
}

fn shuffled<T>(mut all: Vec<T>, draw: &mut Draw) -> Vec<T> {
    draw.shuffle(&mut all);
    all
}

/// The transfers on the data of each task, by task.
pub(super) fn transfers(call: &IorCommand, phase: Phase, seed: u64) -> Vec<Transfers> {
    let tasks = call.tasks;
    let mut draw = Draw::new(seed);
    match (call.random_offset, call.per_process) {
        (0, _) => (0..tasks).map(|task| sequential(call, task)).collect(),
        (2.., _) if !phase.writes() => anywhere(call, draw),
        (_, true) => {
            let order = shuffled((0..call.transfers_per_block()).collect(), &mut draw);
            vec![Transfers::Listed { numbers: order, repeats: true }; tasks as usize]
        }
        (_, false) => dealt(call, draw),
    }
}

fn sequential(call: &IorCommand, task: u32) -> Transfers {
    match call.per_process {
        true => Transfers::Sequential { offset: 0, period: call.block },
        false => Transfers::Sequential {
            offset: u64::from(task).saturating_mul(call.block),
            period: u64::from(call.tasks).saturating_mul(call.block),
        },
    }
}

/// Blocks that begin anywhere in the file at a multiple of the block size.
fn anywhere(call: &IorCommand, mut draw: Draw) -> Vec<Transfers> {
    let blocks = (call.file_size() / call.block).max(1);
    let per_block = call.transfers_per_block();
    let mut of_task = || {
        let starts: Vec<u64> = (0..call.segments).map(|_| draw.below(blocks)).collect();
        let numbers = starts
            .into_iter()
            .flat_map(|block| (0..per_block).map(move |transfer| block * per_block + transfer));
        Transfers::Listed { numbers: numbers.collect(), repeats: false }
    };
    (0..call.tasks).map(|_| of_task()).collect()
}

/// Each transfer of a shared file dealt to a drawn task, in drawn order.
fn dealt(call: &IorCommand, mut draw: Draw) -> Vec<Transfers> {
    let per_segment = u64::from(call.tasks) * call.transfers_per_block();
    let mut all = vec![Vec::new(); call.tasks as usize];
    for segment in 0..call.segments {
        for number in shuffled((0..per_segment).collect(), &mut draw) {
            let task = draw.below(call.tasks.into()) as usize;
            all[task].push(segment * per_segment + number);
        }
    }
    all.into_iter().map(|numbers| Transfers::Listed { numbers, repeats: false }).collect()
}

/// The `count` transfers after the first `done` ones.
pub(super) fn after(call: &IorCommand, transfers: &Transfers, done: u64, count: u64) -> Transfers {
    let per_block = call.transfers_per_block();
    let (blocks, rest) = (done / per_block, done % per_block);
    let range = done..done + count;
    match transfers {
        Transfers::Sequential { offset, period } if rest == 0 || *period == call.block => {
            let offset = offset + blocks * period + rest * call.transfer;
            Transfers::Sequential { offset, period: *period }
        }
        Transfers::Sequential { offset, period } => {
            let number = |index: u64| {
                (offset + index / per_block * period) / call.transfer + index % per_block
            };
            Transfers::Listed { numbers: range.map(number).collect(), repeats: false }
        }
        Transfers::Listed { numbers, repeats: true } => {
            let number =
                |index: u64| index / per_block * per_block + numbers[(index % per_block) as usize];
            Transfers::Listed { numbers: range.map(number).collect(), repeats: false }
        }
        Transfers::Listed { numbers, repeats: false } => {
            let rest = numbers.iter().skip(done as usize).take(count as usize);
            Transfers::Listed { numbers: rest.copied().collect(), repeats: false }
        }
    }
}

/// The end of the last of the first `count` transfers, from where the first block of the task begins.
/// Reads of a file that `-D` left short must not ask for more.
pub(super) fn reach(call: &IorCommand, transfers: &Transfers, count: u64) -> u64 {
    let per_block = call.transfers_per_block();
    let (blocks, rest) = (count / per_block, count % per_block);
    match transfers {
        Transfers::Sequential { period, .. } if rest > 0 => blocks * period + rest * call.transfer,
        Transfers::Sequential { period, .. } => blocks.saturating_sub(1) * period + call.block,
        Transfers::Listed { numbers, repeats } => {
            let (before, listed) = if *repeats { (blocks * per_block, rest) } else { (0, count) };
            let last = numbers.iter().take(listed as usize).max();
            last.map_or(before, |number| before + number + 1) * call.transfer
        }
    }
}

/// Numbers that the transfers of one run list.
pub(super) fn listed(call: &IorCommand) -> u64 {
    let per_block = call.transfers_per_block().saturating_mul(u64::from(call.tasks));
    match (call.random_offset, call.per_process) {
        (0, _) => 0,
        (1, true) => per_block,
        _ => per_block.saturating_mul(call.segments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_move_to_the_tasks_of_the_next_host() {
        let hosts = |names: &str| names.chars().map(String::from).collect::<Vec<_>>();
        let owned = |names: &str, task_offset: u64, phase: Phase| {
            let mut call =
                IorCommand { tasks: 4, reorder: true, task_offset, ..IorCommand::default() };
            call.place_on(&hosts(names));
            owners(&call, phase, 1)
        };
        assert_eq!(owned("aabb", 1, Phase::Read), [2, 3, 0, 1]);
        assert_eq!(owned("abab", 1, Phase::Read), [1, 2, 3, 0]);
        assert_eq!(owned("abcd", 2, Phase::Read), [2, 3, 0, 1]);
        assert_eq!(owned("abcd", 1, Phase::Check), [2, 3, 0, 1]);
        assert_eq!(owned("aabb", 1, Phase::Write), [0, 1, 2, 3]);
        assert_eq!(owned("aaaa", 1, Phase::Read), [0, 1, 2, 3]);
    }

    fn call(tasks: u32) -> IorCommand {
        let (block, transfer) = (16 << 10, 4 << 10);
        IorCommand { tasks, block, transfer, segments: 3, ..IorCommand::default() }
    }

    #[test]
    fn a_shared_file_has_a_block_of_each_task_in_each_segment() {
        let found = transfers(&call(2), Phase::Write, 1);
        let expected = |offset| Transfers::Sequential { offset, period: 32 << 10 };
        assert_eq!(found, [expected(0), expected(16 << 10)]);
        let own = IorCommand { per_process: true, ..call(2) };
        let expected = Transfers::Sequential { offset: 0, period: 16 << 10 };
        assert_eq!(transfers(&own, Phase::Read, 1), [expected.clone(), expected]);
    }

    #[test]
    fn random_offsets_cover_each_transfer_once() {
        let shared = IorCommand { random_offset: 1, ..call(2) };
        let mut all: Vec<u64> = transfers(&shared, Phase::Write, 7)
            .into_iter()
            .flat_map(|transfers| match transfers {
                Transfers::Listed { numbers, repeats: false } => numbers,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_ne!(all, (0..24).collect::<Vec<u64>>());
        all.sort_unstable();
        assert_eq!(all, (0..24).collect::<Vec<u64>>());
        assert_eq!(listed(&shared), 24);
        let own = IorCommand { per_process: true, ..shared };
        let Transfers::Listed { mut numbers, repeats: true } =
            transfers(&own, Phase::Read, 7).remove(1)
        else {
            panic!()
        };
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2, 3]);
    }

    #[test]
    fn blocks_at_random_begin_at_multiples_of_the_block() {
        let call = IorCommand { random_offset: 2, per_process: true, ..call(2) };
        let Transfers::Listed { numbers, repeats: false } =
            transfers(&call, Phase::Read, 3).remove(0)
        else {
            panic!()
        };
        assert_eq!(numbers.len(), 12);
        for block in numbers.chunks(4) {
            assert!(block[0].is_multiple_of(4) && block[0] < 12, "{block:?}");
            assert!(block.windows(2).all(|pair| pair[1] == pair[0] + 1), "{block:?}");
        }
    }

    #[test]
    fn the_first_transfers_reach_as_far_as_the_last_of_them() {
        const KIB: u64 = 1 << 10;
        let call = call(2);
        let shared = Transfers::Sequential { offset: 16 * KIB, period: 32 * KIB };
        let of_shared = |count| reach(&call, &shared, count) / KIB;
        assert_eq!([1, 4, 5, 12].map(of_shared), [4, 16, 36, 80]);
        let block = Transfers::Listed { numbers: vec![2, 0, 3, 1], repeats: true };
        let of_block = |count| reach(&call, &block, count) / KIB;
        assert_eq!([1, 2, 3, 4, 5, 12].map(of_block), [12, 12, 16, 16, 28, 48]);
        let dealt = Transfers::Listed { numbers: vec![5, 1, 9], repeats: false };
        assert_eq!([1, 2, 3].map(|count| reach(&call, &dealt, count) / KIB), [24, 24, 40]);
    }

    #[test]
    fn one_host_moves_nothing_with_c_and_readers_with_z() {
        let owner = |call: &IorCommand, phase| owners(call, phase, 5);
        let shifted = IorCommand { reorder: true, ..call(8) };
        assert_eq!(owner(&shifted, Phase::Read), [0, 1, 2, 3, 4, 5, 6, 7]);
        let permuted = IorCommand { reorder_random: 2, ..call(8) };
        assert_eq!(owner(&permuted, Phase::Write), [0, 1, 2, 3, 4, 5, 6, 7]);
        let mut readers = owner(&permuted, Phase::Read);
        assert_ne!(readers, [0, 1, 2, 3, 4, 5, 6, 7]);
        readers.sort_unstable();
        assert_eq!(readers, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}

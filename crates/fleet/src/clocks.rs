//! Comparison of clocks by round trips.

use crate::exchange::Exchange;
use crate::message::Message;
use record::ClockOffset;
use std::time::{Duration, Instant};

/// Round trips to a rank. The first wakes it up.
const ROUNDS: u64 = 24;
/// The longest time for one rank.
const LIMIT: Duration = Duration::from_millis(250);

/// Compares the clock of `rank` with the clock of this rank, in a round of the fleet. The shortest of several
/// round trips counts: the answer was made between sending and receiving, so the error is at most half of the
/// round trip. Messages of other kinds that arrive meanwhile go to `others`. `None` if there was no answer.
pub(crate) fn compare(
    exchange: &mut dyn Exchange,
    rank: u32,
    round: u32,
    others: &mut Vec<(u32, Vec<u8>)>,
) -> Result<Option<ClockOffset>, String> {
    let begin = Instant::now();
    let mut best: Option<ClockOffset> = None;
    for number in 0..ROUNDS {
        let sent = exchange.now();
        exchange.send(rank, Message::Ping(number).to_bytes(round))?;
        let Some((received, answer)) = pong(exchange, rank, number, begin, others)? else { break };
        let bound = (received - sent).div_ceil(2);
        if best.is_none_or(|best| bound < best.bound) {
            let middle = sent + (received - sent) / 2;
            best = Some(ClockOffset { at: middle, ahead: answer as i64 - middle as i64, bound });
        }
    }
    Ok(best)
}

/// Waits for an answer: (when it arrived, the clock of the other rank).
fn pong(
    exchange: &mut dyn Exchange,
    rank: u32,
    number: u64,
    begin: Instant,
    others: &mut Vec<(u32, Vec<u8>)>,
) -> Result<Option<(u64, u64)>, String> {
    while begin.elapsed() < LIMIT {
        match exchange.receive()? {
            Some((from, bytes)) => match Message::of_bytes(&bytes) {
                Ok((_, Message::Pong(answered, at))) if from == rank && answered == number => {
                    return Ok(Some((exchange.now(), at)));
                }
                // An answer that came too late.
                Ok((_, Message::Pong(..))) => {}
                _ => others.push((from, bytes)),
            },
            None => std::thread::yield_now(),
        }
    }
    Ok(None)
}

//! Numbered objects of a store, in place of blocks of files. Fathom's own.

use super::Group::Engine;
use super::field::field;
use super::row::{NO_MAX, choice, int, text, value};
use super::{Choice, OptionDef};
use crate::model::{Job, Named, ObjectWork};

const WORKS: &[Choice] = &[
    value("put", "new objects are put"),
    value("get", "objects that are there are fetched"),
    value("stat", "they are asked for their attributes"),
    value("list", "their keys are listed"),
    value("delete", "each is deleted once"),
    value("mixed", "all of it but lists, in the shares of object_mix"),
];

/// Numbers that objects can have.
const COUNT_MAX: i64 = 1 << 31;

fn is(job: &Job, work: ObjectWork) -> bool {
    job.queue.options.numbered.work == Some(work)
}

pub(super) const ROWS: &[OptionDef] = &[
    choice(Engine, "object_set", WORKS, "Work on numbered objects, not on blocks of files")
        .long(
            "fathom's own. filename is /bucket/prefix, and each clone has the objects \
             prefix/CLONE/NUMBER. bs, bsrange or bssplit say how large they are: each object has \
             one size, drawn from its number and randseed, so that a later job with the same \
             options knows it. rw follows from the work. A delete counts as a trim; a stat in a \
             mix counts as a synchronisation does, a stat or list alone as a read of 0 bytes.",
        )
        .of(&["http"])
        .sets_with(|job, v| {
            let work = ObjectWork::from_name(v.text());
            job.queue.options.numbered.work = work;
            job.pattern.rw = work.map_or(job.pattern.rw, ObjectWork::rw);
            Ok(())
        })
        .recorded_as("object_set", |job| {
            job.queue.options.numbered.work.map(|work| work.name().to_owned())
        }),
    int(Engine, "object_count", 0, COUNT_MAX, "How many objects there are")
        .long(
            "fathom's own. Those of all clones together: how many are there at the beginning, or \
             for object_set=put how many are put; 0 puts new ones until the time is up.",
        )
        .of(&["http"])
        .default("0")
        .sets(field!(queue.options.numbered.count)),
    text(Engine, "object_mix", "Shares of gets, stats, puts and deletes in a mix")
        .long(
            "fathom's own. Four numbers split by slashes; only their proportions matter. All four \
             come from one shuffled deck, so every worker keeps the shares at all times. No object \
             is deleted while it is being fetched, nor used after.",
        )
        .of(&["http"])
        .default("45/30/15/10")
        .sets(field!(queue.options.numbered.mix))
        .recorded_as("object_mix", |job| {
            is(job, ObjectWork::Mixed).then(|| job.queue.options.numbered.mix.to_string())
        }),
    int(Engine, "object_range", 0, NO_MAX, "Length of the range that a get fetches")
        .long("fathom's own. At a random multiple of it within the object; 0 fetches it whole.")
        .of(&["http"])
        .default("0")
        .sets(field!(queue.options.numbered.range))
        .recorded(),
    int(Engine, "object_part_size", 0, NO_MAX, "Put objects in parts of this size")
        .long(
            "fathom's own. A put is then a whole multipart upload: its beginning, the parts, its \
             end. 0 puts each object in one request.",
        )
        .of(&["http"])
        .default("0")
        .sets(field!(queue.options.numbered.part_size))
        .recorded_as("object_part_size", |job| {
            let size = job.queue.options.numbered.part_size;
            (size > 0 && is(job, ObjectWork::Put)).then(|| size.to_string())
        }),
    int(Engine, "object_part_concurrent", 1, 1000, "Parts of one upload in flight")
        .long("fathom's own. For object_part_size.")
        .of(&["http"])
        .default("4")
        .sets(field!(queue.options.numbered.part_concurrent)),
    int(Engine, "object_max_keys", 1, 1000, "Keys that one list asks for")
        .long(
            "fathom's own. A list is one request for a page of its clone's keys. The next one in \
             its place in the queue asks for the page after it, and after the last page for the \
             first.",
        )
        .of(&["http"])
        .default("1000")
        .sets(field!(queue.options.numbered.max_keys))
        .recorded_as("object_max_keys", |job| {
            is(job, ObjectWork::List).then(|| job.queue.options.numbered.max_keys.to_string())
        }),
];

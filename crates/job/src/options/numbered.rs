//! Numbered objects of a store, in place of blocks of files. Fathom's own.

use super::Group::Engine;
use super::field::field;
use super::row::{NO_MAX, choice, int, text, value};
use super::{Choice, OptionDef};
use crate::model::{Job, Named, ObjectWork};

const WORKS: &[Choice] = &[
    value("put", "put new objects"),
    value("get", "get existing objects"),
    value("stat", "get attributes of objects"),
    value("list", "list keys"),
    value("delete", "delete each object once"),
    value("mixed", "a mix of get, stat, put and delete, see object_mix"),
];

/// Numbers that objects can have.
const COUNT_MAX: i64 = 1 << 31;

fn is(job: &Job, work: ObjectWork) -> bool {
    job.queue.options.numbered.work == Some(work)
}

pub(super) const ROWS: &[OptionDef] = &[
    choice(Engine, "object_set", WORKS, "Work on numbered objects, not on blocks of files")
        .long(
            "Not an option of fio. filename is /bucket/prefix; each clone has the objects \
             prefix/CLONE/NUMBER. bs, bsrange or bssplit set the object sizes: the size follows \
             from the number of the object and randseed, so later jobs with the same options \
             expect the same size. Sets rw. A delete counts as a trim, a stat in a mix as a \
             synchronisation, and a stat or list alone as a read of 0 bytes.",
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
    int(Engine, "object_count", 0, COUNT_MAX, "Number of objects")
        .long(
            "Not an option of fio. For all clones together: the number of objects at the start \
             or, for object_set=put, the number to put; 0 puts new objects until runtime ends.",
        )
        .of(&["http"])
        .default("0")
        .sets(field!(queue.options.numbered.count)),
    text(Engine, "object_mix", "Shares of gets, stats, puts and deletes in a mix")
        .long(
            "Not an option of fio. Four weights separated by slashes. Each worker keeps the \
             proportions at all times. No object is deleted during a get, nor used after its \
             deletion.",
        )
        .of(&["http"])
        .default("45/30/15/10")
        .sets(field!(queue.options.numbered.mix))
        .recorded_as("object_mix", |job| {
            is(job, ObjectWork::Mixed).then(|| job.queue.options.numbered.mix.to_string())
        }),
    int(Engine, "object_range", 0, NO_MAX, "Length of the range for gets")
        .long(
            "Not an option of fio. In bytes, at a random multiple of this length; 0 gets the \
             whole object.",
        )
        .of(&["http"])
        .default("0")
        .sets(field!(queue.options.numbered.range))
        .recorded(),
    int(Engine, "object_part_size", 0, NO_MAX, "Put objects in parts of this size")
        .long(
            "Not an option of fio. In bytes. Each put is then a complete multipart upload. 0 \
             puts each object in one request.",
        )
        .of(&["http"])
        .default("0")
        .sets(field!(queue.options.numbered.part_size))
        .recorded_as("object_part_size", |job| {
            let size = job.queue.options.numbered.part_size;
            (size > 0 && is(job, ObjectWork::Put)).then(|| size.to_string())
        }),
    int(Engine, "object_part_concurrent", 1, 1000, "Parts of one upload in flight")
        .long("Not an option of fio. For object_part_size.")
        .of(&["http"])
        .default("4")
        .sets(field!(queue.options.numbered.part_concurrent)),
    int(Engine, "object_max_keys", 1, 1000, "Maximum number of keys in a list response")
        .long(
            "Not an option of fio. Each list requests one page of the clone's keys; the next \
             list in the same queue slot requests the next page, and the first page after the \
             last.",
        )
        .of(&["http"])
        .default("1000")
        .sets(field!(queue.options.numbered.max_keys))
        .recorded_as("object_max_keys", |job| {
            is(job, ObjectWork::List).then(|| job.queue.options.numbered.max_keys.to_string())
        }),
];

//! Numbered objects of a store, in place of blocks of files. Fathom's own.

use super::Group::Engine;
use super::field::field;
use super::row::{NO_MAX, choice, int, rows, text, value};
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

fn is_work(job: &Job, work: ObjectWork) -> bool {
    job.queue.options.numbered.work == Some(work)
}

pub(super) const ROWS: &[OptionDef] = rows! {
    /// Work on numbered objects, not on blocks of files
    ///
    /// Not an option of fio. filename is /bucket/prefix; each clone has the objects
    /// prefix/CLONE/NUMBER. bs, bsrange or bssplit set the object sizes: the size follows from the
    /// number of the object and randseed, so later jobs with the same options expect the same size.
    /// Sets rw. A delete counts as a trim, a stat in a mix as a synchronisation, and a stat or list
    /// alone as a read of 0 bytes.
    "object_set" => choice(Engine, WORKS)
        .for_engines(&["http"])
        .sets_with(|job, v| {
            let work = ObjectWork::from_name(v.text());
            job.queue.options.numbered.work = work;
            job.pattern.rw = work.map_or(job.pattern.rw, ObjectWork::rw);
            Ok(())
        })
        .recorded_as("object_set", |job| {
            job.queue.options.numbered.work.map(|work| work.name().to_owned())
        }),

    /// Number of objects
    ///
    /// Not an option of fio. For all clones together: the number of objects at the start or, for
    /// object_set=put, the number to put; 0 puts new objects until runtime ends.
    "object_count" => int(Engine, 0, COUNT_MAX)
        .for_engines(&["http"])
        .default("0")
        .sets(field!(queue.options.numbered.count)),

    /// Shares of gets, stats, puts and deletes in a mix
    ///
    /// Not an option of fio. Four weights separated by slashes. Each worker keeps the proportions
    /// at all times. No object is deleted during a get, nor used after its deletion.
    "object_mix" => text(Engine)
        .for_engines(&["http"])
        .default("45/30/15/10")
        .sets(field!(queue.options.numbered.mix))
        .recorded_as("object_mix", |job| {
            is_work(job, ObjectWork::Mixed).then(|| job.queue.options.numbered.mix.to_string())
        }),

    /// Length of the range for gets
    ///
    /// Not an option of fio. In bytes, at a random multiple of this length; 0 gets the whole
    /// object.
    "object_range" => int(Engine, 0, NO_MAX)
        .for_engines(&["http"])
        .default("0")
        .sets(field!(queue.options.numbered.range))
        .recorded(),

    /// Put objects in parts of this size
    ///
    /// Not an option of fio. In bytes. Each put is then a complete multipart upload. 0 puts each
    /// object in one request.
    "object_part_size" => int(Engine, 0, NO_MAX)
        .for_engines(&["http"])
        .default("0")
        .sets(field!(queue.options.numbered.part_size))
        .recorded_as("object_part_size", |job| {
            let size = job.queue.options.numbered.part_size;
            (size > 0 && is_work(job, ObjectWork::Put)).then(|| size.to_string())
        }),

    /// Parts of one upload in flight
    ///
    /// Not an option of fio. For object_part_size.
    "object_part_concurrent" => int(Engine, 1, 1000)
        .for_engines(&["http"])
        .default("4")
        .sets(field!(queue.options.numbered.part_concurrent)),

    /// Maximum number of keys in a list response
    ///
    /// Not an option of fio. Each list requests one page of the clone's keys; the next list in the
    /// same queue slot requests the next page, and the first page after the last.
    "object_max_keys" => int(Engine, 1, 1000)
        .for_engines(&["http"])
        .default("1000")
        .sets(field!(queue.options.numbered.max_keys))
        .recorded_as("object_max_keys", |job| {
            is_work(job, ObjectWork::List).then(|| job.queue.options.numbered.max_keys.to_string())
        }),
};

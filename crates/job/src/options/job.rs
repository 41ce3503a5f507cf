//! What a job is called.

use super::row::{flag, int, text};
use super::{Group, OptionDef};

pub(super) const ROWS: &[OptionDef] = &[
    text(Group::Job, "description", "Text shown with the job").sets(|job, v| {
        job.identity.description = v.text().into();
        Ok(())
    }),
    text(Group::Job, "name", "Name of the job").sets(|job, v| {
        job.identity.name = v.text().into();
        Ok(())
    }),
    int(Group::Job, "numjobs", 0, i64::MAX, "Copies of the job").default("1").sets(|job, v| {
        job.identity.numjobs = Some(v.int().unsigned_abs());
        Ok(())
    }),
    flag(Group::Job, "stonewall", "Wait for the jobs before this one")
        .alias(&["wait_for_previous"])
        .sets(|job, v| {
            job.identity.stonewall = v.flag();
            Ok(())
        }),
];

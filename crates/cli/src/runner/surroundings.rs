//! What workers change of the machine, and that it is put back.

use engine::Enter;
use host::{Changes, GroupToJoin};
use plan::{Cgroup, Worker};
use std::io;
use std::sync::Arc;

/// Puts changes back when it goes, also when the run ends in an error of ours while its threads still
/// hold them.
pub(super) struct PutBack(pub Arc<Changes>);

impl Drop for PutBack {
    fn drop(&mut self) {
        self.0.put_back();
    }
}

/// Does what a worker wants changed.
pub(super) fn enter(changes: &Arc<Changes>) -> Enter {
    let changes = Arc::clone(changes);
    Box::new(move |worker, thread| change(&changes, worker, thread))
}

fn change(
    changes: &Changes,
    worker: &Worker,
    thread: u32,
) -> Result<(), (&'static str, io::Error)> {
    for (disk, scheduler) in &worker.surroundings.schedulers {
        changes.set_scheduler(disk, scheduler).map_err(|e| ("set ioscheduler", e))?;
    }
    if let Some(Cgroup { directory, version, own, weight, stays }) = &worker.surroundings.cgroup {
        let group =
            GroupToJoin { directory, version: *version, own, weight: *weight, stays: *stays };
        changes.join(&group, thread).map_err(|e| ("join the cgroup", e))?;
    }
    Ok(())
}

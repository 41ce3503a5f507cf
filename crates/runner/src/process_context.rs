//! Settings of the machine that workers change (I/O scheduler, cgroup), and their restoration.

use engine::PrepareMachine;
use host::{Changes, GroupToJoin};
use plan::{Cgroup, Worker};
use std::io;
use std::sync::Arc;

/// Restores the settings when it is dropped, also when the run ends in an error while its threads
/// still hold them.
pub(crate) struct ChangesInEffect(pub Arc<Changes>);

impl Drop for ChangesInEffect {
    fn drop(&mut self) {
        self.0.put_back();
    }
}

/// Applies the settings of each worker as it starts.
pub(crate) fn apply(changes: &Arc<Changes>) -> PrepareMachine {
    let changes = Arc::clone(changes);
    Box::new(move |worker, thread| change(&changes, worker, thread))
}

fn change(
    changes: &Changes,
    worker: &Worker,
    thread: u32,
) -> Result<(), (&'static str, io::Error)> {
    for (disk, scheduler) in &worker.context.schedulers {
        changes.set_scheduler(disk, scheduler).map_err(|e| ("set ioscheduler", e))?;
    }
    if let Some(Cgroup { directory, version, own, weight, stays }) = &worker.context.cgroup {
        let group =
            GroupToJoin { directory, version: *version, own, weight: *weight, stays: *stays };
        changes.join(&group, thread).map_err(|e| ("join the cgroup", e))?;
    }
    Ok(())
}

use super::*;
use record::Nanos;

const SECOND: u64 = 1_000_000_000;

fn running(letter: char, read: (u64, u64), write: (u64, u64)) -> WorkerStatus {
    WorkerStatus {
        state: WorkerState::Running,
        letter,
        open_files: 1,
        ios: PerDirection { read: read.0, write: write.0, trim: 0 },
        bytes: PerDirection { read: read.1, write: write.1, trim: 0 },
        directions: PerDirection { read: read.0 > 0, write: write.0 > 0, trim: false },
        started: Some(Nanos(0)),
        ..WorkerStatus::default()
    }
}

fn at(seconds: u64, workers: Vec<WorkerStatus>) -> Snapshot {
    Snapshot { at: Nanos(seconds * SECOND), workers, layout: None }
}

fn in_state(state: WorkerState) -> WorkerStatus {
    WorkerStatus { state, ..WorkerStatus::default() }
}

#[test]
fn the_line_matches_the_manual_of_fio() {
    let mut status = StatusLine::new();
    let reaped = in_state(WorkerState::Reaped);
    let mut worker = running('M', (820, 21_495_808 * 10), (940, 24_641_536 * 10));
    worker.time_based = true;
    worker.runtime = Some(Nanos(121 * SECOND));
    worker.started = Some(Nanos(0));
    let expected = "Jobs: 1 (f=1): [_(1),M(1)][24.8%][r=20.5MiB/s,w=23.5MiB/s]\
                    [r=82,w=94 IOPS][eta 01m:31s]";
    let mut before = at(20, vec![reaped.clone(), worker.clone()]);
    before.workers[1].ios = PerDirection::all(0);
    before.workers[1].bytes = PerDirection::all(0);
    status.update(&before);
    assert_eq!(status.update(&at(30, vec![reaped, worker])), expected);
}

#[test]
fn equal_states_are_counted() {
    let workers = |letter, n: usize| vec![running(letter, (1, 1), (0, 0)); n];
    assert_eq!(states(&[workers('W', 10), workers('R', 2)].concat()), "W(10),R(2)");
    assert_eq!(
        states(&[workers('W', 1), workers('R', 1), workers('W', 1)].concat()),
        "W(1),R(1),W(1)"
    );
}

#[test]
fn every_state_has_its_letter() {
    use WorkerState::*;
    let all = [
        NotStarted,
        Created,
        Initialized,
        PreReading,
        Ramp,
        Fsyncing,
        Verifying,
        Finishing,
        Exited,
        Reaped,
        Failed,
        Killed,
    ];
    let letters: String = all.into_iter().map(|state| letter(&in_state(state))).collect();
    assert_eq!(letters, "PCIp/FVfE_XK");
}

#[test]
fn a_time_based_job_is_as_far_as_its_time() {
    // fio takes the lesser of the byte and the time fraction.
    let mut worker = running('r', (100, 1000), (0, 0));
    (worker.time_based, worker.runtime) = (true, Some(Nanos(8 * SECOND)));
    (worker.goal_bytes, worker.ramp) = (Some(1000), Nanos(2 * SECOND));
    let line = StatusLine::new().update(&at(4, vec![worker]));
    assert!(line.contains("[40.0%]") && line.ends_with("[eta 00m:06s]"), "{line}");
}

#[test]
fn whatever_ends_first_ends_a_job() {
    let mut worker = running('r', (100, 500), (0, 0));
    (worker.goal_bytes, worker.runtime) = (Some(1000), Some(Nanos(100 * SECOND)));
    assert_eq!(at(5, vec![worker.clone()]).remaining_seconds(), Some(5.0));
    worker.runtime = Some(Nanos(7 * SECOND));
    assert_eq!(at(5, vec![worker]).remaining_seconds(), Some(2.0));
}

#[test]
fn phases_add_up_and_delays_count() {
    let mut first = running('r', (1, 1), (0, 0));
    (first.time_based, first.runtime) = (true, Some(Nanos(10 * SECOND)));
    let mut second = in_state(WorkerState::NotStarted);
    (second.time_based, second.runtime, second.phase) = (true, Some(Nanos(5 * SECOND)), 1);
    (second.start_delay, second.ramp) = (Nanos(3 * SECOND), Nanos(2 * SECOND));
    let mut beside = in_state(WorkerState::NotStarted);
    (beside.time_based, beside.runtime) = (true, Some(Nanos(9 * SECOND)));
    beside.start_delay = Nanos(6 * SECOND);
    // At 4 s: the first has 6 s left, the one beside it starts in 2 s and runs 9 s; then 3+2+5.
    let now = at(4, vec![first, second, beside]);
    assert_eq!(now.remaining_seconds(), Some(21.0));
}

#[test]
fn a_job_that_cannot_be_estimated_says_so() {
    let line = StatusLine::new().update(&at(1, vec![in_state(WorkerState::NotStarted)]));
    assert_eq!(line, "Jobs: 0 (f=0): [P(1)][-.-%][eta --]");
}

#[test]
fn a_stalled_direction_shows_zero() {
    let mut status = StatusLine::new();
    let now = at(2, vec![running('r', (10, 40_960), (0, 0))]);
    status.update(&now);
    let line = status.update(&Snapshot { at: Nanos(3 * SECOND), ..now });
    assert!(line.contains("[r=0B/s][r=0 IOPS]"), "{line}");
}

#[test]
fn limits_of_running_jobs_are_shown() {
    let mut worker = running('m', (1, 1), (1, 1));
    worker.rate_iops = Some(200);
    assert!(
        StatusLine::new()
            .update(&at(1, vec![worker.clone()]))
            .starts_with("Jobs: 1 (f=1), 0-200 IOPS: [")
    );
    (worker.rate_iops, worker.rate_bytes) = (None, Some(1 << 20));
    assert!(
        StatusLine::new()
            .update(&at(1, vec![worker]))
            .starts_with("Jobs: 1 (f=1), 0B/s-1024KiB/s: [")
    );
}

#[test]
fn a_shorter_line_covers_the_longer_one() {
    let mut status = StatusLine::new();
    let long = status.redraw(&at(1, vec![running('r', (1000, 1 << 30), (1000, 1 << 30))]));
    let short = status.redraw(&at(2, vec![in_state(WorkerState::Reaped)]));
    assert_eq!(long.len(), short.len());
    assert!(long.ends_with("]\r") && short.ends_with(" \r"));
}

#[test]
fn long_times_have_hours_and_days() {
    assert_eq!(eta_field(Some(91.0)), "[eta 01m:31s]");
    assert_eq!(eta_field(Some(3661.0)), "[eta 01h:01m:01s]");
    assert_eq!(eta_field(Some(90_061.0)), "[eta 01d:01h:01m:01s]");
}

#[test]
fn layout_has_a_line_of_its_own() {
    let mut now = at(2, Vec::new());
    let progress = |done| LayoutProgress { job: "a".into(), files: 1, total: 400 << 20, done };
    now.layout = Some(progress(100 << 20));
    let mut status = StatusLine::new();
    status.update(&now);
    (now.at, now.layout) = (Nanos(3 * SECOND), Some(progress(200 << 20)));
    let expected = "a: Laying out IO file (1 file): [50.0%][w=100MiB/s][eta 00m:02s]";
    assert_eq!(status.update(&now), expected);
    // The next clone, of the same name.
    (now.at, now.layout) = (Nanos(4 * SECOND), Some(progress(100 << 20)));
    let expected = "a: Laying out IO file (1 file): [25.0%][w=100MiB/s][eta 00m:03s]";
    assert_eq!(status.update(&now), expected);
    (now.at, now.layout) = (Nanos(7 * SECOND), Some(progress(400 << 20)));
    status.update(&now);
    now.at = Nanos(8 * SECOND);
    let expected = "a: Laying out IO file (1 file): [100.0%][w=0B/s][eta 00m:00s]";
    assert_eq!(status.update(&now), expected);
}

#[test]
fn the_last_line_has_rates_over_a_whole_interval() {
    let mut status = StatusLine::new();
    let moved = |ios, state| {
        let mut worker = running('r', (ios, ios * 4096), (0, 0));
        worker.state = state;
        vec![worker]
    };
    status.redraw(&at(10, moved(100, WorkerState::Running)));
    status.redraw(&at(20, moved(200, WorkerState::Running)));
    let line = status.last(&at(21, moved(210, WorkerState::Reaped)));
    let expected = "Jobs: 0 (f=0): [_(1)][100.0%][r=40KiB/s][r=10 IOPS][eta 00m:00s]";
    assert_eq!(line.trim_end(), expected);
    let mut status = StatusLine::new();
    status.redraw(&at(10, moved(100, WorkerState::Running)));
    status.redraw(&at(20, moved(200, WorkerState::Running)));
    let line = status.last(&at(25, moved(400, WorkerState::Reaped)));
    assert!(line.contains("[r=40 IOPS]"), "{line}");
}

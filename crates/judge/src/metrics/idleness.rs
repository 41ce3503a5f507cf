//! Idle time of the CPUs (`--idle-prof`).

use record::{CpuSample, IdleProfile, RunRecord};

/// Idle time of the CPUs over the run, as the kernel counts it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Idleness {
    /// All CPUs together, in percent.
    pub system: f64,
    /// By CPU number, in percent.
    pub cpus: Vec<f64>,
    /// The request, and the time of a unit of work.
    pub profile: IdleProfile,
}

/// From the first to the last sample of the machine; `None` if not requested.
pub(crate) fn measure(record: &RunRecord) -> Option<Idleness> {
    let profile = record.idle?;
    let samples = &record.timeline.samples;
    let (first, last) = (samples.first()?, samples.last()?);
    let spent: Vec<CpuSample> =
        first.cpus.iter().zip(&last.cpus).map(|(a, b)| b.zip(a, u64::saturating_sub)).collect();
    let add = |sum: CpuSample, cpu: &CpuSample| sum.zip(cpu, |a, b| a + b);
    let all = spent.iter().fold(CpuSample::default(), add);
    Some(Idleness { system: idle(&all), cpus: spent.iter().map(idle).collect(), profile })
}

fn idle(cpu: &CpuSample) -> f64 {
    let idle = cpu.idle_ms + cpu.iowait_ms;
    let busy = cpu.user_ms + cpu.system_ms + cpu.irq_ms + cpu.softirq_ms + cpu.steal_ms;
    match idle + busy {
        0 => 0.0,
        all => idle as f64 * 100.0 / all as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Sample;

    #[test]
    fn idleness_is_of_the_time_between_the_first_and_the_last_look() {
        let cpu = |idle_ms, user_ms| CpuSample { idle_ms, user_ms, ..CpuSample::default() };
        let look = |cpus| Sample { cpus, ..Sample::default() };
        let mut record = RunRecord::default();
        let samples =
            vec![look(vec![cpu(100, 0), cpu(5, 50)]), look(vec![cpu(175, 25), cpu(30, 125)])];
        record.timeline.samples = samples;
        assert_eq!(measure(&record), None);
        record.idle = Some(IdleProfile::default());
        let idleness = measure(&record).unwrap();
        assert_eq!(idleness.cpus, [75.0, 25.0]);
        assert_eq!(idleness.system, 50.0);
    }
}

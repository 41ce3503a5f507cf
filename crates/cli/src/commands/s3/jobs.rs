//! The jobs of `fathom s3`: putting objects before the measurement, and the measurement.

use super::access::Access;
use super::arguments::{Arguments, Work};

/// Makes the options of the jobs.
pub struct Jobs<'a> {
    /// The command line.
    pub arguments: &'a Arguments,
    /// Endpoints and credentials.
    pub access: &'a Access,
    /// "/bucket/prefix".
    pub base: String,
    /// How many ranks run them, each with objects of its own.
    pub ranks: usize,
}

impl Jobs<'_> {
    /// The job that puts the objects before the measurement.
    pub fn prepare(&self) -> Vec<String> {
        let mut job = self.job("prepare", "put");
        job.push(format!("--object_count={}", self.arguments.objects()));
        // Failures may be repeated here, because nothing is measured.
        job.push("--http_retries=3".into());
        job
    }

    /// The measurement.
    pub fn measure(&self) -> Vec<String> {
        let arguments = self.arguments;
        let mut job = self.job(arguments.work.name(), arguments.work.set());
        let seconds = |time: record::Nanos| format!("{}us", time.0 / 1000);
        job.push(format!("--http_retries={}", arguments.retries));
        job.push(format!("--runtime={}", seconds(arguments.duration)));
        // A failed request is counted; the run goes on.
        job.push("--continue_on_error=all".into());
        if arguments.work.needs_objects() {
            job.push(format!("--object_count={}", arguments.objects()));
        }
        if arguments.work != Work::Delete {
            job.push("--time_based=1".into());
        }
        if let Some(ramp) = arguments.ramp {
            job.push(format!("--ramp_time={}", seconds(ramp)));
        }
        if let Some(rate) = arguments.rate {
            job.push(format!("--rate_iops={}", rate / u64::from(arguments.threads)));
        }
        match arguments.work {
            Work::Mixed => job.push(format!("--object_mix={}", arguments.mix)),
            Work::Get => {
                job.extend(arguments.range_size.map(|size| format!("--object_range={}", size.0)));
            }
            Work::List => {
                job.extend(arguments.max_keys.map(|keys| format!("--object_max_keys={keys}")))
            }
            Work::Multipart => {
                let size = arguments.part_size.map_or(5 << 20, |size| size.0);
                let parts = arguments.part_concurrent.unwrap_or(4);
                job.push(format!("--object_part_size={size}"));
                job.push(format!("--object_part_concurrent={parts}"));
            }
            Work::Put | Work::Stat | Work::Delete => {}
        }
        if arguments.live {
            job.push("--live".into());
        }
        job
    }

    fn job(&self, name: &str, set: &str) -> Vec<String> {
        let arguments = self.arguments;
        let mut job = vec![
            format!("--name={name}"),
            "--ioengine=http".into(),
            "--http_mode=s3".into(),
            format!("--filename={}{}", self.base, if self.ranks > 1 { "/$rank" } else { "" }),
            format!("--object_set={set}"),
            arguments.sizes().option(),
            format!("--iodepth={}", arguments.concurrent() / arguments.threads),
            format!("--numjobs={}", arguments.threads),
            "--group_reporting=1".into(),
            format!("--randseed={}", arguments.seed),
            format!("--http_timeout={}us", arguments.timeout.0 / 1000),
        ];
        job.extend(self.access.options());
        if arguments.unsigned_payload {
            job.push("--http_s3_payload=unsigned".into());
        }
        if arguments.virtual_host {
            job.push("--http_s3_addressing=virtual".into());
        }
        let class = arguments.storage_class.iter();
        job.extend(class.map(|class| format!("--http_s3_storage_class={class}")));
        job.extend(arguments.ca_file.iter().map(|file| format!("--http_ca_file={file}")));
        let key = arguments.sse_c_key.iter();
        job.extend(key.map(|key| format!("--http_s3_sse_customer_key={key}")));
        job
    }
}

//! The jobs that a call is: what is put before the measurement, and the measurement.

use super::access::Access;
use super::arguments::{Arguments, Work};

/// What all jobs of a call have in options.
pub struct Jobs<'a> {
    /// What was asked for.
    pub arguments: &'a Arguments,
    /// Where, and who asks.
    pub access: &'a Access,
    /// "/bucket/prefix".
    pub base: String,
}

impl Jobs<'_> {
    /// Puts the objects that have to be there.
    pub fn prepare(&self) -> Vec<String> {
        let mut job = self.job("prepare", "put");
        job.push(format!("--object_count={}", self.arguments.objects()));
        // A short answer here is repeated: nothing of it is measured.
        job.push("--http_retries=3".into());
        job
    }

    /// The measurement.
    pub fn measure(&self) -> Vec<String> {
        let given = self.arguments;
        let mut job = self.job(given.work.name(), given.work.set());
        let seconds = |time: record::Nanos| format!("{}us", time.0 / 1000);
        job.push(format!("--http_retries={}", given.retries));
        job.push(format!("--runtime={}", seconds(given.duration)));
        // Failures are those of single requests: they are counted, and the others go on.
        job.push("--continue_on_error=all".into());
        if given.work.needs_objects() {
            job.push(format!("--object_count={}", given.objects()));
        }
        if given.work != Work::Delete {
            job.push("--time_based=1".into());
        }
        if let Some(ramp) = given.ramp {
            job.push(format!("--ramp_time={}", seconds(ramp)));
        }
        if let Some(rate) = given.rate {
            job.push(format!("--rate_iops={}", rate / u64::from(given.threads)));
        }
        match given.work {
            Work::Mixed => job.push(format!("--object_mix={}", given.mix)),
            Work::Get => {
                job.extend(given.range_size.map(|size| format!("--object_range={}", size.0)));
            }
            Work::List => {
                job.extend(given.max_keys.map(|keys| format!("--object_max_keys={keys}")))
            }
            Work::Multipart => {
                let size = given.part_size.map_or(5 << 20, |size| size.0);
                let parts = given.part_concurrent.unwrap_or(4);
                job.push(format!("--object_part_size={size}"));
                job.push(format!("--object_part_concurrent={parts}"));
            }
            Work::Put | Work::Stat | Work::Delete => {}
        }
        if given.live {
            job.push("--live".into());
        }
        job
    }

    fn job(&self, name: &str, set: &str) -> Vec<String> {
        let given = self.arguments;
        let mut job = vec![
            format!("--name={name}"),
            "--ioengine=http".into(),
            "--http_mode=s3".into(),
            format!("--filename={}", self.base),
            format!("--object_set={set}"),
            given.sizes().option(),
            format!("--iodepth={}", given.concurrent() / given.threads),
            format!("--numjobs={}", given.threads),
            "--group_reporting=1".into(),
            format!("--randseed={}", given.seed),
            format!("--http_timeout={}us", given.timeout.0 / 1000),
        ];
        job.extend(self.access.options());
        if given.unsigned_payload {
            job.push("--http_s3_payload=unsigned".into());
        }
        if given.virtual_host {
            job.push("--http_s3_addressing=virtual".into());
        }
        let class = given.storage_class.iter();
        job.extend(class.map(|class| format!("--http_s3_storage_class={class}")));
        job.extend(given.ca_file.iter().map(|file| format!("--http_ca_file={file}")));
        let key = given.sse_c_key.iter();
        job.extend(key.map(|key| format!("--http_s3_sse_customer_key={key}")));
        job
    }
}

//! The files of a worker: names, regions, and what must be done to them before the run.

use crate::blocks::Blocks;
use crate::model::{File, Prepare};
use crate::names::file_names;
use crate::nbd;
use crate::net;
use crate::order::Slot;
use crate::policy::Policy;
use crate::problem::{Diagnostics, Errno};
use crate::random::{between, hash};
use crate::safety;
use crate::sizes::{Ask, Extent, NoRegion, Region, human, percent_of};
use crate::store;
use crate::verify;
use crate::zones;
use job::{Engine, FileType, Job, Medium, Size, ZoneMode};
use record::remedy::{choose, drop, lower};
use record::{Facts, NameUse, Remedy, SplitMix64, TargetFacts, TargetKind};
use std::collections::HashMap;

/// A job with what was resolved for all its clones.
pub(crate) struct JobContext<'a> {
    pub job: &'a Job,
    pub index: u32,
    pub slot: &'a Slot,
    pub blocks: &'a Blocks,
    /// Seed of everything the job draws.
    pub seed: u64,
}

/// A file as the workers so far leave it before the run.
#[derive(Clone, Copy, Default)]
struct Laid {
    size: u64,
    /// Job and phase that only write it, and how far they extend it.
    written: Option<(u32, u32, u64)>,
}

/// Resolves files worker by worker, in their order: a file that an earlier one makes is there for
/// the later ones (as with the oracle, which sets up in that order too).
pub(crate) struct Files<'a> {
    pub facts: &'a Facts,
    policy: &'a Policy,
    laid: HashMap<String, Laid>,
}

impl<'a> Files<'a> {
    pub fn new(facts: &'a Facts, policy: &'a Policy) -> Self {
        Files { facts, policy, laid: HashMap::new() }
    }

    /// The files of one clone, and how many bytes of them were asked for. Those too small for a
    /// block get no I/O and are left out; it is a problem when none is left.
    pub fn of_worker(
        &mut self,
        cx: &JobContext<'_>,
        clone: u64,
        diagnostics: &mut Diagnostics,
    ) -> (Vec<File>, u64) {
        if cx.job.queue.engine.medium() == Medium::Time {
            return (Vec::new(), 0);
        }
        let names = match net::socket(cx.job, clone) {
            Some(socket) => vec![socket.label()],
            None => match nbd::export(cx.job) {
                Some(uri) => vec![uri.to_owned()],
                None => file_names(cx.job, clone),
            },
        };
        let count = names.len() as u64;
        let (mut too_small, mut asked) = (None, 0u64);
        let mut files = Vec::with_capacity(names.len());
        for path in names {
            match self.file(cx, clone, count, &path, diagnostics) {
                Some((file, bytes)) if file.length < cx.blocks.min => {
                    asked = bytes.saturating_add(asked);
                    too_small.get_or_insert((path, file.length));
                }
                Some((file, bytes)) => {
                    files.push(file);
                    asked = bytes.saturating_add(asked);
                }
                None => {}
            }
        }
        if let Some((path, length)) = too_small {
            let min = human(cx.blocks.min);
            let is_known_problem = matches!(cx.job.target.size, Some(Size::Bytes(size))
                if (1..cx.blocks.min).contains(&size.0));
            if files.is_empty() && !is_known_problem {
                let what = format!("{} of {path} hold no block of {min}", human(length));
                let cure = "give a larger size, fewer files or a smaller block";
                diagnostics.ending(Errno::Invalid).refuse(cx.job, "size", what, cure);
            } else if !files.is_empty() {
                let text = format!("no I/O goes to {path}: it holds no block of {min}");
                diagnostics.warn(cx.job, text);
            }
        }
        match (cx.job.target.size, cx.job.target.filesize) {
            (Some(Size::Bytes(size)), Some(_)) if size.0 > 0 => (files, asked.min(size.0)),
            _ => (files, asked),
        }
    }

    /// The file and how many bytes of it were asked for; `None` when it cannot be used.
    fn file(
        &mut self,
        cx: &JobContext<'_>,
        clone: u64,
        count: u64,
        path: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<(File, u64)> {
        let medium = cx.job.queue.engine.medium();
        let (kind, extent) = match medium {
            _ if cx.job.queue.engine == Engine::Nbd => {
                (TargetKind::Other, nbd::extent(cx.job, path, self.facts, diagnostics)?)
            }
            Medium::Memory | Medium::Socket | Medium::Objects => {
                (TargetKind::Missing, Extent::Endless)
            }
            Medium::Store => (TargetKind::Missing, store::extent(cx.job, path, self.facts)),
            _ => self.target(cx.job, path, diagnostics)?,
        };
        let mut region = self.region(cx, clone, count, path, extent, diagnostics)?;
        if let Some(names) = cx.job.queue.engine.name_use() {
            return Some(self.named(cx, names, path, region, diagnostics));
        }
        // Oracle: strides go to the end of the target; size only says how much is moved.
        if zones::strides(cx.job).is_some() {
            region.length = region.length.max(region.whole.saturating_sub(region.start));
        }
        let prepare = match extent {
            Extent::File(size) if region.length >= cx.blocks.min && medium != Medium::Store => {
                self.prepare(cx, path, size, region, diagnostics)
            }
            _ => Prepare::Nothing,
        };
        safety::check_direct(cx.job, path, region.start, cx.blocks, self.facts, diagnostics);
        let Region { start, length, whole, asked, .. } = region;
        Some((File { path: path.into(), kind, start, length, whole, prepare }, asked))
    }

    /// A file of which only the name counts: it gets one I/O a pass.
    fn named(
        &mut self,
        cx: &JobContext<'_>,
        names: NameUse,
        path: &str,
        region: Region,
        diagnostics: &mut Diagnostics,
    ) -> (File, u64) {
        let (job, NameUse { directories, must_exist, .. }) = (cx.job, names);
        // Files that may not be created are taken as they are: only their names count.
        let size = if directories || !job.layout.allow_create { 0 } else { region.file_size };
        let laid = self.laid.get(path).map(|l| l.size);
        let missing = self.facts.targets[path].kind == TargetKind::Missing && laid.is_none();
        let real = self.facts.targets[path].size.0.max(laid.unwrap_or(0));
        if missing && !must_exist {
            safety::check_create(job, path, self.facts, diagnostics);
        } else if must_exist {
            self.check_growth(job, path, missing, real, size, diagnostics);
            let laid = self.laid.entry(path.into()).or_default();
            laid.size = laid.size.max(size);
        }
        let prepare = match (must_exist && job.layout.allow_create, directories) {
            (false, _) => Prepare::Nothing,
            (true, true) => Prepare::Directory,
            (true, false) => Prepare::Extend { size },
        };
        let kind = if directories { TargetKind::Directory } else { TargetKind::File };
        let length = cx.blocks.min.min(region.length);
        let whole = region.file_size;
        (File { path: path.into(), kind, start: 0, length, whole, prepare }, length)
    }

    /// What is there, or will be: `None` when the worker cannot use it.
    pub fn target(
        &self,
        job: &Job,
        path: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<(TargetKind, Extent)> {
        let Some(target) = self.facts.targets.get(path) else {
            let what = format!("nothing is known of {path}");
            diagnostics.refuse(
                job,
                safety::named_by(job),
                what,
                "name a target that can be looked at",
            );
            return None;
        };
        if !safety::check_target(job, path, target, self.facts, self.policy, diagnostics) {
            return None;
        }
        check_type(job, path, target.kind, diagnostics)?;
        let laid = self.laid.get(path).map_or(0, |l| l.size);
        Some(match target.kind {
            TargetKind::Block => (TargetKind::Block, Extent::Device(target.size.0)),
            TargetKind::File | TargetKind::Missing => {
                (TargetKind::File, Extent::File(target.size.0.max(laid)))
            }
            TargetKind::Char if target.size.0 > 0 => {
                (TargetKind::Char, Extent::Device(target.size.0))
            }
            TargetKind::Directory => (TargetKind::Directory, Extent::File(0)),
            kind => (kind, Extent::Endless),
        })
    }

    fn region(
        &self,
        cx: &JobContext<'_>,
        clone: u64,
        files: u64,
        path: &str,
        extent: Extent,
        diagnostics: &mut Diagnostics,
    ) -> Option<Region> {
        let (job, min_block) = (cx.job, cx.blocks.min);
        let filesize = draw_filesize(cx, path, extent);
        // In zones no block reaches over the size asked for.
        let zoned = job.zones.mode == ZoneMode::Zbd;
        let stride = cx.blocks.fixed.filter(|_| !job.pattern.rw.is_random() && !zoned);
        let free = crate::machine::filesystem(self.facts, path).map_or(0, |fs| fs.free.0);
        let ask = Ask { job, min_block, stride, clone, files, filesize, free, extent };
        match ask.region() {
            Ok(region) => {
                remark(job, path, extent, region, diagnostics);
                Some(region)
            }
            Err(NoRegion::NoSize) if matches!(extent, Extent::Device(_)) => {
                let cure = "attach something to it or name another one";
                let what = format!("{path} is a device of 0 bytes");
                diagnostics.ending(Errno::Invalid).refuse(job, safety::named_by(job), what, cure);
                None
            }
            Err(NoRegion::NoSize) if files > 1 && self.is_empty(path) => Some(Region::default()),
            Err(NoRegion::NoSize) => {
                let what = match job.target.size {
                    Some(Size::Percent(p)) => format!("{p} per cent of {path}, which has no size"),
                    _ => format!("no size is given and {path} has none of its own"),
                };
                let cure = choose(["size"]).or(choose(["filesize"])).ending("in bytes");
                diagnostics.ending(Errno::Invalid).usage(job, "size", what, cure);
                None
            }
            Err(NoRegion::OffsetBeyondEnd { start, size }) => {
                let what = format!("it begins at byte {start} of {path}, which ends at {size}");
                let cure =
                    lower(["offset", "offset_increment"]).or(choose(["size"]).ending("in bytes"));
                diagnostics.ending(Errno::Invalid).refuse(job, "offset", what, cure);
                None
            }
            Err(NoRegion::TooLarge) => {
                let what = format!("{path} would reach beyond 2^63 - 1 bytes");
                diagnostics.usage(job, "size", what, lower(["size", "offset", "offset_increment"]));
                None
            }
        }
    }

    /// What has to be done to a regular file that holds `size` bytes now.
    pub fn prepare(
        &mut self,
        cx: &JobContext<'_>,
        path: &str,
        size: u64,
        region: Region,
        diagnostics: &mut Diagnostics,
    ) -> Prepare {
        let (job, rw, needed) = (cx.job, cx.job.pattern.rw, region.file_size);
        if verify::method(job).is_some() && !safety::changes(job) {
            // What an earlier run left is looked at as it is.
            return Prepare::Nothing;
        }
        let target = &self.facts.targets[path];
        let missing = target.kind == TargetKind::Missing && !self.laid.contains_key(path);
        self.check_growth(job, path, missing, size, needed, diagnostics);
        if job.layout.on_open {
            if rw.reads() && size < needed {
                let text =
                    format!("{path} is read but not laid out: create_on_open leaves it empty");
                diagnostics.warn(job, text);
            }
            return Prepare::OnOpen { size: needed };
        }
        // A mapping needs the pages it changes, so mmap's files are overwritten ones.
        let overwritten = job.layout.overwrite
            || matches!(job.queue.engine, Engine::Mmap | Engine::Libpmem | Engine::E4defrag);
        let only_written =
            rw.writes() && !rw.reads() && !overwritten || !job.queue.engine.moves_data();
        let laid = self.laid.entry(path.into()).or_default();
        let written = laid.written.filter(|w| w.2 >= needed && starts_after(cx, w.0, w.1));
        laid.size = laid.size.max(needed);
        if only_written && job.replay.is_on() {
            return Prepare::Nothing;
        }
        if only_written {
            let reach = laid.written.map_or(0, |w| w.2).max(needed);
            laid.written = Some((cx.index, cx.slot.phase, reach));
            return Prepare::Extend { size: needed };
        }
        // What an earlier job writes is not laid out before it: that would turn its writes into
        // overwrites. The oracle only looks at the size, which that job's own layout provides.
        if written.is_some() {
            return Prepare::Nothing;
        }
        let filled = Prepare::Fill { size: needed };
        match self.policy.readonly || self.fixed(path) {
            true => leave_as_it_is(job, path, target, diagnostics),
            false => filled,
        }
    }

    /// Whether the file may be made or grown, if it must.
    fn check_growth(
        &self,
        job: &Job,
        path: &str,
        missing: bool,
        size: u64,
        needed: u64,
        diagnostics: &mut Diagnostics,
    ) {
        let (what, grows) = match missing {
            true => (format!("{path} is not there"), true),
            false => {
                (format!("{path} has {}, {} are needed", human(size), human(needed)), size < needed)
            }
        };
        if !grows {
            return;
        }
        if self.policy.readonly && !safety::changes(job) {
            diagnostics.refuse(
                job,
                safety::named_by(job),
                what,
                "--readonly is given: name a file that is there",
            );
        } else if !job.layout.allow_create {
            let cure = Remedy::from("make the file first")
                .or(lower(["size"]))
                .or(drop(["allow_file_create"]));
            let errno = if missing { Errno::NotThere } else { Errno::Invalid };
            diagnostics.ending(errno).refuse(job, "allow_file_create", what, cure);
        } else if missing {
            safety::check_create(job, path, self.facts, diagnostics);
        } else if self.fixed(path) && !safety::changes(job) {
            let cure = lower(["size"]).ending("because the file may not be written");
            diagnostics.ending(Errno::Access).refuse(job, safety::named_by(job), what, cure);
        }
    }

    /// Whether an empty file is there. Oracle: among others it is left out.
    fn is_empty(&self, path: &str) -> bool {
        let target = self.facts.targets.get(path);
        target.is_some_and(|t| t.kind == TargetKind::File && t.size.0 == 0)
    }

    /// Whether a file is there that may not be written.
    fn fixed(&self, path: &str) -> bool {
        let target = &self.facts.targets[path];
        target.kind == TargetKind::File && !target.writable
    }

    /// Warns of filesystems that cannot hold what is to be laid out on them.
    pub fn check_space(&self, diagnostics: &mut Diagnostics) {
        let wanted = self.laid.iter().map(|(path, laid)| (path.as_str(), laid.size));
        for short in crate::machine::shortages(self.facts, wanted) {
            diagnostics.add_message(record::Message::warning(
                None,
                format!(
                    "the files need {} more on {}, which has {} left",
                    human(short.needed),
                    short.mount_point,
                    human(short.free)
                ),
            ));
        }
    }
}

/// Whether a target is of the type that `filetype` takes for granted; a missing file will be one.
fn check_type(
    job: &Job,
    path: &str,
    kind: TargetKind,
    diagnostics: &mut Diagnostics,
) -> Option<()> {
    let (fits, wanted) = match job.target.file_type {
        FileType::Any => return Some(()),
        FileType::File => (matches!(kind, TargetKind::File | TargetKind::Missing), "file"),
        FileType::Block => (kind == TargetKind::Block, "block"),
        FileType::Char => (kind == TargetKind::Char, "char"),
    };
    if fits {
        return Some(());
    }
    let what = format!("{path} is not of type {wanted}");
    diagnostics.refuse(job, "filetype", what, "leave filetype out or name other targets");
    None
}

/// Size drawn from `filesize`, the same for everyone who shares the file. Oracle: whole blocks.
fn draw_filesize(cx: &JobContext<'_>, path: &str, extent: Extent) -> Option<u64> {
    let range = cx.job.target.filesize?;
    let real = match extent {
        Extent::File(size) | Extent::Device(size) => size,
        Extent::Endless => 0,
    };
    let bytes = |s: Size| match s {
        Size::Bytes(b) => b.0,
        Size::Percent(p) => percent_of(real, p),
        Size::Zones(_) => 0,
    };
    let (a, b) = (bytes(range.low), bytes(range.high));
    let (low, high) = (a.min(b), a.max(b));
    if low == high {
        return Some(low).filter(|s| *s > 0);
    }
    let drawn = between(SplitMix64::nth(cx.seed, hash(path)), low, high);
    let whole = drawn - drawn % cx.blocks.min.max(1);
    Some(whole.max(low)).filter(|s| *s > 0)
}

/// Whether the job starts after every worker of the given job and phase has ended.
fn starts_after(cx: &JobContext<'_>, job: u32, phase: u32) -> bool {
    cx.slot.phase > phase || cx.slot.after_jobs.contains(&job)
}

fn leave_as_it_is(
    job: &Job,
    path: &str,
    target: &TargetFacts,
    diagnostics: &mut Diagnostics,
) -> Prepare {
    if let Some(extents) = target.extents.as_ref().filter(|e| e.holes.0 + e.unwritten.0 > 0) {
        let holes = human(extents.holes.0 + extents.unwritten.0);
        diagnostics.warn(
            job,
            format!(
                "{holes} of {path} were never written and may not be now: \
                 reading them does not reach the device"
            ),
        );
    }
    Prepare::Nothing
}

fn remark(job: &Job, path: &str, extent: Extent, region: Region, diagnostics: &mut Diagnostics) {
    if region.beyond > 0 {
        let text = format!(
            "{path} ends {} before what size asks for: the region is cut to {}",
            human(region.beyond),
            human(region.length)
        );
        diagnostics.warn(job, text);
    }
    let percent = |s: Option<Size>| matches!(s, Some(Size::Percent(p)) if p > 0.0);
    if extent == Extent::File(0) && percent(job.target.offset) && !job.target.file_append {
        let text = format!("offset is a percentage of {path}, which is empty yet: it begins at 0");
        diagnostics.warn(job, text);
    }
}

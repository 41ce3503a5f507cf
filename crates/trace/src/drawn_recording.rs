//! The recording of a model file: the files and sizes of one kind of its threads.

use crate::adjust::Adjust;
use crate::drawn::{Drawing, Drawn, DrawnFiles, DrawnStep, DrawnThreads};
use crate::error::TraceError;
use crate::event::Name;
use crate::recording::{FileUse, Held, Locate, Recording};
use record::{Direction, PerDirection};
use std::sync::Arc;

impl Drawing {
    /// The recording of the threads with this name, or of the first.
    ///
    /// # Errors
    /// When there are none of this name, or a file is not there.
    pub fn recording(
        &self,
        name: Option<&str>,
        adjust: Adjust,
        locate: &Locate<'_>,
    ) -> Result<Recording, TraceError> {
        let wanted = |threads: &&DrawnThreads| name.is_none_or(|name| name == threads.name);
        let threads = self.threads.iter().find(wanted).ok_or_else(|| {
            let names: Vec<&str> = self.threads.iter().map(|threads| &*threads.name).collect();
            TraceError::Whole(format!(
                "the model has no threads '{}'; it has {}",
                name.unwrap_or_default(),
                names.join(", ")
            ))
        })?;
        let mut recording = Recording::default();
        (recording.adjust, recording.ios) = (adjust, 1);
        let mut drawn = Drawn { threads: threads.clone(), files: Vec::new() };
        for (index, file) in self.files.iter().enumerate() {
            let steps: Vec<&DrawnStep> =
                threads.steps.iter().filter(|step| step.file == index).collect();
            let first = recording.files.len() as u32;
            if steps.is_empty() {
                drawn.files.push((first, 0, 0));
                continue;
            }
            let longest = steps.iter().map(|step| step.longest()).max().unwrap_or(0);
            let (count, bytes, filled) = file.adjusted(adjust, longest);
            drawn.files.push((first, count, bytes));
            for number in 0..count {
                let path = if file.count > 1 {
                    format!("{}.{number}", file.name)
                } else {
                    file.name.clone()
                };
                let path = locate(&Name::Path(path)).map_err(TraceError::Whole)?;
                let again = recording.files.iter().any(|one| one.path == path);
                recording.files.push(FileUse { path, again, ..used(&steps, bytes, filled) });
            }
        }
        for step in &threads.steps {
            let Some(direction) = step.operation.direction() else { continue };
            let sizes = step.sizes.iter().map(|(size, _)| *size);
            let (low, high) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
            let (least, most) = recording.sizes[direction].unwrap_or((low, high));
            recording.sizes[direction] = Some((least.min(low), most.max(high)));
        }
        recording.duration = (threads.to.saturating_sub(threads.from)).saturating_mul(1_000_000);
        recording.peak_depth = threads.depth;
        recording.held = Held::Drawn(Arc::new(drawn));
        Ok(recording)
    }
}

impl DrawnFiles {
    /// How many files there are, the bytes of each, and the bytes of each that are filled. None is smaller than
    /// `longest`.
    fn adjusted(&self, adjust: Adjust, longest: u64) -> (u32, u64, u64) {
        let (count, all) = match adjust.redirected {
            true => (1, self.bytes.saturating_mul(u64::from(self.count))),
            false => (self.count, self.bytes),
        };
        let bytes = (all / adjust.scale.max(1)).max(longest).max(1);
        // Of one file in the place of several, each part would be filled in part.
        let filled = match self.filled >= self.bytes {
            true => bytes,
            false => (self.filled / adjust.scale.max(1)).min(bytes),
        };
        (count, bytes, filled)
    }
}

fn used(steps: &[&DrawnStep], bytes: u64, filled: u64) -> FileUse {
    let mut ios = PerDirection::default();
    for step in steps {
        step.operation.direction().into_iter().for_each(|direction| ios[direction] += 1);
    }
    let moving = steps.iter().filter(|step| step.operation.direction().is_some());
    let grain = moving
        .flat_map(|step| step.sizes.iter().map(|(size, _)| *size).chain([step.align]))
        .fold(0, |bits, size| bits | size);
    FileUse {
        ios,
        syncs: steps.iter().filter(|step| step.operation.direction().is_none()).count() as u64,
        end: bytes,
        read_end: if ios[Direction::Read] > 0 { bytes } else { filled },
        grain: 1 << grain.trailing_zeros().min(62),
        ..FileUse::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::tests::drawing;

    #[test]
    fn positions_scale_with_the_target() {
        let path = |name: &Name| match name {
            Name::Path(path) => Ok(path.clone()),
            Name::Device { .. } => Err(String::new()),
        };
        let adjust = Adjust { scale: 4, ..Adjust::default() };
        let recording = drawing().recording(Some("db"), adjust, &path).unwrap();
        assert_eq!(recording.files.len(), 3);
        assert_eq!((&*recording.files[2].path, recording.files[2].end), ("data.2", 1 << 18));
        let mut written = drawing();
        written.threads[0].steps[0].operation = crate::drawn::DrawnOperation::Write;
        let recording = written.recording(None, adjust, &path).unwrap();
        assert_eq!(recording.files[0].read_end, 1024, "a part that was there is laid out");
        assert!(drawing().recording(Some("x"), adjust, &path).is_err());
    }
}

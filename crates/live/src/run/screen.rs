//! What is on the terminal while a run goes on, and what keys do to it.

use super::{Head, Moment, Trail};
use crate::cursor::Cursor;
use crate::{Do, Key, Screen, Stack, Title};
use record::Severity;
use std::collections::VecDeque;

/// Lines that were said meanwhile and are shown.
const SAID_MAX: usize = 20;

/// What is on the terminal while a run goes on.
#[derive(Clone, Debug, Default)]
pub struct RunScreen {
    pub(super) head: Head,
    pub(super) moment: Option<Moment>,
    pub(super) trail: Trail,
    /// The table of devices.
    pub(super) disks: Screen,
    /// The job whose curves are shown, and the first of the rows shown.
    pub(super) cursor: Cursor,
    pub(super) help: bool,
    /// Another process runs it: a key ends the watching alone.
    pub(super) is_anothers: bool,
    pub(super) said: VecDeque<(Severity, String)>,
}

impl RunScreen {
    /// Of a run, before its first moment.
    pub fn new(head: Head) -> RunScreen {
        let mut disks = Screen::new(Title::default());
        disks.set_stack(Stack { rows: head.devices.clone() });
        // Keys select jobs, not devices.
        disks.cursor.selected = usize::MAX;
        RunScreen { head, disks, ..RunScreen::default() }
    }

    /// Of a run of another process, before its first moment.
    pub fn of_another(head: Head) -> RunScreen {
        RunScreen { is_anothers: true, ..RunScreen::new(head) }
    }

    /// What the run does now.
    pub fn take(&mut self, moment: Moment) {
        self.trail.push(&moment);
        self.cursor.selected = self.cursor.selected.min(moment.jobs.len().saturating_sub(1));
        self.moment = Some(moment);
    }

    /// Something was said meanwhile: shown until other things are said.
    pub fn say(&mut self, severity: Severity, text: &str) {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        self.said.extend(lines.map(|line| (severity, line.to_owned())));
        let excess = self.said.len().saturating_sub(SAID_MAX);
        self.said.drain(..excess);
    }

    /// A key was pressed.
    pub fn press(&mut self, key: Key) -> Do {
        let last = self.moment.as_ref().map_or(0, |moment| moment.jobs.len().saturating_sub(1));
        match key {
            Key::Char('q') | Key::Control('c') => return Do::Quit,
            Key::Control('z') => return Do::Suspend,
            Key::Control('l') => return Do::Redraw,
            Key::Char('?' | 'h') => self.help = !self.help,
            Key::Escape if self.is_anothers && !self.help => return Do::Quit,
            // A run of one's own is too dear to be ended by mistake.
            Key::Escape => self.help = false,
            key if self.cursor.press(key, last) => {}
            _ => return Do::Nothing,
        }
        Do::Draw
    }
}

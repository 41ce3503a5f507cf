//! The state of the live view of a run, and its keys.

use super::{Moment, RunHistory, RunInfo};
use crate::cursor::Cursor;
use crate::{Action, Key, Screen, Stack, Title};
use record::Severity;
use std::collections::VecDeque;

/// Most messages that are shown.
const MESSAGES_MAX: usize = 20;

/// The state of the live view of a run.
#[derive(Clone, Debug, Default)]
pub struct RunScreen {
    pub(super) info: RunInfo,
    pub(super) moment: Option<Moment>,
    pub(super) history: RunHistory,
    /// The table of devices.
    pub(super) disks: Screen,
    /// The selected job, whose curves are shown, and the first visible row.
    pub(super) cursor: Cursor,
    pub(super) help: bool,
    /// Another process runs it: quitting leaves the run alone.
    pub(super) is_other_process: bool,
    pub(super) messages: VecDeque<(Severity, String)>,
}

impl RunScreen {
    /// The view of a run before its first moment.
    pub fn new(info: RunInfo) -> RunScreen {
        let mut disks = Screen::new(Title::default());
        disks.set_stack(Stack { rows: info.devices.clone() });
        // Keys select jobs, not devices.
        disks.cursor.selected = usize::MAX;
        RunScreen { info, disks, ..RunScreen::default() }
    }

    /// The view of another process's run before its first moment.
    pub fn of_other_process(info: RunInfo) -> RunScreen {
        RunScreen { is_other_process: true, ..RunScreen::new(info) }
    }

    /// Shows a moment.
    pub fn set_moment(&mut self, moment: Moment) {
        self.history.push(&moment);
        self.cursor.selected = self.cursor.selected.min(moment.jobs.len().saturating_sub(1));
        self.moment = Some(moment);
    }

    /// Adds a message, which is shown until newer ones replace it.
    pub fn add_message(&mut self, severity: Severity, text: &str) {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        self.messages.extend(lines.map(|line| (severity, line.to_owned())));
        let excess = self.messages.len().saturating_sub(MESSAGES_MAX);
        self.messages.drain(..excess);
    }

    /// Handles a key.
    pub fn press(&mut self, key: Key) -> Action {
        let last = self.moment.as_ref().map_or(0, |moment| moment.jobs.len().saturating_sub(1));
        match key {
            Key::Char('q') | Key::Control('c') => return Action::Quit,
            Key::Control('z') => return Action::Suspend,
            Key::Control('l') => return Action::Redraw,
            Key::Char('?' | 'h') => self.help = !self.help,
            Key::Escape if self.is_other_process && !self.help => return Action::Quit,
            // Escape is too easy to press by mistake to end the user's own run.
            Key::Escape => self.help = false,
            key if self.cursor.press(key, last) => {}
            _ => return Action::Nothing,
        }
        Action::Draw
    }
}

//! Parses dd's operands into a [`DdCommand`].

use super::number::{Number, number};
use super::{DdCommand, EachSync, EndSync, Input, Output, Status, TOOL};
use crate::Usage;

/// The default of dd.
const BLOCK_DEFAULT: u64 = 512;
/// The kernel moves no more than 2 GiB in one call.
const BLOCK_MAX: u64 = 1 << 30;

/// Operands as typed.
#[derive(Default)]
struct Typed {
    input: Option<String>,
    output: Option<String>,
    bs: Option<u64>,
    ibs: Option<u64>,
    obs: Option<u64>,
    count: Option<Number>,
    skip: Option<Number>,
    seek: Option<Number>,
    iflag: Vec<String>,
    oflag: Vec<String>,
    conv: Vec<String>,
    status: Status,
    allow_destroy: Vec<String>,
    record: Option<String>,
}

impl DdCommand {
    /// Reads dd's operands and fathom's own options, without the program's name.
    ///
    /// # Errors
    /// The first wrong operand, what was expected, and what to do.
    pub fn parse(arguments: &[String]) -> Result<DdCommand, Usage> {
        let mut typed = Typed::default();
        let mut left = arguments.iter();
        while let Some(argument) = left.next() {
            match argument.strip_prefix("--") {
                Some("") => {}
                Some(option) => {
                    let (name, value) = match option.split_once('=') {
                        Some((name, value)) => (name, Some(value.to_owned())),
                        None => (option, left.next().cloned()),
                    };
                    typed.option(name, value)?;
                }
                None => typed.operand(argument)?,
            }
        }
        typed.understood()
    }
}

fn wrong(flag: &str, what: impl Into<String>, cure: impl Into<String>) -> Usage {
    Usage::line(TOOL, flag, what, cure)
}

impl Typed {
    /// Parses an option of fathom.
    fn option(&mut self, name: &str, value: Option<String>) -> Result<(), Usage> {
        let flag = format!("--{name}");
        let known = ["allow-destroy", "record"].contains(&name);
        match (name, value.filter(|value| !value.is_empty())) {
            ("allow-destroy", Some(device)) => self.allow_destroy.push(device),
            ("record", Some(file)) => self.record = Some(file),
            _ if known => return Err(wrong(&flag, "needs a name", format!("say {flag}=NAME"))),
            _ => {
                let what = "there is no such option";
                return Err(wrong(&flag, what, "fathom dd --help lists what there is"));
            }
        }
        Ok(())
    }

    fn operand(&mut self, argument: &str) -> Result<(), Usage> {
        let Some((name, value)) = argument.split_once('=') else {
            let what = "is no operand";
            return Err(wrong(argument, what, "dd's operands are NAME=VALUE, such as bs=1M"));
        };
        let list = || value.split(',').map(str::to_owned);
        match name {
            "if" => self.input = Some(value.to_owned()),
            "of" => self.output = Some(value.to_owned()),
            "bs" => self.bs = Some(block(argument, value)?),
            "ibs" => self.ibs = Some(block(argument, value)?),
            "obs" => self.obs = Some(block(argument, value)?),
            "count" => self.count = Some(amount(argument, value)?),
            "skip" | "iseek" => self.skip = Some(amount(argument, value)?),
            "seek" | "oseek" => self.seek = Some(amount(argument, value)?),
            "iflag" => self.iflag.extend(list()),
            "oflag" => self.oflag.extend(list()),
            "conv" => self.conv.extend(list()),
            "status" => self.status = status(argument, value)?,
            "cbs" => {
                let what = "records of a fixed length are made by converting data";
                return Err(wrong(argument, what, "leave it out, or use dd itself"));
            }
            _ => {
                let what = "there is no such operand";
                return Err(wrong(argument, what, "fathom dd --help lists what there is"));
            }
        }
        Ok(())
    }

    fn understood(self) -> Result<DdCommand, Usage> {
        let (input, output) = (self.source()?, self.target()?);
        let ibs = self.bs.or(self.ibs).unwrap_or(BLOCK_DEFAULT);
        let obs = self.bs.or(self.obs).unwrap_or(BLOCK_DEFAULT);
        if matches!((&input, &output), (Input::Path(_), Output::Path(_))) && ibs != obs {
            return Err(wrong(
                "ibs= obs=",
                "here each write of a copy carries what one read brought, and blocks of two sizes \
                 would have to be gathered or split in between",
                "give one size for both with bs=",
            ));
        }
        let has = |list: &[String], name: &str| list.iter().any(|given| given == name);
        let in_bytes = |number: Option<Number>, block: u64, bytes: bool, flag: &str| match number {
            Some(number) if number.is_bytes || bytes => Ok(Some(number.value)),
            Some(number) => match number.value.checked_mul(block) {
                Some(bytes) => Ok(Some(bytes)),
                None => Err(wrong(flag, "is more than 2^64 bytes", "lower it")),
            },
            None => Ok(None),
        };
        let limit = in_bytes(self.count, ibs, has(&self.iflag, "count_bytes"), "count=")?;
        let skip = in_bytes(self.skip, ibs, has(&self.iflag, "skip_bytes"), "skip=")?;
        let seek = in_bytes(self.seek, obs, has(&self.oflag, "seek_bytes"), "seek=")?;
        let mut call = DdCommand {
            input,
            output,
            ibs,
            obs,
            limit,
            skip: skip.unwrap_or(0),
            seek: seek.unwrap_or(0),
            status: self.status,
            allow_destroy: self.allow_destroy,
            record: self.record,
            ..DdCommand::default()
        };
        self.iflag.iter().try_for_each(|flag| call.input_flag(flag))?;
        self.oflag.iter().try_for_each(|flag| call.output_flag(flag))?;
        self.conv.iter().try_for_each(|name| call.conversion(name))?;
        call.check()?;
        Ok(call)
    }

    fn source(&self) -> Result<Input, Usage> {
        match self.input.as_deref() {
            Some("/dev/zero") => Ok(Input::Zero),
            Some("/dev/urandom" | "/dev/random") => Ok(Input::Random),
            Some("") | None => Err(wrong(
                "if=",
                "is missing, and fathom dd does not read standard input",
                "name a file or device, or /dev/zero or /dev/urandom",
            )),
            Some("/dev/null") => {
                let cure = "name a file or device, or /dev/zero";
                Err(wrong("if=/dev/null", "it is empty: nothing would be copied", cure))
            }
            Some(path) => Ok(Input::Path(path.to_owned())),
        }
    }

    fn target(&self) -> Result<Output, Usage> {
        match self.output.as_deref() {
            Some("/dev/null") => Ok(Output::Null),
            Some("") | None => Err(wrong(
                "of=",
                "is missing, and standard output takes the report",
                "name a file or device, or of=/dev/null to measure the reading alone",
            )),
            Some(path) => Ok(Output::Path(path.to_owned())),
        }
    }
}

impl DdCommand {
    fn input_flag(&mut self, flag: &str) -> Result<(), Usage> {
        let operand = format!("iflag={flag}");
        match flag {
            "direct" => self.direct_in = true,
            "nocache" => {
                self.forget_in = true;
                let text = "what is cached of the input is dropped before the first read too";
                self.add_note(&operand, text);
            }
            "fullblock" | "count_bytes" | "skip_bytes" => {}
            "dsync" | "sync" | "append" | "seek_bytes" => {
                self.add_note(&operand, "has no effect on reads")
            }
            "noatime" | "noctty" | "nonblock" | "binary" => {
                self.add_note(&operand, "makes no difference to what is measured");
            }
            other => return Err(unknown_flag(&operand, other)),
        }
        Ok(())
    }

    fn output_flag(&mut self, flag: &str) -> Result<(), Usage> {
        let operand = format!("oflag={flag}");
        match flag {
            "direct" => self.direct_out = true,
            "dsync" if self.sync == EachSync::No => self.sync = EachSync::Dsync,
            "dsync" => {}
            "sync" => self.sync = EachSync::Sync,
            "append" => self.append = true,
            "nocache" => self.forget_out = true,
            "seek_bytes" => {}
            "count_bytes" | "skip_bytes" => self.add_note(&operand, "has no effect on writes"),
            "noatime" | "noctty" | "nonblock" | "binary" => {
                self.add_note(&operand, "makes no difference to what is measured");
            }
            other => return Err(unknown_flag(&operand, other)),
        }
        Ok(())
    }

    fn conversion(&mut self, name: &str) -> Result<(), Usage> {
        let operand = format!("conv={name}");
        let refused = |what: &str, cure: &str| Err(wrong(&operand, what, cure));
        match name {
            "fsync" => self.end = Some(EndSync::Fsync),
            "fdatasync" if self.end.is_none() => self.end = Some(EndSync::Fdatasync),
            "fdatasync" => {}
            "notrunc" => self.notrunc = true,
            "excl" => self.excl = true,
            "nocreat" => self.nocreat = true,
            "sparse" => match self.input {
                Input::Random => {
                    self.add_note(&operand, "has no effect: no random block is all zero")
                }
                Input::Zero => {
                    return refused(
                        "it leaves out blocks of zeros, and /dev/zero has no others: nothing \
                         would be written",
                        "leave it out, or read from /dev/urandom",
                    );
                }
                Input::Path(_) => {
                    return refused(
                        "it leaves out what is zero, so that the figure counts bytes nobody wrote",
                        "leave it out; to copy and keep holes, use cp --sparse=always",
                    );
                }
            },
            "noerror" | "sync" => {
                return refused(
                    "it goes on after read errors with made-up data",
                    "leave it out; to save a failing disk, use ddrescue",
                );
            }
            "ascii" | "ebcdic" | "ibm" | "block" | "unblock" | "lcase" | "ucase" | "swab" => {
                return refused("it converts data, which measures no storage", "use dd itself");
            }
            _ => {
                let cure = "there are fsync, fdatasync, notrunc, excl and nocreat";
                return refused("there is no such conversion", cure);
            }
        }
        Ok(())
    }

    /// Refuses contradictions, and notes operands without effect.
    fn check(&mut self) -> Result<(), Usage> {
        if self.excl && self.nocreat {
            let what = "one wants the output to be new, the other to be there";
            return Err(wrong("conv=excl,nocreat", what, "leave out one of them"));
        }
        if self.output == Output::Null {
            let end = match self.end.take() {
                Some(EndSync::Fsync) => Some("conv=fsync"),
                Some(EndSync::Fdatasync) => Some("conv=fdatasync"),
                None => None,
            };
            if let Some(end) = end {
                self.fails = true;
                let text = "/dev/null cannot be synchronised: it has no effect, and the exit code is \
                            1, as dd's";
                self.add_note(end, text);
            }
            if self.direct_out || self.sync != EachSync::No {
                self.add_note("oflag=", "has no effect on /dev/null");
            }
        }
        if self.skip > 0 && !matches!(self.input, Input::Path(_)) {
            self.skip = 0;
            self.add_note("skip=", "has no effect on a source that has no end");
        }
        if self.append && !self.notrunc {
            let text = "the output is cut first, as by dd; add conv=notrunc to keep what is there";
            self.add_note("oflag=append", text);
        }
        Ok(())
    }

    fn add_note(&mut self, flag: &str, text: &str) {
        self.notes.push(format!("{flag}: {text}"));
    }
}

fn unknown_flag(operand: &str, flag: &str) -> Usage {
    match flag {
        "directory" | "nofollow" | "nolinks" | "text" | "cio" => {
            wrong(operand, "it says how a name is opened, not what is measured", "leave it out")
        }
        "fullblock" => wrong(operand, "only reads can be made full", "say iflag=fullblock"),
        _ => wrong(operand, "there is no such flag", "fathom dd --help lists what there is"),
    }
}

fn block(operand: &str, value: &str) -> Result<u64, Usage> {
    match amount(operand, value)?.value {
        0 => Err(wrong(operand, "a block has at least one byte", "give a size such as 1M")),
        bytes if bytes > BLOCK_MAX => {
            Err(wrong(operand, "is more than is moved at a time", "give at most 1G"))
        }
        bytes => Ok(bytes),
    }
}

fn amount(operand: &str, value: &str) -> Result<Number, Usage> {
    number(value).ok_or_else(|| {
        let what = "is no number that dd takes, or too large";
        wrong(operand, what, "give digits and perhaps a suffix, such as 512, 32K, 1M or 10MB")
    })
}

fn status(operand: &str, value: &str) -> Result<Status, Usage> {
    match value {
        "none" => Ok(Status::None),
        "noxfer" => Ok(Status::Noxfer),
        "progress" => Ok(Status::Progress),
        _ => Err(wrong(operand, "there is no such level", "give none, noxfer or progress")),
    }
}

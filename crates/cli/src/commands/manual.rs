//! `fathom man` and `fathom completions`, made from the list of commands and the options table.

use crate::output::Output;
use anyhow::{Context, Result};
use clap::{Arg, Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use job::docs::{EXITS, GROUPS, JOB_FILES, VALUES};
use job::options;
use job::program_options::{OPTIONS, Takes};
use runner::Refusal;
use std::path::{Path, PathBuf};

/// What `fathom man` takes.
#[derive(Args)]
pub struct ManArguments {
    /// The command; otherwise the page of the whole program.
    command: Option<String>,
    /// Write the pages of all commands into this directory.
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "command")]
    into: Option<PathBuf>,
}

/// What `fathom completions` takes.
#[derive(Args)]
pub struct CompletionArguments {
    /// The shell.
    shell: Shell,
}

/// Prints a man page in roff, or writes all pages.
///
/// # Errors
/// An unknown command; a file that cannot be written.
pub fn man(arguments: &ManArguments, program: Command) -> Result<u8> {
    let program = documented(program);
    if let Some(directory) = &arguments.into {
        return write_pages(&program, directory).map(|()| 0);
    }
    let page = match &arguments.command {
        None => page(&program, "fathom"),
        Some(name) => {
            let command = program.find_subcommand(name).ok_or_else(|| {
                Refusal::usage(format!("there is no command '{name}'; fathom --help lists them"))
            })?;
            page(command, &format!("fathom-{name}"))
        }
    }?;
    Output::Stdout.write(&page).map(|()| 0)
}

/// Prints the completions for a shell.
pub fn completions(arguments: &CompletionArguments, program: Command) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut documented(program), "fathom", &mut script);
    let script = with_names(arguments.shell, &String::from_utf8_lossy(&script));
    Output::Stdout.write(&script).map(|()| 0)
}

/// The script with what completes names that only the program knows, see `fathom names`.
fn with_names(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => script.to_owned() + include_str!("manual/fathom.bash"),
        Shell::Fish => script.to_owned() + include_str!("manual/fathom.fish"),
        // zsh calls the function that is named as the file.
        Shell::Zsh => {
            let renamed = script.replacen("\n_fathom() {", "\n_fathom_of_options() {", 1);
            let end = "if [ \"$funcstack[1]\" = \"_fathom\" ]";
            renamed.replacen(end, &format!("{}{end}", include_str!("manual/fathom.zsh")), 1)
        }
        _ => script.to_owned(),
    }
}

fn write_pages(program: &Command, directory: &Path) -> Result<()> {
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let pages = commands.map(|command| (command, format!("fathom-{}", command.get_name())));
    for (command, name) in std::iter::once((program, "fathom".to_owned())).chain(pages) {
        let path = directory.join(format!("{name}.1"));
        std::fs::write(&path, page(command, &name)?)
            .with_context(|| format!("cannot write '{}'", path.display()))?;
    }
    Ok(())
}

/// The commands of the program, `run` and `fio` with the options of the table in place of free words.
fn documented(mut program: Command) -> Command {
    for name in ["run", "fio"] {
        program = program.mut_subcommand(name, |command| {
            let about = command.get_about().cloned().unwrap_or_default();
            Command::new(name).about(about).disable_help_flag(true).args(table_arguments())
        });
    }
    program.build();
    program
}

fn table_arguments() -> Vec<Arg> {
    let of_program = OPTIONS.iter().map(|option| {
        let argument = Arg::new(option.name).long(option.name).help(option.doc);
        let argument = match option.short {
            Some(short) => argument.short(short),
            None => argument,
        };
        match option.takes {
            Takes::Nothing => argument.num_args(0),
            Takes::Value => argument.value_name(option.hint),
            Takes::Maybe => argument.value_name(option.hint).num_args(0..=1).require_equals(true),
        }
    });
    let of_jobs = GROUPS.iter().flat_map(|(group, title)| {
        options::all().filter(move |def| def.group == *group).map(move |def| (def, *title))
    });
    let mut arguments: Vec<Arg> = of_program.collect();
    for (def, title) in of_jobs {
        // Engines may share the name of an option.
        if arguments.iter().any(|known| known.get_id() == def.name) {
            continue;
        }
        let argument = Arg::new(def.name).long(def.name).help(def.doc).help_heading(title);
        let values = def.values.iter().filter(|choice| choice.works).map(|choice| choice.name);
        let argument = argument.value_name(job::help::placeholder(def.kind));
        arguments.push(match def.kind {
            options::Kind::Choice => argument.value_parser(values.collect::<Vec<_>>()),
            _ => argument,
        });
    }
    arguments.push(Arg::new("job file").num_args(0..).help("Job files; '-' is standard input"));
    arguments
}

/// A man page: the sections that clap knows; for `run` and `fio` also job files, values, and every job
/// option in full.
fn page(command: &Command, name: &str) -> Result<String> {
    let has_jobs = matches!(command.get_name(), "run" | "fio");
    let mut text = Vec::new();
    let man = Man::new(command.clone()).title(name.to_uppercase()).manual("fathom").section("1");
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    if has_jobs {
        job_sections(name).to_writer(&mut text)?;
    } else {
        man.render_synopsis_section(&mut text)?;
        man.render_description_section(&mut text)?;
        man.render_options_section(&mut text)?;
        if command.has_subcommands() {
            man.render_subcommands_section(&mut text)?;
        }
        if command.get_after_help().is_some() {
            man.render_extra_section(&mut text)?;
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn job_sections(name: &str) -> Roff {
    let mut roff = Roff::new();
    // A default without spaces is wider than a line can be spread to.
    roff.control("ad", ["l"]);
    let synopsis = format!("{} [OPTIONS] [JOB OPTIONS] [JOB FILE]...", name.replace('-', " "));
    roff.control("SH", ["SYNOPSIS"]).text([roman(synopsis)]);
    roff.control("SH", ["OPTIONS"]);
    for option in OPTIONS {
        roff.control("TP", []).text([bold(option.spelling())]).text([roman(option.doc)]);
    }
    roff.control("SH", ["JOB FILES"]);
    for paragraph in JOB_FILES {
        roff.control("PP", []).text([roman(*paragraph)]);
    }
    roff.control("SH", ["VALUES"]);
    for (kind, form) in VALUES {
        roff.control("TP", []).text([bold(*kind)]).text([roman(*form)]);
    }
    roff.control("SH", ["JOB OPTIONS"]);
    for (group, title) in GROUPS {
        roff.control("SS", [*title]);
        options::all().filter(|def| def.group == *group).for_each(|def| job_option(&mut roff, def));
    }
    roff.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in EXITS {
        roff.control("TP", []).text([bold(*code)]).text([roman(*meaning)]);
    }
    roff
}

fn job_option(roff: &mut Roff, def: &options::OptionDef) {
    let names = def.names().collect::<Vec<_>>().join(", ");
    roff.control("TP", []).text([bold(names)]).text([roman(def.doc)]);
    for (label, value) in job::docs::fields(def) {
        roff.control("br", []).text([roman(format!("{label}: {value}"))]);
    }
    for choice in def.values {
        let about = roman(format!(": {}", choice.meaning()));
        roff.control("br", []).text([bold(choice.name), about]);
    }
    for paragraph in def.long.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        roff.control("IP", []).text([roman(paragraph)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::program;
    use std::io::Write;
    use std::process::Stdio;

    #[test]
    fn the_commands_are_consistent() {
        documented(program()).debug_assert();
    }

    #[test]
    fn the_page_of_the_program_names_every_command() {
        let program = documented(program());
        let whole = page(&program, "fathom").unwrap();
        for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name().replace('-', "\\-");
            assert!(whole.contains(&format!("fathom\\-{name}(1)")), "{name}");
        }
    }

    #[test]
    fn the_page_of_run_has_every_option_by_its_names() {
        let program = documented(program());
        let run = page(program.find_subcommand("run").unwrap(), "fathom-run").unwrap();
        let entries: Vec<&str> =
            run.split(".TP\n").skip(1).filter_map(|entry| entry.lines().next()).collect();
        let of_program = OPTIONS.iter().map(|option| option.spelling());
        let of_jobs = options::all().map(|def| def.names().collect::<Vec<_>>().join(", "));
        for spelling in of_program.chain(of_jobs) {
            let entry = Roff::new().text([bold(&*spelling)]).render();
            let entry = entry.lines().last().unwrap();
            assert!(entries.contains(&entry), "{spelling}");
        }
    }

    #[test]
    fn every_page_renders_without_a_warning() {
        let program = documented(program());
        let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
        for command in std::iter::once(&program).chain(commands) {
            let page = page(command, &format!("fathom-{}", command.get_name())).unwrap();
            let mut groff = std::process::Command::new("groff")
                .args(["-man", "-Tutf8", "-Kutf8", "-ww", "-z"])
                .stdin(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("groff, which cargo xtask test installs");
            groff.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
            let done = groff.wait_with_output().unwrap();
            let warnings = String::from_utf8_lossy(&done.stderr);
            assert!(
                done.status.success() && warnings.is_empty(),
                "{}: {warnings}",
                command.get_name()
            );
        }
    }

    #[test]
    fn every_command_shows_examples_that_parse() {
        let program = program();
        for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
            let Some(help) = command.get_before_help().map(ToString::to_string) else { continue };
            let examples: Vec<&str> =
                help.lines().filter(|line| line.contains("fathom ")).collect();
            assert!(!examples.is_empty(), "{}", command.get_name());
            for example in examples {
                let words = without_comment(example).split(' ').map(|word| word.trim_matches('\''));
                let parsed = crate::commands::program().try_get_matches_from(words);
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
        }
    }

    fn without_comment(line: &str) -> &str {
        line.split(" #").next().unwrap_or(line).trim()
    }
}

//! `--client`: which server gets which part of a command line.

use crate::invocation::{Client, Inputs, Invocation};

/// Hosts a file may name; more are a wrong file more likely than a wish.
const HOSTS_MAX: usize = 10_000;

/// The clients of an invocation, complete: hosts of a file one by one, each with what stood before
/// the first `--client`.
///
/// # Errors
/// What is wrong with a file of hosts.
pub(crate) fn complete(
    invocation: &mut Invocation,
    before: &[String],
    inputs: &dyn Inputs,
) -> Result<(), String> {
    let files = std::mem::take(&mut invocation.job_files);
    let mut clients = Vec::new();
    for client in std::mem::take(&mut invocation.clients) {
        let client = Client {
            arguments: [before, &client.arguments].concat(),
            job_files: [&files[..], &client.job_files].concat(),
            ..client
        };
        match hosts(&client.address, inputs)? {
            None => clients.push(client),
            Some(hosts) => clients
                .extend(hosts.into_iter().map(|address| Client { address, ..client.clone() })),
        }
    }
    invocation.clients = clients;
    Ok(())
}

/// The hosts a file names, one a line; `None` when there is no such file, so that it is an address.
fn hosts(name: &str, inputs: &dyn Inputs) -> Result<Option<Vec<String>>, String> {
    if name.starts_with("sock:") {
        return Ok(None);
    }
    let Ok(bytes) = inputs.read(name) else { return Ok(None) };
    let wrong = |why: &str| format!("--client={name}: as a file of hosts, one a line, {why}");
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not text"))?;
    let lines = text.lines().map(str::trim);
    let hosts: Vec<String> =
        lines.filter(|l| !l.is_empty() && !l.starts_with('#')).map(Into::into).collect();
    match hosts.len() {
        0 => Err(wrong("it is empty")),
        1..=HOSTS_MAX => Ok(Some(hosts)),
        _ => Err(wrong("it has more than 10000")),
    }
}

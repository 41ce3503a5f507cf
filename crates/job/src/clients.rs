//! `--client`: the options and job files for each server.

use crate::invocation::{Client, Inputs, Invocation};

/// Most hosts in a file. A file with more is probably the wrong file.
const HOSTS_MAX: usize = 10_000;

/// Completes the clients of an invocation: adds the options before the first `--client` to each,
/// and replaces a file of hosts by its hosts.
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

/// The hosts in a file, one per line; `None` if there is no such file, because the name is then an
/// address.
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

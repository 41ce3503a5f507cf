//! What a table of figures must say about the machine they come from; nothing that names it.

use std::fs;

/// One fact a line, in Markdown.
pub fn facts() -> Vec<String> {
    let mut facts = Vec::new();
    if let Ok(text) = fs::read_to_string("/proc/cpuinfo") {
        let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let model = model.map_or("unknown model", |(_, model)| model);
        let count = text.lines().filter(|line| line.starts_with("processor")).count();
        facts.push(format!("CPU: {count} × {model}"));
    }
    let uname = rustix::system::uname();
    facts.push(format!(
        "Kernel: {} {} {}",
        uname.sysname().to_string_lossy(),
        uname.release().to_string_lossy(),
        uname.machine().to_string_lossy()
    ));
    if let Ok(text) = fs::read_to_string("/proc/meminfo") {
        let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        facts.extend(total.map(|total| format!("Memory: {}", total.trim())));
    }
    if let Ok(text) = fs::read_to_string("/proc/loadavg") {
        let load = text.split_whitespace().next().unwrap_or("unknown").to_string();
        facts.push(format!("Load average over the minute before the first run: {load}"));
    }
    facts
}

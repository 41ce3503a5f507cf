//! Names of the code that CPUs executed: libraries and functions of processes, and the kernel's.

use crate::Host;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use record::CodeUse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The first address of the kernel's half, on the machines of 64 bits that Linux runs on.
const KERNEL: u64 = 1 << 63;
/// The name of the kernel among libraries.
const KERNEL_NAME: &str = "kernel";
/// Functions of a process that are named; the others of a library are one entry.
const FUNCTIONS_MAX: usize = 40;

/// Samples by process and address.
pub type CodeSamples = HashMap<(u32, u64), u64>;

impl Host {
    /// The code that these processes executed, by process, the most frequent first. A function is
    /// `None` where the file has no symbol for it, and for the rarest.
    pub fn code_of(&self, pids: &BTreeSet<u32>, samples: &CodeSamples) -> Vec<CodeUse> {
        let kernel = self.kernel_symbols();
        let mut files = HashMap::new();
        pids.iter()
            .flat_map(|pid| self.code_of_process(*pid, samples, &kernel, &mut files))
            .collect()
    }

    fn code_of_process(
        &self,
        pid: u32,
        samples: &CodeSamples,
        kernel: &Symbols,
        files: &mut HashMap<String, Symbols>,
    ) -> Vec<CodeUse> {
        let maps = maps(&self.text(format!("/proc/{pid}/maps")).unwrap_or_default());
        let process = self.text(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned();
        let mut counts: BTreeMap<(String, Option<String>), u64> = BTreeMap::new();
        for ((_, address), samples) in samples.iter().filter(|((owner, _), _)| *owner == pid) {
            let code = if *address >= KERNEL {
                (KERNEL_NAME.to_owned(), kernel.name(*address))
            } else {
                match maps.iter().find(|map| map.start <= *address && *address < map.end) {
                    Some(map) => {
                        let file = files
                            .entry(map.path.clone())
                            .or_insert_with(|| self.file_symbols(pid, &map.path));
                        let name = file.name_at_offset(address - map.start + map.offset);
                        (map.name().to_owned(), name)
                    }
                    None => ("unknown memory".to_owned(), None),
                }
            };
            *counts.entry(code).or_default() += samples;
        }
        let mut code: Vec<CodeUse> = counts
            .into_iter()
            .map(|((library, function), samples)| CodeUse {
                pid,
                process: process.clone(),
                library,
                function,
                samples,
            })
            .collect();
        code.sort_by_key(|code| std::cmp::Reverse(code.samples));
        without_rare(code)
    }

    fn file_symbols(&self, pid: u32, path: &str) -> Symbols {
        // The file may be in a container's own tree.
        let seen = [format!("/proc/{pid}/root{path}"), path.to_owned()];
        let read = |path: &String| std::fs::read(self.real(path)).ok();
        seen.iter()
            .find_map(read)
            .and_then(|content| Symbols::of_file(&content))
            .unwrap_or_default()
    }

    /// Empty if the kernel does not show its addresses to this user.
    fn kernel_symbols(&self) -> Symbols {
        let text = self.text("/proc/kallsyms").unwrap_or_default();
        let symbol = |line: &str| {
            let mut words = line.split_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            let is_code = words.next()?.eq_ignore_ascii_case("t");
            (is_code && address > 0).then_some((address, words.next()?.to_owned()))
        };
        Symbols::sorted(text.lines().filter_map(symbol).collect(), Vec::new())
    }
}

/// Keeps the names of the most frequent functions, and makes one entry of the others of a library.
fn without_rare(code: Vec<CodeUse>) -> Vec<CodeUse> {
    let mut kept: Vec<CodeUse> = Vec::new();
    for (place, mut one) in code.into_iter().enumerate() {
        if place >= FUNCTIONS_MAX {
            one.function = None;
        }
        let same = |known: &&mut CodeUse| {
            (&known.library, &known.function) == (&one.library, &one.function)
        };
        match kept.iter_mut().find(same) {
            Some(known) => known.samples += one.samples,
            None => kept.push(one),
        }
    }
    kept
}

/// A mapped file of a process, or memory with a name like "[vdso]".
struct Map {
    start: u64,
    end: u64,
    offset: u64,
    path: String,
}

impl Map {
    fn name(&self) -> &str {
        match self.path.rsplit('/').next() {
            Some("") | None => "memory without a file",
            Some(name) => name,
        }
    }
}

/// The executable mappings in /proc/PID/maps: "start-end r-xp offset device inode  path".
fn maps(text: &str) -> Vec<Map> {
    let map = |line: &str| {
        let mut words = line.split_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let executable = words.next()?.contains('x');
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let offset = number(words.next()?)?;
        let path = words.skip(2).collect::<Vec<_>>().join(" ");
        let path = path.trim_end_matches(" (deleted)").to_owned();
        executable.then_some(Map { start: number(start)?, end: number(end)?, offset, path })
    };
    text.lines().filter_map(map).collect()
}

/// Functions by address.
#[derive(Default)]
struct Symbols {
    /// First addresses, sorted.
    functions: Vec<(u64, String)>,
    /// Loaded parts of a file: offset in the file, length, address.
    segments: Vec<(u64, u64, u64)>,
}

impl Symbols {
    fn sorted(mut functions: Vec<(u64, String)>, segments: Vec<(u64, u64, u64)>) -> Symbols {
        functions.sort();
        Symbols { functions, segments }
    }

    /// `None` if it is no object file.
    fn of_file(content: &[u8]) -> Option<Symbols> {
        let file = object::File::parse(content).ok()?;
        let symbols = file.symbols().chain(file.dynamic_symbols());
        let functions = symbols
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
            .filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?.to_owned())))
            .collect();
        let segments = file.segments().map(|segment| {
            let (offset, length) = segment.file_range();
            (offset, length, segment.address())
        });
        Some(Symbols::sorted(functions, segments.collect()))
    }

    /// The function at an address.
    fn name(&self, address: u64) -> Option<String> {
        let place = self.functions.partition_point(|(first, _)| *first <= address);
        let (_, name) = self.functions.get(place.checked_sub(1)?)?;
        Some(format!("{:#}", rustc_demangle::demangle(name)))
    }

    /// The function at a place in the file.
    fn name_at_offset(&self, at: u64) -> Option<String> {
        let holds = |(offset, length, _): &&(u64, u64, u64)| at.wrapping_sub(*offset) < *length;
        let (offset, _, address) = self.segments.iter().find(holds)?;
        self.name(at - offset + address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testbed::put;

    #[test]
    fn code_is_named_by_process_library_and_function() {
        let root = tempfile::tempdir().unwrap();
        let own = std::fs::read("/proc/self/exe").unwrap();
        let symbols = Symbols::of_file(&own).unwrap();
        // Of a function of this program, its place in the file.
        let (address, name) =
            symbols.functions.iter().find(|(_, name)| name.contains("code_of_process")).unwrap();
        let inside = |(_, length, first): &&(u64, u64, u64)| address.wrapping_sub(*first) < *length;
        let (offset, _, first) = symbols.segments.iter().find(inside).unwrap();
        let place = address - first + offset;
        put(root.path(), "usr/bin/server", &own);
        put(root.path(), "proc/7/comm", "server\n");
        let maps = "400000-40000000 r-xp 00000000 08:01 9  /usr/bin/server\n\
             50000000-50001000 rw-p 00000000 00:00 0\n\
             7ff0000-7ff1000 r-xp 00000000 00:00 0  [vdso]\n";
        put(root.path(), "proc/7/maps", maps);
        put(
            root.path(),
            "proc/kallsyms",
            "ffffffff81000000 T start\nffffffff81000100 t copy_page [core]\n",
        );
        let samples = CodeSamples::from([
            ((7, 0x400000 + place), 5),
            ((7, 0x400001 + place), 1),
            ((7, 0xffff_ffff_8100_0120), 4),
            ((7, 0x5000_0010), 2),
            ((8, 0x400000), 100),
        ]);
        let code = Host::at(root.path()).code_of(&BTreeSet::from([7]), &samples);
        let of = |library: &str| code.iter().find(|code| code.library == library).unwrap();
        let expected = format!("{:#}", rustc_demangle::demangle(name));
        assert_eq!(of("server").function.as_deref(), Some(&*expected));
        assert_eq!((of("server").samples, &*of("server").process), (6, "server"));
        assert_eq!(of("kernel").function.as_deref(), Some("copy_page"));
        assert_eq!(of("unknown memory").samples, 2);
        assert_eq!(code.iter().map(|code| code.samples).sum::<u64>(), 12);
    }

    #[test]
    fn rare_functions_are_one_entry_of_their_library() {
        let code = |place: usize| CodeUse {
            library: "lib".into(),
            function: Some(place.to_string()),
            samples: 1,
            ..CodeUse::default()
        };
        let kept = without_rare((0..FUNCTIONS_MAX + 5).map(code).collect());
        assert_eq!(kept.len(), FUNCTIONS_MAX + 1);
        assert_eq!((kept[FUNCTIONS_MAX].samples, &kept[FUNCTIONS_MAX].function), (5, &None));
    }
}

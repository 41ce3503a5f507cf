//! NVMe commands of `io_uring_cmd`, as typed.

use super::named::named;

/// Options of NVMe commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NvmeOptions {
    /// `write_mode`.
    pub write_mode: NvmeWriteMode,
    /// `verify_mode`.
    pub verify_mode: NvmeVerifyMode,
    /// `zone_append`: writes are Zone Append commands.
    pub zone_append: bool,
    /// `md_per_io_size`: bytes of separate metadata of an I/O.
    pub metadata_bytes: u64,
    /// `pi_act`: the device makes and checks protection information.
    pub pi_act: bool,
    /// `pi_chk`.
    pub checks: ProtectionChecks,
    /// `apptag`.
    pub tag: u16,
    /// `apptag_mask`.
    pub tag_mask: u16,
    /// `deac`: blocks written as zeroes are deallocated.
    pub deallocates: bool,
    /// `num_range`: ranges of a trim command.
    pub ranges: u64,
    /// Placement of writes.
    pub placement: PlacementUse,
}

impl Default for NvmeOptions {
    fn default() -> Self {
        NvmeOptions {
            write_mode: NvmeWriteMode::Write,
            verify_mode: NvmeVerifyMode::Read,
            zone_append: false,
            metadata_bytes: 0,
            pi_act: true,
            checks: ProtectionChecks::default(),
            tag: 0x1234,
            tag_mask: 0xffff,
            deallocates: false,
            ranges: 1,
            placement: PlacementUse::default(),
        }
    }
}

/// `write_mode`: the command that a write becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NvmeWriteMode {
    /// Write.
    #[default]
    Write,
    /// Write Uncorrectable.
    Uncor,
    /// Write Zeroes.
    Zeroes,
    /// Verify.
    Verify,
}

/// `verify_mode`: the command that a verifying read becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NvmeVerifyMode {
    /// Read.
    #[default]
    Read,
    /// Compare.
    Compare,
}

/// `pi_chk`: which protection information is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtectionChecks {
    /// GUARD.
    pub guard: bool,
    /// APPTAG.
    pub tag: bool,
    /// REFTAG.
    pub reference: bool,
}

impl ProtectionChecks {
    /// Reads a list of names.
    pub fn parse(text: &str) -> Result<ProtectionChecks, String> {
        let mut checks = ProtectionChecks::default();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name.to_ascii_uppercase().as_str() {
                "GUARD" => checks.guard = true,
                "APPTAG" => checks.tag = true,
                "REFTAG" => checks.reference = true,
                _ => return Err(format!("'{name}' is none of GUARD, REFTAG, APPTAG")),
            }
        }
        Ok(checks)
    }

    /// Whether anything is checked.
    pub const fn any(self) -> bool {
        self.guard || self.tag || self.reference
    }
}

/// Where the device puts what is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementUse {
    /// `dataplacement`.
    pub kind: DataPlacement,
    /// `plid_select`.
    pub select: PlacementSelect,
    /// `plids`: indexes of reclaim unit handles, or streams; empty for all handles.
    pub identifiers: Vec<u32>,
    /// `dp_scheme`: file of offsets.
    pub scheme: Option<String>,
}

/// `dataplacement`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataPlacement {
    /// No directive.
    #[default]
    None,
    /// Flexible data placement.
    Fdp,
    /// Streams.
    Streams,
}

/// `plid_select`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlacementSelect {
    /// In turn.
    #[default]
    RoundRobin,
    /// Drawn evenly.
    Random,
    /// By offset.
    Scheme,
}

named!(NvmeWriteMode: Write "write", Uncor "uncor", Zeroes "zeroes", Verify "verify");
named!(NvmeVerifyMode: Read "read", Compare "compare");
named!(DataPlacement: None "none", Fdp "fdp", Streams "streams");
named!(PlacementSelect: RoundRobin "roundrobin", Random "random", Scheme "scheme");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_a_list_of_names() {
        let all = ProtectionChecks { guard: true, tag: true, reference: true };
        assert_eq!(ProtectionChecks::parse("GUARD,REFTAG, apptag"), Ok(all));
        assert!(!ProtectionChecks::parse("").unwrap().any());
        assert!(ProtectionChecks::parse("GUARD,CRC").is_err());
    }
}

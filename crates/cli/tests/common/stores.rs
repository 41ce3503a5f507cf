//! Servers of files and disks on loopback, which end with their values.

use super::{free_port, is_served, wait_until};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A server program, killed at the end.
struct Server(Child);

impl Server {
    fn start(command: &mut Command) -> Server {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Server(quiet.spawn().unwrap_or_else(|why| panic!("{command:?}: {why}")))
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// NFS-Ganesha with one export, in a network of its own: a server of version 3 registers at port
/// 111, which may belong to this machine.
pub struct NfsServer {
    server: Server,
    directory: TempDir,
}

/// What runs in the server's network and mounts; it becomes the server. Filesystems that other tests have
/// mounted would stay mounted for as long as it runs.
const NFS_START: &str = "
awk '$2 ~ \"/fathom-\" { print $2 }' /proc/mounts | xargs --no-run-if-empty umount -l -q || true
mount -t tmpfs tmpfs /run
mkdir -p /run/rpcbind
ip link set lo up
rpcbind -i
for i in 1 2 3 4 5 6 7 8 9 10; do [ -S /run/rpcbind.sock ] && break; sleep 0.2; done
sleep 0.3
exec ganesha.nfsd -F -L log -f ganesha.conf -p pid -N WARN
";

impl NfsServer {
    pub fn start() -> NfsServer {
        let directory = super::scratch();
        let at = directory.path();
        for name in ["data", "recovery"] {
            std::fs::create_dir(at.join(name)).unwrap();
        }
        let at_text = at.display();
        let text = format!(
            "NFS_CORE_PARAM {{ NFS_Port=2049; MNT_Port=2050; NFS_Protocols=3,4; Enable_NLM=false; \
             Enable_RQUOTA=false; Enable_UDP=false; }}\n\
             NFSV4 {{ Graceless=true; RecoveryRoot={at_text}/recovery; Minor_Versions=0; \
             Allow_Numeric_Owners=true; Only_Numeric_Owners=true; }}\n\
             NFS_KRB5 {{ Active_krb5=false; }}\n\
             EXPORT {{ Export_Id=1; Path={at_text}/data; Pseudo=/data; Access_Type=RW; \
             Squash=No_Root_Squash; Protocols=3,4; SecType=sys,none; Transports=TCP; \
             FSAL {{ Name=VFS; }} }}\n"
        );
        std::fs::write(at.join("ganesha.conf"), text).unwrap();
        let shell = ["--net", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", NFS_START];
        let server = Server::start(Command::new("unshare").args(shell).current_dir(at));
        let served = NfsServer { server, directory };
        wait_until("the NFS server listens", || {
            let listening = served.inside("ss").args(["-Hltn", "sport = 2049"]).output().unwrap();
            !listening.stdout.is_empty()
        });
        served
    }

    /// A program in the server's network.
    pub fn inside(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args([&format!("--net=/proc/{}/ns/net", self.server.0.id()), program]);
        command
    }

    /// What `nfs_url` takes for version 3 or 4 of the protocol.
    pub fn url(&self, version: u32) -> String {
        match version {
            3 => format!("nfs://127.0.0.1{}?version=3", self.data().display()),
            _ => "nfs://127.0.0.1/data?version=4".to_owned(),
        }
    }

    /// Where the server has its files.
    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    pub fn kill(&mut self) {
        self.server.kill();
    }
}

/// A target of tgt with one disk in a file.
pub struct IscsiTarget {
    server: Server,
    directory: TempDir,
    port: u16,
}

const TARGET: &str = "iqn.2026-01.test:disk";

impl IscsiTarget {
    /// `bytes` of disk.
    pub fn start(bytes: u64) -> IscsiTarget {
        let (directory, port) = (super::scratch(), free_port());
        let file = directory.path().join("disk");
        std::fs::File::create(&file).unwrap().set_len(bytes).unwrap();
        // Its control socket has a number; ports are free ones, so the number is as well.
        let control = port.to_string();
        let portal = format!("portal=127.0.0.1:{port}");
        let server = Server::start(
            Command::new("tgtd")
                .args(["-f", "-C", &control, "--iscsi", &portal])
                .env("TGT_IPC_SOCKET", directory.path().join("ipc")),
        );
        wait_until("the iSCSI target listens", || is_served("tcp", port));
        let tell = |words: &str| {
            let words = words.split(' ');
            let mut command = Command::new("tgtadm");
            command.args(["-C", &control, "--lld", "iscsi"]).args(words);
            let told =
                command.env("TGT_IPC_SOCKET", directory.path().join("ipc")).output().unwrap();
            assert!(told.status.success(), "{command:?}: {told:?}");
        };
        tell(&format!("--op new --mode target --tid 1 -T {TARGET}"));
        tell(&format!("--op new --mode logicalunit --tid 1 --lun 1 -b {}", file.display()));
        tell("--op update --mode logicalunit --tid 1 --lun 1 --params thin_provisioning=1");
        tell("--op bind --mode target --tid 1 -I ALL");
        IscsiTarget { server, directory, port }
    }

    /// What `filename` takes.
    pub fn url(&self) -> String {
        let target = TARGET.replace(':', "\\:");
        format!("iscsi\\://127.0.0.1\\:{}/{target}/1", self.port)
    }

    /// The file that holds the disk.
    pub fn disk(&self) -> PathBuf {
        self.directory.path().join("disk")
    }

    pub fn kill(&mut self) {
        self.server.kill();
    }
}

/// How much of a file is allocated, in bytes.
pub fn allocated(file: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(file).unwrap().blocks() * 512
}

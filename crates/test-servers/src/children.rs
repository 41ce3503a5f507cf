//! Servers in child processes, and nginx for WebDAV.

use crate::tls::Identity;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A program that serves a port on loopback. It is killed when the value is dropped or this process
/// is killed.
pub struct Program {
    child: Child,
    address: SocketAddr,
    directory: TempDir,
}

impl Program {
    /// Host and port in the syntax of options.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its own directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Starts the command that `command` returns for a port and a directory, and waits until the
    /// port is served. Tries another port if another process has taken it.
    #[track_caller]
    pub(crate) fn start(command: impl Fn(u16, &Path) -> Command) -> Program {
        let mut said = String::new();
        for _ in 0..5 {
            let directory = testbed::scratch();
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
            let address = listener.local_addr().expect("a socket has an address");
            drop(listener);
            let words = std::fs::File::create(directory.path().join("words")).expect("a file");
            let wanted = command(address.port(), directory.path());
            // If this process is killed, the program must end as well.
            let mut starter = testbed::command("setpriv");
            starter.args(["--pdeathsig", "KILL"]).arg(wanted.get_program());
            starter.args(wanted.get_args()).stdin(Stdio::null());
            starter.envs(wanted.get_envs().filter_map(|(name, value)| Some((name, value?))));
            starter.stdout(words.try_clone().expect("a file")).stderr(words);
            let child = starter.spawn().unwrap_or_else(|why| panic!("{starter:?}: {why}"));
            let mut program = Program { child, address, directory };
            if program.serves() {
                return program;
            }
            let words = std::fs::read_to_string(program.directory().join("words"));
            said = words.unwrap_or_default();
        }
        panic!("no server: {said}");
    }

    fn serves(&mut self) -> bool {
        let patience = Instant::now() + Duration::from_secs(60);
        while Instant::now() < patience && matches!(self.child.try_wait(), Ok(None)) {
            if TcpStream::connect(self.address).is_ok() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail if the program has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// nginx with DAV methods. Paths below "/open" need no password; paths below "/closed" need that of
/// `user`, which is `password`.
#[track_caller]
pub fn webdav(tls: Option<&Identity>) -> Program {
    Program::start(|port, directory| {
        let at = directory.display();
        for name in ["files", "files/open", "files/closed"] {
            std::fs::create_dir_all(directory.join(name)).expect("a directory");
        }
        std::fs::write(directory.join("users"), "user:{PLAIN}password\n").expect("a file");
        let (ssl, keys) = match tls.map(|identity| identity.files(directory)) {
            Some((certificate, key)) => {
                let (certificate, key) = (certificate.display(), key.display());
                (" ssl", format!("ssl_certificate {certificate}; ssl_certificate_key {key};"))
            }
            None => ("", String::new()),
        };
        let text = format!(
            "daemon off; master_process off; pid {at}/pid; error_log stderr;\n\
             events {{ worker_connections 4096; }}\n\
             http {{\n\
               access_log {at}/access; client_body_temp_path {at}/body;\n\
               proxy_temp_path {at}/p; fastcgi_temp_path {at}/f; uwsgi_temp_path {at}/u;\n\
               scgi_temp_path {at}/s; client_max_body_size 0; keepalive_requests 1000000;\n\
               server {{\n\
                 listen 127.0.0.1:{port}{ssl}; {keys}\n\
                 root {at}/files; create_full_put_path on; dav_methods PUT DELETE MKCOL;\n\
                 location /closed {{ auth_basic closed; auth_basic_user_file {at}/users; }}\n\
               }}\n\
             }}\n"
        );
        let conf = directory.join("nginx.conf");
        std::fs::write(&conf, text).expect("a file");
        let mut command = Command::new("nginx");
        command.arg("-e").arg("stderr").arg("-p").arg(directory).arg("-c").arg(conf);
        command
    })
}

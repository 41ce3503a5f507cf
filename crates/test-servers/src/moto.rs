//! moto as a second S3 server. It verifies signatures with Amazon's library for Python.

use crate::children::Program;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::Deref;
use std::process::Command;

/// A moto server on loopback with one user. It stops when the value is dropped.
pub struct Moto {
    program: Program,
    /// Id of the user's key.
    pub key_id: String,
    /// The key.
    pub key: String,
}

impl Deref for Moto {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

/// The actions of IAM that create a user with all permissions.
const USER: [&str; 3] = [
    "Action=CreateUser&UserName=u&Version=2010-05-08",
    "Action=PutUserPolicy&UserName=u&PolicyName=p&Version=2010-05-08&PolicyDocument=%7B%22Version\
     %22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C%22Action%22%3A\
     %22%2A%22%2C%22Resource%22%3A%22%2A%22%7D%5D%7D",
    "Action=CreateAccessKey&UserName=u&Version=2010-05-08",
];

impl Moto {
    /// Starts a server with empty buckets.
    ///
    /// # Panics
    /// When moto cannot be installed from PyPI.
    #[track_caller]
    pub fn start(buckets: &[&str]) -> Moto {
        let programs = testbed::moto().unwrap_or_else(|why| panic!("{why}"));
        // Number of actions before signatures are checked.
        let free = USER.len() + buckets.len();
        let program = Program::start(|port, _| {
            let mut command = Command::new(programs.join("moto_server"));
            command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
            command.env("INITIAL_NO_AUTH_ACTION_COUNT", free.to_string());
            command
        });
        let at = program.address();
        for bucket in buckets {
            ask(at, &format!("PUT /{bucket}"), "s3", "");
        }
        let mut said = String::new();
        for action in USER {
            said = ask(at, "POST /", "iam", action);
        }
        let between = |tag: &str| {
            let (_, rest) = said.split_once(&format!("<{tag}>")).expect("a key");
            rest.split('<').next().unwrap_or_default().to_owned()
        };
        let (key_id, key) = (between("AccessKeyId"), between("SecretAccessKey"));
        Moto { program, key_id, key }
    }
}

/// The answer to a request to a service. moto takes the service from the signature.
#[track_caller]
fn ask(at: SocketAddr, what: &str, service: &str, body: &str) -> String {
    let length = body.len();
    let request = format!(
        "{what} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\nContent-Length: {length}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=x/20200101/us-east-1/{service}/aws4_request, \
         SignedHeaders=host, Signature=0\r\n\r\n{body}"
    );
    let mut stream = TcpStream::connect(at).expect("a connection");
    stream.write_all(request.as_bytes()).expect("a connection");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{what}: {answer}");
    answer
}

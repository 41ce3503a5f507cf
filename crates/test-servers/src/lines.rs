//! The parts of HTTP/1.1 that the proxy needs to see and change bytes.

use crate::serving::{Asked, Line};
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A request or an answer: its head including the empty line, and its body as received.
pub(crate) struct Message {
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
    /// Whether its connection may be reused.
    pub(crate) stays: bool,
}

impl Message {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.head).into_owned()
    }

    fn header(&self, name: &str) -> Option<String> {
        self.headers().into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    fn headers(&self) -> Vec<(String, String)> {
        let text = self.text();
        let lines = text.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect()
    }

    fn word(&self, index: usize) -> String {
        self.text().split(' ').nth(index).unwrap_or_default().to_owned()
    }

    /// Of a request.
    pub(crate) fn method(&self) -> String {
        self.word(0)
    }

    /// Of a request.
    pub(crate) fn asked(&self) -> Asked {
        let (method, target) = (self.method(), self.word(1));
        Asked { method, target, headers: self.headers(), status: 0 }
    }

    /// Of an answer.
    pub(crate) fn status(&self) -> u16 {
        self.word(1).parse().unwrap_or(0)
    }

    /// The head, with a changed length of the body.
    pub(crate) fn head_of(&self, length: u64) -> Vec<u8> {
        let mut head = String::new();
        for line in self.text().lines().filter(|line| !line.is_empty()) {
            let name = line.split(':').next().unwrap_or_default().to_lowercase();
            if name != "content-length" && name != "transfer-encoding" {
                head += &format!("{line}\r\n");
            }
        }
        (head + &format!("Content-Length: {length}\r\n\r\n")).into_bytes()
    }
}

/// One side of a connection, with bytes that belong to the next message.
pub(crate) struct Reader {
    line: Box<dyn Line>,
    ahead: Vec<u8>,
}

impl Reader {
    pub(crate) fn new(line: Box<dyn Line>) -> Reader {
        Reader { line, ahead: Vec::new() }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.line.write_all(bytes).await?;
        self.line.flush().await
    }

    /// Waits until the other side has closed.
    pub(crate) async fn gone(&mut self) -> io::Result<()> {
        while self.more().await? > 0 {
            self.ahead.clear();
        }
        Ok(())
    }

    /// The next complete request; `None` at the end of the connection.
    pub(crate) async fn request(&mut self) -> io::Result<Option<Message>> {
        let Some(head) = self.head().await? else { return Ok(None) };
        let mut request = Message { head, body: Vec::new(), stays: true };
        let length = request.header("content-length").and_then(|length| length.parse().ok());
        request.body = self.exactly(length.unwrap_or(0)).await?;
        Ok(Some(request))
    }

    /// Sends a request, and receives the answer.
    pub(crate) async fn exchange(&mut self, request: &Message) -> io::Result<Message> {
        self.write(&[&request.head[..], &request.body].concat()).await?;
        let head = self.head().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut answer = Message { head, body: Vec::new(), stays: true };
        let says = |name: &str, what: &str| {
            answer.header(name).is_some_and(|value| value.to_lowercase().contains(what))
        };
        let (chunked, closes) = (says("transfer-encoding", "chunked"), says("connection", "close"));
        let length = answer.header("content-length").and_then(|length| length.parse().ok());
        let old = answer.text().starts_with("HTTP/1.0") && !says("connection", "keep-alive");
        answer.stays = !closes && !old;
        let empty = request.method() == "HEAD" || matches!(answer.status(), 204 | 304);
        answer.body = match (empty, chunked, length) {
            (true, ..) => Vec::new(),
            (_, true, _) => self.chunks().await?,
            (_, _, Some(length)) => self.exactly(length).await?,
            (_, _, None) => {
                answer.stays = false;
                while self.more().await? > 0 {}
                std::mem::take(&mut self.ahead)
            }
        };
        Ok(answer)
    }

    /// Receives everything up to and including the empty line.
    async fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(at) = self.ahead.windows(4).position(|four| four == b"\r\n\r\n") {
                let rest = self.ahead.split_off(at + 4);
                return Ok(Some(std::mem::replace(&mut self.ahead, rest)));
            }
            if self.more().await? == 0 {
                let nothing = self.ahead.is_empty();
                return if nothing { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
        }
    }

    /// Receives chunks unchanged, including the last one and the lines after it.
    async fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        loop {
            let line = self.until_line_ends().await?;
            let size = String::from_utf8_lossy(&line);
            let size = size.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
            all.extend_from_slice(&line);
            if size == 0 {
                break;
            }
            all.extend(self.exactly(size + 2).await?);
        }
        loop {
            let line = self.until_line_ends().await?;
            all.extend_from_slice(&line);
            if line == b"\r\n" {
                return Ok(all);
            }
        }
    }

    async fn until_line_ends(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some(at) = self.ahead.windows(2).position(|two| two == b"\r\n") {
                return self.exactly(at + 2).await;
            }
            if self.more().await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    async fn exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.ahead.len() < length {
            if self.more().await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let rest = self.ahead.split_off(length);
        Ok(std::mem::replace(&mut self.ahead, rest))
    }

    async fn more(&mut self) -> io::Result<usize> {
        self.ahead.reserve(64 << 10);
        self.line.read_buf(&mut self.ahead).await
    }
}

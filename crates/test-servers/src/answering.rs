//! HTTP servers that answer with a function, based on hyper.

use crate::serving::{Asked, Log, Serve, Server, anywhere, secure};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use s3s::Body;
use s3s::dto::StreamingBlob;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_stream::StreamExt;

/// The future answer to a request.
pub(crate) type Answer = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;
/// The function that answers requests.
pub(crate) type Handler = Arc<dyn Fn(Request<Vec<u8>>) -> Answer + Send + Sync>;

/// Address and encryption of a server.
#[derive(Clone, Default)]
pub struct Listening {
    /// With TLS.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// An address other than 127.0.0.1.
    pub at: Option<SocketAddr>,
}

/// An HTTP server on loopback. It stops when the value is dropped.
pub struct Http {
    server: Server,
    log: Log,
}

impl Http {
    #[track_caller]
    pub(crate) fn start(listening: Listening, handler: Handler) -> Http {
        let log = Log::default();
        let tls = listening.tls.map(TlsAcceptor::from);
        let noted = log.clone();
        let serve: Serve = Arc::new(move |stream| {
            let (tls, log, handler) = (tls.clone(), noted.clone(), Arc::clone(&handler));
            Box::pin(async move {
                // A failed handshake ends the connection.
                let Ok(line) = secure(stream, tls.as_ref()).await else { return };
                let service =
                    service_fn(move |request| answer(request, log.clone(), handler.clone()));
                // A client may close the connection at any time.
                let _ = http1::Builder::new().serve_connection(TokioIo::new(line), service).await;
            })
        });
        Http { server: Server::start(listening.at.unwrap_or_else(anywhere), serve), log }
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Host and port in the syntax of options.
    pub fn host(&self) -> String {
        self.address().to_string()
    }

    /// Closes its port and every connection.
    pub fn stop(&mut self) {
        self.server.stop();
    }

    /// Starts again on the same port, with its data.
    #[track_caller]
    pub fn start_again(&mut self) {
        self.server.start_again();
    }

    /// The answered requests, in order.
    pub fn asked(&self) -> Vec<Asked> {
        self.log.all()
    }

    /// Number of requests with a method that were answered with a status.
    pub fn count(&self, method: &str, status: u16) -> u64 {
        let asked = self.log.all();
        asked.iter().filter(|asked| asked.method == method && asked.status == status).count() as u64
    }
}

/// Receives the whole body before it answers. If a server answers earlier and closes, its answer
/// may be lost with the rest of the request.
async fn answer(
    request: Request<Incoming>,
    log: Log,
    handler: Handler,
) -> Result<Response<Body>, std::io::Error> {
    let (head, body) = request.into_parts();
    let mut content = Vec::new();
    let mut body = StreamingBlob::from(Body::from(body));
    while let Some(some) = body.next().await {
        content.extend_from_slice(&some.map_err(std::io::Error::other)?);
    }
    let text =
        |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value)));
    let mut asked = Asked {
        method: head.method.to_string(),
        target: head.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        headers: headers.collect(),
        status: 0,
    };
    let answer = handler(Request::from_parts(head, content)).await;
    asked.status = answer.status().as_u16();
    log.add(asked);
    Ok(answer)
}

/// An answer of a status with a body.
pub(crate) fn answer_with(status: u16, body: impl Into<Body>) -> Response<Body> {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = hyper::StatusCode::from_u16(status).expect("a status");
    answer
}

/// An error in S3's format.
pub(crate) fn s3_error(status: u16, code: &str, message: &str, more: &str) -> Response<Body> {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code>\
         <Message>{message}</Message>{more}<RequestId>1</RequestId></Error>"
    );
    let mut answer = answer_with(status, body);
    let xml = hyper::header::HeaderValue::from_static("application/xml");
    answer.headers_mut().insert(hyper::header::CONTENT_TYPE, xml);
    answer
}

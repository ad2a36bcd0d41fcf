//! An HTTP server of files in memory, over TLS by rustls with the cryptography of AWS-LC.
//!
//! Usage: rustls-server WORKERS BACKLOG VERSIONS ROOT COUNTER LISTENER...
//!
//! WORKERS: threads that serve. BACKLOG: of each listener. VERSIONS: of HTTP over TLS, such as
//! "1.1,2". ROOT: the folder of the files, which are read once. COUNTER: a UNIX socket, which
//! answers each connection with the number of requests so far. LISTENER: plain=ADDRESS:PORT;
//! full=ADDRESS:PORT (TLS, where no session can be resumed); or tickets=ADDRESS:PORT. The
//! certificate and its key are certificate.pem and key.pem in the current folder.

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{pem::PemObject, CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener};
use tokio_rustls::TlsAcceptor;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// What every connection shares: the files by path, and the number of requests.
struct Site {
    files: HashMap<String, Bytes>,
    requests: AtomicU64,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [workers, backlog, versions, root, counter, listeners @ ..] = &arguments[..] else {
        return Err(
            "usage: rustls-server WORKERS BACKLOG VERSIONS ROOT COUNTER LISTENER...".into(),
        );
    };
    let site = Arc::new(Site {
        files: read_files(Path::new(root))?,
        requests: AtomicU64::new(0),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers.parse()?)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(tell(UnixListener::bind(counter)?, site.clone())); // before anybody can ask
        for listener in listeners {
            let (kind, address) = listener.split_once('=').ok_or("no listener")?;
            let acceptor = match kind {
                "plain" => None,
                "full" => Some(acceptor(versions, false)?),
                "tickets" => Some(acceptor(versions, true)?),
                other => return Err(format!("no kind of listener: {other}").into()),
            };
            let opened = open(address.parse()?, backlog.parse()?)?;
            tasks.spawn(serve(opened, acceptor, site.clone()));
        }
        match tasks.join_next().await {
            Some(ended) => ended?,
            None => Ok(()),
        }
    })
}

fn read_files(root: &Path) -> Outcome<HashMap<String, Bytes>> {
    let mut files = HashMap::new();
    for entry in std::fs::read_dir(root)? {
        let entry = entry?;
        let path = format!("/{}", entry.file_name().to_string_lossy());
        files.insert(path, Bytes::from(std::fs::read(entry.path())?));
    }
    Ok(files)
}

fn open(address: SocketAddr, backlog: u32) -> Outcome<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?; // TIME_WAIT is no listener
    socket.bind(address)?;
    Ok(socket.listen(backlog)?)
}

/// rustls' own choice of protocols and ciphers; without `tickets` every handshake is a full one.
fn acceptor(versions: &str, tickets: bool) -> Outcome<TlsAcceptor> {
    let chain = CertificateDer::pem_file_iter("certificate.pem")?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file("key.pem")?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    if tickets {
        config.ticketer = aws_lc_rs::Ticketer::new()?;
    } else {
        config.send_tls13_tickets = 0;
    }
    if versions.split(',').any(|version| version == "2") {
        config.alpn_protocols.push(b"h2".to_vec());
    }
    config.alpn_protocols.push(b"http/1.1".to_vec());
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn serve(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    site: Arc<Site>,
) -> Outcome<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(converse(stream, acceptor.clone(), site.clone()));
    }
}

/// One connection; a client that goes away is no error of the server.
async fn converse(stream: TcpStream, acceptor: Option<TlsAcceptor>, site: Arc<Site>) {
    let Some(acceptor) = acceptor else {
        return answer(stream, false, site).await;
    };
    if let Ok(stream) = acceptor.accept(stream).await {
        let second = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        answer(stream, second, site).await;
    }
}

async fn answer<S>(stream: S, second: bool, site: Arc<Site>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(|request| {
        let found = respond(&site, &request);
        async move { Ok::<_, Infallible>(found) }
    });
    let stream = TokioIo::new(stream);
    let _ = if second {
        http2::Builder::new(TokioExecutor::new())
            .serve_connection(stream, service)
            .await
    } else {
        http1::Builder::new()
            .serve_connection(stream, service)
            .await
    };
}

fn respond(site: &Site, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    site.requests.fetch_add(1, Ordering::Relaxed);
    let file = site.files.get(request.uri().path());
    let (status, body) = match (request.method(), file) {
        (&Method::GET, Some(file)) => (StatusCode::OK, file.clone()),
        (&Method::GET, None) => (StatusCode::NOT_FOUND, Bytes::new()),
        _ => (StatusCode::METHOD_NOT_ALLOWED, Bytes::new()),
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response
}

/// The number of requests, to each who connects.
async fn tell(listener: UnixListener, site: Arc<Site>) -> Outcome<()> {
    loop {
        let (mut asker, _) = listener.accept().await?;
        let number = site.requests.load(Ordering::Relaxed).to_string();
        let _ = asker.write_all(number.as_bytes()).await;
    }
}

//! An HTTP server on smoltcp, a TCP stack without threads, on a packet socket of one interface.
//!
//! Usage: smoltcp-web BODY COUNTER ADDRESS:PORT INTERFACE OWN-ADDRESS/BITS GATEWAY
//!
//! BODY: bytes of each response's body. COUNTER: a UNIX socket, there once the server listens,
//! which answers each connection with the number of requests so far.

use std::error::Error;
use std::io::Write;
use std::net::SocketAddrV4;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicU64, Ordering};

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, Checksum, Device, DeviceCapabilities, Medium, RawSocket};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpAddress, IpCidr, Ipv4Address, Ipv4Cidr};

/// Sockets that wait for a connection: there is no other queue, so a SYN without one is refused.
const WAITING: usize = 128;
/// Bytes of a connection's buffers, which smoltcp leaves to the program. Both are allocated whole.
const RECEIVE: usize = 4096;
const SEND: usize = 8192;
const END: &[u8] = b"\r\n\r\n";

static REQUESTS: AtomicU64 = AtomicU64::new(0);

/// One socket of the set. `matched`: bytes of `END` seen last. `owed`: responses that were asked
/// for and are not sent as a whole. `sent`: bytes of the present one.
struct Connection {
    handle: SocketHandle,
    matched: usize,
    owed: u64,
    sent: usize,
}

/// A packet socket whose received checksums are not verified: a veth pair leaves them out.
struct Link(RawSocket);

impl Device for Link {
    type RxToken<'a> = <RawSocket as Device>::RxToken<'a>;
    type TxToken<'a> = <RawSocket as Device>::TxToken<'a>;

    fn capabilities(&self) -> DeviceCapabilities {
        let mut found = self.0.capabilities();
        found.checksum.ipv4 = Checksum::Tx;
        found.checksum.tcp = Checksum::Tx;
        found
    }

    fn receive(&mut self, now: Instant) -> Option<(Self::RxToken<'_>, Self::TxToken<'_>)> {
        self.0.receive(now)
    }

    fn transmit(&mut self, now: Instant) -> Option<Self::TxToken<'_>> {
        self.0.transmit(now)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [body, counter, service, name, own, gateway] = &arguments[..] else {
        return Err("usage: smoltcp-web BODY COUNTER SERVICE INTERFACE OWN GATEWAY".into());
    };
    let service: SocketAddrV4 = service.parse()?;
    let own: Ipv4Cidr = own.parse().map_err(|()| "no address and bits")?;
    let gateway: Ipv4Address = gateway.parse()?;
    let mac = std::fs::read_to_string(format!("/sys/class/net/{name}/address"))?;
    let mac: EthernetAddress = mac.trim().parse().map_err(|()| "no MAC address")?;
    let mut link = Link(RawSocket::new(name, Medium::Ethernet)?);
    ignore_outgoing(&link.0)?;
    let socket = link.0.as_raw_fd();
    let config = Config::new(HardwareAddress::Ethernet(mac));
    let mut interface = Interface::new(config, &mut link, Instant::now());
    let alias = IpCidr::new(IpAddress::Ipv4(*service.ip()), 32);
    interface.update_ip_addrs(|addresses| {
        addresses.extend([IpCidr::Ipv4(own), alias]); // there is room for two
    });
    interface.routes_mut().add_default_ipv4_route(gateway)?;
    let response = response(body.parse()?);
    let mut sockets = SocketSet::new(Vec::new());
    let mut connections = Vec::new();
    replenish(&mut sockets, &mut connections, service.port())?;
    let asked = UnixListener::bind(counter)?;
    std::thread::spawn(move || tell(&asked));
    loop {
        interface.poll(Instant::now(), &mut link, &mut sockets);
        if serve(&mut sockets, &mut connections, &response) {
            interface.poll(Instant::now(), &mut link, &mut sockets); // sends what was written
        }
        replenish(&mut sockets, &mut connections, service.port())?;
        phy::wait(socket, interface.poll_delay(Instant::now(), &sockets))?;
    }
}

/// What this process sends itself need not come back.
fn ignore_outgoing(link: &RawSocket) -> std::io::Result<()> {
    let on: libc::c_int = 1;
    let (level, option) = (libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING);
    let size = std::mem::size_of_val(&on) as libc::socklen_t;
    // SAFETY: the kernel reads `size` bytes of `on`, which lives until the call returns.
    let done = unsafe {
        libc::setsockopt(
            link.as_raw_fd(),
            level,
            option,
            (&raw const on).cast(),
            size,
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

fn response(length: usize) -> Vec<u8> {
    let kind = "Content-Type: application/octet-stream";
    let mut whole = format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {length}\r\n\r\n");
    whole.extend(std::iter::repeat_n('\0', length));
    whole.into_bytes()
}

/// Adds sockets until enough of them wait for a connection.
fn replenish(
    sockets: &mut SocketSet<'static>,
    connections: &mut Vec<Connection>,
    port: u16,
) -> Result<(), Box<dyn Error>> {
    let waiting = connections
        .iter()
        .filter(|each| sockets.get::<Socket>(each.handle).state() == State::Listen)
        .count();
    for _ in waiting..WAITING {
        let receive = SocketBuffer::new(vec![0; RECEIVE]);
        let mut socket = Socket::new(receive, SocketBuffer::new(vec![0; SEND]));
        socket.set_nagle_enabled(false);
        socket.listen(port)?;
        connections.push(Connection {
            handle: sockets.add(socket),
            matched: 0,
            owed: 0,
            sent: 0,
        });
    }
    Ok(())
}

/// Reads and answers what came, and drops what is closed. Returns whether there is more to send.
fn serve(
    sockets: &mut SocketSet<'static>,
    connections: &mut Vec<Connection>,
    response: &[u8],
) -> bool {
    let mut wrote = false;
    connections.retain_mut(|each| {
        let socket = sockets.get_mut::<Socket>(each.handle);
        match socket.state() {
            State::Closed => {
                sockets.remove(each.handle);
                return false;
            }
            State::Listen => return true,
            _ => {}
        }
        while socket.can_recv() {
            let read = socket.recv(|bytes| (bytes.len(), each.count(bytes)));
            each.owed += read.unwrap_or(0);
        }
        while each.owed > 0 && socket.can_send() {
            let Ok(more) = socket.send_slice(&response[each.sent..]) else {
                break;
            };
            wrote = true;
            each.sent += more;
            if each.sent == response.len() {
                each.sent = 0;
                each.owed -= 1;
            }
        }
        // The client closes first.
        if each.owed == 0 && socket.state() == State::CloseWait {
            socket.close();
            wrote = true;
        }
        true
    });
    wrote
}

impl Connection {
    /// Requests that end in these bytes; they have no body.
    fn count(&mut self, bytes: &[u8]) -> u64 {
        let mut ended = 0;
        for &byte in bytes {
            self.matched = if byte == END[self.matched] {
                self.matched + 1
            } else {
                usize::from(byte == END[0])
            };
            if self.matched == END.len() {
                self.matched = 0;
                ended += 1;
            }
        }
        REQUESTS.fetch_add(ended, Ordering::Relaxed);
        ended
    }
}

/// The number of requests, to each who connects.
fn tell(asked: &UnixListener) {
    for asker in asked.incoming().flatten() {
        let mut asker = asker;
        let _ = write!(asker, "{}", REQUESTS.load(Ordering::Relaxed));
    }
}

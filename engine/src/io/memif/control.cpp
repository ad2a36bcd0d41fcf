#include "io/memif/control.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <system_error>
#include <utility>

#include "control/config.h"

namespace engine::memif {
namespace {

constexpr int kPauseMs = 100;  ///< until a client asks again for a server that is not there
constexpr int kBacklog = 16;

template <size_t kSize>
void put(char (&place)[kSize], const std::string& text) {
  std::memset(place, 0, kSize);
  std::memcpy(place, text.data(), std::min(text.size(), kSize - 1));
}

template <size_t kSize>
std::string text_in(const char (&place)[kSize]) {
  return {place, strnlen(place, kSize)};
}

int open_socket(int flags) {
  return ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
}

bool transmit(int socket, const Message& message, int file) {
  iovec part{const_cast<Message*>(&message), sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)]{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (file >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(rights), &file, sizeof file);
  }
  return sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof message;
}

struct Received {
  ssize_t length;
  Message message;
  int file = -1;  ///< that came with it; whoever reads it closes it
};

Received receive(int socket) {
  Received received{};
  iovec part{&received.message, sizeof received.message};
  // Descriptors beyond the first would stay open; the kernel drops those that have no room.
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(ucred))]{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  received.length = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (received.length < 0) return received;
  for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
    if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS) continue;
    for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= at->cmsg_len; ++i) {
      int file = -1;
      std::memcpy(&file, CMSG_DATA(at) + i * sizeof file, sizeof file);
      if (received.file >= 0)
        close(file);
      else
        received.file = file;
    }
  }
  return received;
}

}  // namespace

Address::Address(const std::string& name, bool abstract) {
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() + 1 >= sizeof address.sun_path)
    throw ConfigError(fmt::format("memif: \"{}\" is no name for a socket: it has 1 to {} bytes",
                                  name, sizeof address.sun_path - 2));
  std::memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
  // An abstract name has no end but that of its address.
  length = abstract ? static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())
                    : sizeof address;
}

std::shared_ptr<Memory> Link::memory() const {
  const std::lock_guard lock(mutex_);
  return memory_;
}

void Link::set(std::shared_ptr<Memory> memory) {
  const std::lock_guard lock(mutex_);
  memory_.swap(memory);
  version_.fetch_add(1, std::memory_order_release);
}

/// The state of one channel: which messages came, and what the memory is so far.
class MemifChannel {
 public:
  /// `link`: of a client; nullptr for a server, which is told by `init`, of `links`.
  MemifChannel(int socket, Link* link, const std::map<uint32_t, Link*>& links)
      : socket_(socket), link_(link), links_(links) {
    if (link == nullptr) say_hello();
  }
  ~MemifChannel() {
    if (connected_) link_->set(nullptr);
    close(socket_);
  }
  MemifChannel(const MemifChannel&) = delete;
  MemifChannel& operator=(const MemifChannel&) = delete;

  const Link* link() const { return link_; }
  /// Reads one message and answers. False: the channel is at its end.
  bool serve();
  /// Why it is at its end, for the user; "": the peer closed it without a word.
  const std::string& reason() const { return reason_; }
  void say_goodbye(const std::string& reason);

 private:
  void say_hello();
  void process(const Message& message, int file);
  void process_hello(const Hello& hello);
  void process_init(const Init& init);
  void process_connect();
  void send(const Message& message, int file = -1) {
    if (!transmit(socket_, message, file)) throw Refused(std::strerror(errno));
  }
  void send(MessageType type) {
    Message message{};
    message.type = type;
    send(message);
  }
  /// Those of a client go out one by one, each when the one before was acknowledged.
  void send_next();

  const int socket_;
  Link* link_;
  const std::map<uint32_t, Link*>& links_;
  std::shared_ptr<Memory> memory_;
  std::deque<std::pair<Message, int>> next_;
  bool connected_ = false;
  std::string reason_;
};

bool MemifChannel::serve() {
  const Received received = receive(socket_);
  if (received.length < 0) return errno == EAGAIN || errno == EINTR;
  try {
    if (received.length == 0) return false;
    if (received.length != sizeof received.message) {
      if (received.file >= 0) close(received.file);
      throw Refused("a message has 128 bytes");
    }
    process(received.message, received.file);
    if (received.message.type != MessageType::disconnect) return true;
    reason_ = fmt::format("the peer says: {}", text_in(received.message.disconnect.reason));
  } catch (const Refused& refused) {
    say_goodbye(refused.what());
    reason_ = fmt::format("the peer was told: {}", refused.what());
  }
  return false;
}

void MemifChannel::say_hello() {
  Message message{};
  message.type = MessageType::hello;
  Hello& hello = message.hello;
  put(hello.name, "stackcost");
  hello.least_version = hello.most_version = kVersion;
  hello.last_region = kMostRegions - 1;
  const uint32_t queues = links_.empty() ? 1 : links_.begin()->second->settings().queues;
  hello.last_ring_to_client = hello.last_ring_to_server = static_cast<uint16_t>(queues - 1);
  hello.most_ring_bits = kMostRingBits;
  transmit(socket_, message, -1);  // whether the peer is there, its next message tells
}

void MemifChannel::say_goodbye(const std::string& reason) {
  Message message{};
  message.type = MessageType::disconnect;
  put(message.disconnect.reason, reason);
  transmit(socket_, message, -1);
}

void MemifChannel::process(const Message& message, int file) {
  const bool server = link_ == nullptr || link_->settings().server;
  const bool described = server && memory_ != nullptr && !connected_;
  const MessageType type = message.type;
  if (described && type == MessageType::add_region) {
    memory_->add(message.add_region, file);
    return send(MessageType::ack);
  }
  if (described && type == MessageType::add_ring) {
    memory_->add(message.add_ring, file);
    return send(MessageType::ack);
  }
  if (file >= 0) close(file);
  if (type == MessageType::disconnect) return;
  if (described && type == MessageType::connect) return process_connect();
  if (server && link_ == nullptr && type == MessageType::init) return process_init(message.init);
  if (!server && memory_ == nullptr && type == MessageType::hello)
    return process_hello(message.hello);
  if (!server && memory_ != nullptr && type == MessageType::ack) return send_next();
  if (!server && memory_ != nullptr && type == MessageType::connected && next_.empty() &&
      !std::exchange(connected_, true))
    return link_->set(memory_);
  throw Refused(fmt::format("unexpected message {}", static_cast<int>(type)));
}

void MemifChannel::process_init(const Init& init) {
  if (init.version != kVersion) throw Refused("only version 2.0 is spoken here");
  if (init.mode != 0) throw Refused("only Ethernet is spoken here");
  const auto found = links_.find(init.id);
  if (found == links_.end())
    throw Refused(fmt::format("no interface has id {}", uint32_t{init.id}));
  const Settings& settings = found->second->settings();
  if (!settings.secret.empty() && text_in(init.secret) != settings.secret)
    throw Refused("another secret is wanted");
  if (found->second->memory() != nullptr) throw Refused("it has a peer already");
  link_ = found->second;
  memory_ = std::make_shared<Memory>();
  send(MessageType::ack);
}

void MemifChannel::process_connect() {
  const uint32_t queues = link_->settings().queues;
  for (const Way way : {Way::to_server, Way::to_client})
    if (memory_->rings(way).size() != queues)
      throw Refused(fmt::format("{} rings each way are needed, one for each data core", queues));
  if (link_->memory() != nullptr) throw Refused("it has a peer already");
  for (const Ring& ring : memory_->rings(Way::to_server))
    ring.header->flags = RingHeader::kNoInterrupt;
  connected_ = true;
  link_->set(memory_);
  Message message{};
  message.type = MessageType::connected;
  put(message.connect.interface, link_->settings().name);
  send(message);
}

void MemifChannel::process_hello(const Hello& hello) {
  const Settings& settings = link_->settings();
  if (hello.least_version > kVersion || hello.most_version < kVersion)
    throw Refused("only version 2.0 is spoken here");
  if (std::min(hello.last_ring_to_client, hello.last_ring_to_server) + 1u < settings.queues)
    throw Refused(
        fmt::format("{} rings each way are needed, one for each data core", settings.queues));
  const uint32_t ring_bits = std::min<uint32_t>(settings.ring_bits, hello.most_ring_bits);
  try {
    memory_ = Memory::make(settings.queues, ring_bits, settings.buffer_bytes);
  } catch (const std::system_error& error) {
    throw Refused(error.what());
  }
  for (const Ring& ring : memory_->rings(Way::to_client))
    ring.header->flags = RingHeader::kNoInterrupt;

  const auto add = [this](MessageType type, int file = -1) -> Message& {
    Message& message = next_.emplace_back(Message{}, file).first;
    message.type = type;
    return message;
  };
  Init& init = add(MessageType::init).init;
  init.version = kVersion;
  init.id = settings.id;
  put(init.secret, settings.secret);
  put(init.name, "stackcost");
  const Memory::Region& region = memory_->regions().front();
  add(MessageType::add_region, region.file).add_region = {0, region.bytes};
  for (const Way way : {Way::to_server, Way::to_client})
    for (const Ring& ring : memory_->rings(way))
      add(MessageType::add_ring, ring.event).add_ring = ring.place;
  put(add(MessageType::connect).connect.interface, settings.name);
  send_next();
}

void MemifChannel::send_next() {
  if (next_.empty()) throw Refused("an ack for nothing");
  const auto [message, file] = next_.front();
  next_.pop_front();
  send(message, file);
}

std::shared_ptr<Control> Control::with(Link& link) {
  // A server's socket serves all its ports; a client's is its own.
  static std::mutex mutex;
  static std::map<std::pair<bool, std::string>, std::weak_ptr<Control>> servers;
  const Settings& settings = link.settings();
  const std::lock_guard lock(mutex);
  std::weak_ptr<Control> alone;
  std::weak_ptr<Control>& known =
      settings.server ? servers[{settings.abstract, settings.socket}] : alone;
  std::shared_ptr<Control> control = known.lock();
  if (control == nullptr) known = control = std::shared_ptr<Control>(new Control(settings));
  const std::lock_guard inside(control->mutex_);
  if (!control->links_.emplace(settings.id, &link).second)
    throw ConfigError(fmt::format("memif: {} has two servers with id {}; give each its own id",
                                  settings.socket, settings.id));
  control->wake();
  return control;
}

Control::Control(const Settings& settings)
    : server_(settings.server),
      name_(settings.socket),
      file_(settings.abstract ? "" : settings.socket),
      address_(settings.socket, settings.abstract) {
  if (server_) listen();
  wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  thread_ = std::thread([this] { loop(); });
  pthread_setname_np(thread_.native_handle(), "memif");
}

Control::~Control() {
  stopping_ = true;
  wake();
  thread_.join();
  channels_.clear();
  close(wake_);
  if (listener_ < 0) return;
  close(listener_);
  if (!file_.empty()) unlink(file_.c_str());
}

void Control::listen() {
  // The file of a program that was killed is in the way of the next one.
  if (const int probe = open_socket(SOCK_NONBLOCK); probe >= 0) {
    if (::connect(probe, address_.get(), address_.length) != 0 && errno == ECONNREFUSED &&
        !file_.empty())
      unlink(file_.c_str());
    close(probe);
  }
  listener_ = open_socket(SOCK_NONBLOCK);
  if (listener_ < 0 || bind(listener_, address_.get(), address_.length) != 0 ||
      ::listen(listener_, kBacklog) != 0) {
    const int reason = errno;
    if (listener_ >= 0) close(listener_);
    throw ConfigError(fmt::format("memif: no socket {}: {}", name_, std::strerror(reason)));
  }
}

void Control::leave(Link& link) {
  const std::lock_guard lock(mutex_);
  links_.erase(link.settings().id);
  std::erase_if(channels_, [&](const auto& each) {
    if (each.second->link() != &link) return false;
    each.second->say_goodbye("the port is closed");
    return true;
  });
}

void Control::wake() const {
  eventfd_write(wake_, 1);
}

void Control::connect() {
  const int socket = open_socket(SOCK_NONBLOCK);
  if (socket < 0) return;
  if (::connect(socket, address_.get(), address_.length) != 0)
    close(socket);
  else
    channels_.emplace(socket,
                      std::make_unique<MemifChannel>(socket, links_.begin()->second, links_));
}

void Control::accept() {
  const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket >= 0)
    channels_.emplace(socket, std::make_unique<MemifChannel>(socket, nullptr, links_));
}

void Control::loop() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are the control thread's
  std::vector<pollfd> waiting;
  bool due = true;  // for a client to ask for its server
  while (!stopping_) {
    waiting.assign({{wake_, POLLIN, 0}});
    bool alone = false;
    {
      const std::lock_guard lock(mutex_);
      alone = !server_ && !links_.empty() && channels_.empty();
      if (alone && std::exchange(due, false)) connect();
      if (server_) waiting.push_back({listener_, POLLIN, 0});
      for (const auto& [socket, channel] : channels_) waiting.push_back({socket, POLLIN, 0});
    }
    const int ready = poll(waiting.data(), waiting.size(), alone ? kPauseMs : -1);
    if (ready == 0) due = true;
    if (ready <= 0) continue;
    eventfd_t wakes = 0;
    eventfd_read(wake_, &wakes);
    const std::lock_guard lock(mutex_);
    for (const pollfd& each : waiting)
      if (each.revents != 0 && each.fd != wake_) each.fd == listener_ ? accept() : serve(each.fd);
  }
}

void Control::serve(int socket) {
  const auto channel = channels_.find(socket);
  if (channel == channels_.end() || channel->second->serve()) return;
  // A client that asks again and again is told the same each time, its user once.
  if (const std::string& reason = channel->second->reason(); !reason.empty() && reason != said_)
    fmt::print(stderr, "astf-engine: memif {}: {}\n", name_, said_ = reason);
  channels_.erase(channel);
}

}  // namespace engine::memif

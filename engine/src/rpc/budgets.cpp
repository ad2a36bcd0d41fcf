#include "rpc/budgets.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "rpc/rpc_error.h"

namespace engine {

ByteBudget::ByteBudget(std::string name, uint64_t limit, std::string remedy)
    : name_(std::move(name)), limit_(limit), remedy_(std::move(remedy)) {}

void ByteBudget::require(uint64_t bytes, const std::string& what) const {
  if (bytes > left()) throw refused(refusal(bytes, what));
}

std::string ByteBudget::refusal(uint64_t bytes, const std::string& what) const {
  return fmt::format("Memory budget '{}': {} takes {} bytes, {} of {} are left: {}", name_, what,
                     bytes, left(), limit_, remedy_);
}

Charge::Charge(Charge&& other) noexcept
    : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}

Charge& Charge::operator=(Charge&& other) noexcept {
  if (this == &other) return *this;
  shrink(bytes_);
  budget_ = other.budget_;
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

bool Charge::grow(uint64_t bytes) {
  if (bytes > budget_->left()) return false;
  budget_->taken_ += bytes;
  bytes_ += bytes;
  return true;
}

void Charge::grow(uint64_t bytes, const std::string& what) {
  budget_->require(bytes, what);
  grow(bytes);
}

bool Charge::set(uint64_t bytes) {
  if (bytes > bytes_) return grow(bytes - bytes_);
  shrink(bytes_ - bytes);
  return true;
}

void Charge::shrink(uint64_t bytes) {
  budget_->taken_ -= bytes;
  bytes_ -= bytes;
}

void Fragments::begin() {
  drop();
  begun_ = true;
}

void Fragments::add(const std::string& piece) {
  if (!begun_) throw refused("No upload in progress: the first piece needs 'frag_first'");
  const size_t length = text_.size() + piece.size();
  if (length > limit_) {
    drop();
    throw refused(fmt::format("{} is too large: at most {} bytes", what_, limit_));
  }
  if (!memory_.set(length)) {
    const std::string refusal =
        memory_.budget().refusal(piece.size(), "the next piece of an upload");
    drop();
    throw refused(refusal);
  }
  text_ += piece;
}

std::string Fragments::take() {
  begun_ = false;
  memory_.set(0);
  return std::exchange(text_, {});
}

uint64_t Budgets::most_of_runs() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
}

}  // namespace engine

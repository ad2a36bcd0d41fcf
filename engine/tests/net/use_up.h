#pragma once
#include "net/frame.h"

namespace engine {

/// Takes the buffers that the queue still has. Its device must have none left to give, and lose
/// frames of head_length 0.
inline void use_up(TransmitQueue& queue) {
  while (Frame* frame = queue.next()) {
    frame->head_length = 0;
    queue.commit();
  }
}

}  // namespace engine

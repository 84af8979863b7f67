// Which way of reconciling is cheapest, by what each is expected to send.
#pragma once

#include <cstdint>

#include "bloomery/exchange/reconcile.hpp"

namespace bloomery {

struct set_size {  // what one side says of its set
  std::uint64_t keys = 0;
  std::uint64_t key_bytes = 0;
};

struct reconcile_plan {  // the encoder is the side with fewer keys: it sends symbols, and chooses
  reconcile_method method = reconcile_method::sketch;
  std::uint32_t encoder_bits = 0;  // a key in the encoder's filter; 0 is no filter
  std::uint32_t decoder_bits = 0;
  bool encoder_sends_all = true;  // the way `full`: otherwise the decoder does
  std::uint64_t difference = 0;   // as the encoder estimated it
};

inline constexpr std::uint32_t most_filter_bits = 12;

[[nodiscard]] reconcile_plan choose_plan(reconcile_method wish, const set_size& encoder,
                                         const set_size& decoder, double difference);

}  // namespace bloomery

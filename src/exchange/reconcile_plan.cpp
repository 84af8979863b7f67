#include "reconcile_plan.hpp"

#include <algorithm>
#include <cmath>

#include "bloomery/exchange/sent_filter.hpp"

namespace bloomery {

namespace {

// As measured: a symbol is 12 bytes, its count 1.3; differences of thousands take 1.36, of ten 1.7.
constexpr double symbol_bytes = 13.3;

double sketch_cost(double difference) { return symbol_bytes * (1.36 * difference + 3); }

// The encoder's keys that the decoder asks for, by their places in a list.
double wanted_cost(double wanted, double keys) {
  if (wanted < 1) return 0;
  return wanted * (std::log2(std::max(1.0, keys / wanted)) + 1.5) / 8;
}

struct share {
  double encoder;  // of the difference: keys that only the encoder has
  double decoder;
};

// The sets' sizes say how the difference is split.
share split(const set_size& encoder, const set_size& decoder, double difference) {
  const double apart = static_cast<double>(decoder.keys) - static_cast<double>(encoder.keys);
  const double total =
      std::clamp(difference, std::abs(apart),
                 static_cast<double>(encoder.keys) + static_cast<double>(decoder.keys));
  return {.encoder = (total - apart) / 2, .decoder = (total + apart) / 2};
}

double filters_cost(const reconcile_plan& p, const set_size& encoder, const set_size& decoder,
                    const share& only) {
  double cost = 0;
  share left = only;
  const auto add = [&](std::uint32_t bits, std::uint64_t keys, double& found) {
    if (bits == 0) return;
    cost += sent_filter_bytes(static_cast<double>(keys), bits);
    found *= std::exp2(-static_cast<double>(bits));
  };
  add(p.encoder_bits, encoder.keys, left.decoder);
  add(p.decoder_bits, decoder.keys, left.encoder);
  return cost + sketch_cost(left.encoder + left.decoder) +
         wanted_cost(left.encoder, static_cast<double>(encoder.keys));
}

// The cost beyond the keys of the difference, which every way must send.
double full_cost(const set_size& sender, double only) {
  const double keys = static_cast<double>(sender.keys);
  const double shared = keys == 0 ? 0 : 1 - std::min(1.0, only / keys);
  return shared * (static_cast<double>(sender.key_bytes) + 2 * keys) + wanted_cost(only, keys);
}

}  // namespace

reconcile_plan choose_plan(reconcile_method wish, const set_size& encoder, const set_size& decoder,
                           double difference) {
  const share only = split(encoder, decoder, difference);
  reconcile_plan best;
  double best_cost = INFINITY;
  const auto consider = [&](const reconcile_plan& p, double cost) {
    const bool wanted = wish == reconcile_method::automatic || wish == p.method;
    if (!wanted || !(cost < best_cost)) return;
    best = p;
    best_cost = cost;
  };
  const std::uint32_t most_e = encoder.keys == 0 ? 0 : most_filter_bits;
  const std::uint32_t most_d = decoder.keys == 0 ? 0 : most_filter_bits;
  for (std::uint32_t e = 0; e <= most_e; ++e) {
    for (std::uint32_t d = 0; d <= most_d; ++d) {
      const bool filters = e + d != 0;
      // Asked for filters, both sides send one.
      const bool missing = (e == 0 && most_e != 0) || (d == 0 && most_d != 0);
      if (wish == reconcile_method::filter && missing) continue;
      const reconcile_plan p{
          .method = filters ? reconcile_method::filter : reconcile_method::sketch,
          .encoder_bits = e,
          .decoder_bits = d};
      consider(p, filters_cost(p, encoder, decoder, only));
    }
  }
  consider({.method = reconcile_method::full, .encoder_sends_all = true},
           full_cost(encoder, only.encoder));
  consider({.method = reconcile_method::full, .encoder_sends_all = false},
           full_cost(decoder, only.decoder));
  // Filters were asked for and both sets are empty: then there is no plan with filters.
  if (best_cost == INFINITY) best.method = reconcile_method::sketch;
  return best;
}

}  // namespace bloomery

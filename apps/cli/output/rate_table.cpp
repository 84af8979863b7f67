#include "cli/output/rate_table.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "bloomery/core/sizing.hpp"

namespace bloomery::cli {

namespace {

// As in Fan, Cao, Almeida and Broder (2000): 2 to 32 bits per key, 1 to 24 probes, eight a part.
constexpr std::uint32_t least_bits = 2;
constexpr std::uint32_t most_bits = 32;
constexpr std::uint32_t columns = 8;
constexpr std::uint32_t parts = 3;

std::string short_rate(double fpr) {  // at most seven characters: 0.0216, 4.59e-4
  if (fpr >= 0.000995) return fmt::format("{:.3g}", fpr);
  std::string text = fmt::format("{:.2e}", fpr);
  return text.erase(text.size() - 2, 1);  // the zero of e-04; no rate here is below 1e-9
}

}  // namespace

nlohmann::json rate_table_json() {
  nlohmann::json rows = nlohmann::json::array();
  for (std::uint32_t bits = least_bits; bits <= most_bits; ++bits) {
    nlohmann::json rates = nlohmann::json::array();
    for (std::uint32_t k = 1; k <= columns * parts; ++k) {
      rates.push_back(sizing::classic_fpr_approx(bits, k));
    }
    rows.push_back({{"bits_per_key", bits},
                    {"ideal_probes", sizing::ideal_probes(bits)},
                    {"best_probes", sizing::best_probes(filter_kind::classic, bits)},
                    {"fpr", rates}});
  }
  return {{"table", rows}};
}

std::string rate_table_text() {
  std::string text =
      "Rates of a classic filter of many keys, by bits per key and probes k\n"
      "(best: the k with the least rate, and m/n ln 2)\n";
  for (std::uint32_t first = 1; first <= columns * parts; first += columns) {
    text += fmt::format("\n{:>4} {:>9}", "bits", "best");
    for (std::uint32_t k = first; k < first + columns; ++k) {
      text += fmt::format(" {:>7}", fmt::format("k={}", k));
    }
    text += '\n';
    for (std::uint32_t bits = least_bits; bits <= most_bits; ++bits) {
      const std::uint32_t best = sizing::best_probes(filter_kind::classic, bits);
      // With more probes than the best the rate only rises: one of these shows it.
      if (best + 1 < first) continue;
      text += fmt::format("{:>4} {:>2} {:>6}", bits, best,
                          fmt::format("{:.2f}", sizing::ideal_probes(bits)));
      for (std::uint32_t k = first; k < first + columns && k <= best + 1; ++k) {
        text += fmt::format(" {:>7}", short_rate(sizing::classic_fpr_approx(bits, k)));
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace bloomery::cli

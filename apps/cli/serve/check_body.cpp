#include "cli/serve/check_body.hpp"

#include <fmt/format.h>

#include <deque>
#include <utility>

#include "bloomery/core/error.hpp"

namespace bloomery::cli {

namespace {

bool bit(std::span<const std::uint64_t> bitmap, std::size_t i) {
  return ((bitmap[i / 64] >> (i % 64)) & 1U) != 0;
}

class check_body final : public body_reader {
 public:
  check_body(version_ptr version, std::unique_ptr<key_stream> keys, answer_form form,
             serve_counters& counters)
      : version_(std::move(version)), keys_(std::move(keys)), form_(form), counters_(&counters) {}

  void feed(std::string_view piece, std::string& out) override {
    keys_->feed(piece, [&](const key_batch& b) { ask(b, out); });
  }

  std::optional<http_plan> finish(std::string& out) override {
    keys_->finish([&](const key_batch& b) { ask(b, out); });
    if (form_ == answer_form::json) {
      out += asked_ == 0 ? "{\"answers\":[" : "";
      out += fmt::format("],\"keys\":{},\"found\":{}}}\n", asked_, found_);
    } else if (form_ == answer_form::bitmap && asked_ % 8 != 0) {
      out.push_back(static_cast<char>(open_));
    }
    counters_->keys_asked += asked_;
    counters_->keys_found += found_;
    return std::nullopt;
  }

 private:
  void ask(const key_batch& b, std::string& out) {
    bitmap_.assign((b.keys.size() + 63) / 64, 0);
    version_->filter.contains_bits(b.keys, bitmap_);
    for (std::size_t i = 0; i < b.keys.size(); ++i) {
      const bool there = bit(bitmap_, i);
      found_ += there ? 1U : 0U;
      write(there, b.records[i], out);
      ++asked_;
    }
  }

  void write(bool there, std::string_view record, std::string& out) {
    switch (form_) {
      case answer_form::annotated: out += there ? "+\t" : "-\t"; [[fallthrough]];
      case answer_form::found:
        if (there || form_ == answer_form::annotated) out.append(record).push_back('\n');
        return;
      case answer_form::json:
        out += asked_ == 0 ? "{\"answers\":[" : ",";
        out += there ? "true" : "false";
        return;
      case answer_form::bitmap:
        open_ |= (there ? 1U : 0U) << (asked_ % 8);
        if (asked_ % 8 == 7) out.push_back(static_cast<char>(std::exchange(open_, 0)));
    }
  }

  version_ptr version_;
  std::unique_ptr<key_stream> keys_;
  answer_form form_;
  serve_counters* counters_;
  std::vector<std::uint64_t> bitmap_;
  std::uint64_t asked_ = 0;
  std::uint64_t found_ = 0;
  unsigned open_ = 0;  // the bits of a byte that is not full yet
};

class add_body final : public body_reader {
 public:
  add_body(std::unique_ptr<key_stream> keys, std::uint64_t most_bytes, add_work work)
      : keys_(std::move(keys)), most_bytes_(most_bytes), work_(std::move(work)) {}

  void feed(std::string_view piece, std::string& /*out*/) override {
    bytes_ += piece.size();
    if (bytes_ > most_bytes_) {
      throw http_error(413, fmt::format("more than {} bytes of keys at once", most_bytes_));
    }
    keys_->feed(piece, [&](const key_batch& b) { keep(b); });
  }

  std::optional<http_plan> finish(std::string& /*out*/) override {
    keys_->finish([&](const key_batch& b) { keep(b); });
    http_plan plan;
    plan.route = http_route::add;
    plan.work = [work = work_, kept = std::make_shared<std::deque<std::string>>(std::move(kept_))] {
      return work({kept->begin(), kept->end()});
    };
    return plan;
  }

 private:
  void keep(const key_batch& b) {
    // An empty line adds no key, as with `bloomery add`.
    for (const std::string_view key : b.keys) {
      if (!key.empty()) kept_.emplace_back(key);
    }
  }

  std::unique_ptr<key_stream> keys_;
  std::uint64_t most_bytes_;
  add_work work_;
  std::uint64_t bytes_ = 0;
  std::deque<std::string> kept_;
};

}  // namespace

std::unique_ptr<body_reader> make_check_body(version_ptr version, std::unique_ptr<key_stream> keys,
                                             answer_form form, serve_counters& counters) {
  return std::make_unique<check_body>(std::move(version), std::move(keys), form, counters);
}

std::unique_ptr<body_reader> make_add_body(std::unique_ptr<key_stream> keys,
                                           std::uint64_t most_bytes, add_work work) {
  return std::make_unique<add_body>(std::move(keys), most_bytes, std::move(work));
}

}  // namespace bloomery::cli

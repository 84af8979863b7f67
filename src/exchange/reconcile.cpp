// The protocol: who says what when (docs/exchange.md has a table). Its parts: reconcile_wire.hpp
// (messages), key_table.hpp (the set), reconcile_plan.hpp (which way), sketch/riblt.hpp (symbols).
#include "bloomery/exchange/reconcile.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/sent_filter.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/random_seed.hpp"
#include "key_table.hpp"
#include "reconcile_plan.hpp"
#include "reconcile_wire.hpp"

namespace bloomery {

namespace {

namespace messages = reconcile_wire;
using messages::type;

// One round in 10^7 fails by chance, so several in a row are no accident.
constexpr std::uint32_t most_rounds = 4;
constexpr std::uint32_t estimating_round = 0xffffffff;  // of which the estimator has its seed
// The most symbols that a side makes or keeps, and the most that it sends when not asked.
constexpr std::uint64_t most_symbols = std::uint64_t{1} << 24U;
constexpr std::uint64_t most_first_symbols = std::uint64_t{1} << 20U;
// The memory of a symbol. Who makes it has it in a vector that grows; who gets it has three such
// vectors, and one each for the items that were found, their walks and what may be found next.
constexpr std::uint64_t made_symbol_bytes = 3 * sizeof(riblt_symbol);
constexpr std::uint64_t got_symbol_bytes = 14 * sizeof(riblt_symbol);

// The seed depends on both nonces, so that neither side can choose it.
std::uint64_t round_seed(std::uint64_t a, std::uint64_t b, std::uint32_t round) {
  return hash_fields(xxh3_hasher(round), std::min(a, b), std::max(a, b));
}

// What the peer says about why it gave up. It is not sent back to the peer.
class refused : public error {
 public:
  using error::error;
};

class session {
 public:
  session(message_channel& peer, std::span<const std::string_view> keys, const reconcile_options& o)
      : peer_(peer), options_(o), table_(keys) {}

  reconciliation run() {
    greet();
    if (plan_.method == reconcile_method::full) {
      table_.begin_round(round_seed(hello_.nonce, theirs_.nonce, 0), 64);
      plan_.encoder_sends_all == encoder_ ? send_all() : receive_all();
      if (!agree()) throw error(errc::corrupt, "the peer has other keys than it sent");
    } else {
      exchange_difference();
    }
    return result();
  }

 private:
  // ---- messages

  void send(type t, messages::byte_view payload) {
    peer_.send(static_cast<std::uint8_t>(t), payload);
    traffic_of(t).sent += payload.size() + message_channel::overhead_bytes;
    asked_ = true;
  }

  // The next message, which must be one of two types.
  message receive(type t, type or_else, std::size_t limit) {
    if (std::exchange(asked_, false)) ++report_.round_trips;
    message m = peer_.receive(std::max(limit, messages::refusal_limit));
    const auto got = static_cast<type>(m.type);
    if (got == type::refusal) {
      throw refused(errc::mismatch, "the peer gave up: " + messages::read_refusal(m.payload));
    }
    if (got != t && got != or_else) {
      throw error(errc::corrupt, "the peer sent a message of type " + std::to_string(m.type) +
                                     " where another was due");
    }
    traffic_of(got).received += m.payload.size() + message_channel::overhead_bytes;
    return m;
  }
  message receive(type t, std::size_t limit) { return receive(t, t, limit); }

  traffic& traffic_of(type t) {
    switch (t) {
      case type::filter: return report_.filters;
      case type::keys:
      case type::last_keys: return report_.keys;
      case type::symbols:
      case type::more:
      case type::wanted: return report_.tables;
      default: return report_.greetings;
    }
  }

  // ---- the beginning

  void greet() {
    hello_ = {.wish = options_.method,
              .nonce = options_.nonce != 0 ? options_.nonce : random_seed(),
              .size = {.keys = table_.own(), .key_bytes = table_.own_bytes()}};
    send(type::hello, messages::write(hello_));
    theirs_ = messages::read_hello(receive(type::hello, messages::hello_limit).payload);
    if (theirs_.nonce == hello_.nonce) {
      throw error(errc::mismatch, "the peer has the same nonce: is this a connection to itself?");
    }
    if (theirs_.size.keys > options_.most_keys) {
      throw error(errc::corrupt, "the peer claims to have " + std::to_string(theirs_.size.keys) +
                                     " keys, and " + std::to_string(options_.most_keys) +
                                     " are the most");
    }
    const auto rank = [](const messages::hello& h) { return std::pair(h.size.keys, h.nonce); };
    encoder_ = rank(hello_) < rank(theirs_);
    const tug_sums sums =
        table_.estimator(round_seed(hello_.nonce, theirs_.nonce, estimating_round));
    if (encoder_) {
      const message m = receive(type::sums, messages::sums_limit);
      const double difference = tug_difference(sums, messages::read_sums(m.payload));
      plan_ = choose_plan(agreed_wish(), hello_.size, theirs_.size, difference);
      plan_.difference = static_cast<std::uint64_t>(std::llround(std::min(difference, 1e18)));
      send(type::plan, messages::write(plan_));
    } else {
      send(type::sums, messages::write(sums));
      plan_ = messages::read_plan(receive(type::plan, messages::plan_limit).payload);
    }
    report_.estimated_difference = static_cast<double>(plan_.difference);
    report_.method = plan_.method;
  }

  [[nodiscard]] reconcile_method agreed_wish() const {
    const reconcile_method a = hello_.wish;
    const reconcile_method b = theirs_.wish;
    if (a == reconcile_method::automatic) return b;
    if (b != reconcile_method::automatic && a != b) {
      throw error(errc::mismatch, "one side asks for the method " + std::string(method_name(a)) +
                                      " and the other for " + std::string(method_name(b)));
    }
    return a;
  }

  // ---- keys

  // Sends keys of the table, and gives them back in the order of the message.
  std::vector<std::uint32_t> send_keys(std::vector<std::uint32_t> which) {
    std::sort(which.begin(), which.end(),
              [&](std::uint32_t a, std::uint32_t b) { return table_.key(a) < table_.key(b); });
    messages::key_writer writer;
    for (const std::uint32_t i : which) {
      writer.add(table_.key(i));
      if (writer.full()) send(type::keys, writer.take());
    }
    send(type::last_keys, writer.take());
    return which;
  }

  void send_lacking(const std::vector<std::uint32_t>& which) {
    for (const std::uint32_t i : send_keys(which)) {
      if (i < table_.own()) lacking_.push_back(i);
    }
  }

  // Calls for each key of the peer's list.
  template <class Take>
  void receive_keys(Take take) {
    messages::key_reader reader;
    for (;;) {
      // A message may be longer than usual by its last key. room() may be 2^64 - 1, so that adding
      // to it would overflow.
      const std::uint64_t longest = std::min<std::uint64_t>(reconcile_longest_key, room());
      const message m =
          receive(type::keys, type::last_keys,
                  static_cast<std::size_t>(messages::keys_message_bytes + 16 + longest));
      reader.read(m.payload, [&](std::string key) {
        hold(key_table::received_bytes(key.size()));
        if (++keys_received_ > theirs_.size.keys) {
          throw error(errc::corrupt, "the peer sends more keys than it said it has");
        }
        take(std::move(key));
      });
      if (static_cast<type>(m.type) == type::last_keys) return;
    }
  }

  void hold(std::uint64_t bytes) {
    if (bytes > room()) {
      throw error(errc::no_memory, "the peer makes this side hold more than the limit of " +
                                       std::to_string(options_.memory_bytes) + " bytes");
    }
    held_ += bytes;
  }
  [[nodiscard]] std::uint64_t room() const noexcept { return options_.memory_bytes - held_; }

  // ---- full

  void send_all() {
    std::vector<std::uint32_t> all(table_.own());
    std::iota(all.begin(), all.end(), 0U);
    all = send_keys(std::move(all));
    const message m = receive(type::wanted, messages::places_limit(all.size()));
    for (const std::uint64_t place : messages::read_places(m.payload, all.size())) {
      lacking_.push_back(all[static_cast<std::size_t>(place)]);
    }
    receive_keys([&](std::string key) { table_.receive(std::move(key)); });
  }

  void receive_all() {
    std::vector<std::uint64_t> wanted;  // places in the peer's list
    std::vector<bool> shared(table_.own(), false);
    receive_keys([&](std::string key) {
      if (const auto i = table_.find(key)) {
        shared[*i] = true;
        return;
      }
      wanted.push_back(keys_received_ - 1);
      table_.receive(std::move(key));
    });
    send(type::wanted, messages::write_places(wanted));
    std::vector<std::uint32_t> ours;
    for (std::uint32_t i = 0; i < shared.size(); ++i) {
      if (!shared[i]) ours.push_back(i);
    }
    send_lacking(ours);
  }

  // ---- filters and symbols

  void exchange_difference() {
    double left = std::max(
        report_.estimated_difference,
        std::abs(static_cast<double>(hello_.size.keys) - static_cast<double>(theirs_.size.keys)));
    for (std::uint32_t round = 0; round < most_rounds; ++round) {
      table_.begin_round(round_seed(hello_.nonce, theirs_.nonce, round),
                         round == 0 ? options_.first_round_bits : 64);
      if (round == 0 && plan_.method == reconcile_method::filter) left = exchange_filters(left);
      ++report_.rounds;
      encoder_ ? encode(left) : decode();
      if (agree()) return;
      left = 20;  // only keys whose hashes collided are missing, and these are few
    }
    throw error(errc::corrupt, "the peer's keys do not become ours in " +
                                   std::to_string(most_rounds) +
                                   " rounds; it is broken or hostile");
  }

  double exchange_filters(double difference) {  // returns what is left of the difference
    const std::uint32_t ours = encoder_ ? plan_.encoder_bits : plan_.decoder_bits;
    const std::uint32_t other = encoder_ ? plan_.decoder_bits : plan_.encoder_bits;
    if (ours != 0) send(type::filter, sent_filter(table_.sorted_items(), ours).message());
    std::uint64_t sent = 0;
    if (other != 0) {
      const std::vector<std::uint32_t> lacking = lacking_there(other);
      sent = lacking.size();
      send_lacking(lacking);
    }
    const std::uint64_t before = keys_received_;
    if (ours != 0) receive_keys([&](std::string key) { table_.receive(std::move(key)); });
    const std::uint64_t came = keys_received_ - before;
    report_.found_by_filter = sent + came;
    double left = 0;  // a filter misses one in 2^bits, so what it found tells what it did not
    const auto rest = [](double found, std::uint32_t bits) {
      return found / (std::exp2(bits) - 1.0);
    };
    if (other != 0) left += rest(static_cast<double>(sent), other);
    if (ours != 0) left += rest(static_cast<double>(came), ours);
    if (ours == 0 || other == 0)
      left += std::max(0.0, difference - static_cast<double>(sent + came));
    return left;
  }

  // Our keys that are surely not among the peer's, by its filter.
  std::vector<std::uint32_t> lacking_there(std::uint32_t bits) {
    const double most = 1.1 * sent_filter_bytes(static_cast<double>(theirs_.size.keys), bits) + 64;
    // While the message arrives, memory holds it twice, and then once more as a filter.
    const double fits = static_cast<double>(room()) / 3;
    const message m = receive(type::filter, static_cast<std::size_t>(std::min({most, fits, 4e9})));
    const std::uint64_t before = held_;
    hold(m.payload.size() + sent_filter::memory_bytes(m.payload));
    const sent_filter theirs(m.payload);
    held_ = before;  // from the end of this function on
    std::vector<std::uint32_t> lacking;
    for (std::uint32_t i = 0; i < table_.own(); ++i) {
      if (!theirs.contains(table_.item(i))) lacking.push_back(i);
    }
    return lacking;
  }

  // More than enough for any difference of the two sets.
  [[nodiscard]] std::uint64_t symbols_allowed() const {
    const std::uint64_t keys = table_.size() + theirs_.size.keys;
    return std::min(most_symbols, 3 * keys + 1000);
  }

  // A few symbols more than are needed cost less than another round trip; many cost more.
  static std::uint64_t next_step(std::uint64_t have) {
    return std::max<std::uint64_t>(8, have / 10);
  }

  void encode(double difference) {
    const std::vector<std::uint64_t> items = table_.sorted_items();
    riblt_encoder coder(items);
    const double guess = difference < 0.5 ? 1 : 1.36 * difference + 3;
    auto count = static_cast<std::uint64_t>(
        std::min(guess, static_cast<double>(std::min(symbols_allowed(), most_first_symbols))));
    std::uint64_t made = 0;
    for (;;) {
      hold(made_symbol_bytes * count);
      send_symbols(coder, made, count);
      made += count;
      const message m = receive(type::more, type::wanted, messages::places_limit(items.size()));
      if (static_cast<type>(m.type) == type::wanted) {
        answer(messages::read_places(m.payload, items.size()), items);
        break;
      }
      count = messages::read_number(m.payload);
      // At most twice as many as there were: what we queue follows what the peer has read. And not
      // a few each time: every step takes time for all of our keys.
      if (count > made + 64 || made + count > symbols_allowed()) {
        throw error(errc::corrupt, "the peer asks for too many symbols");
      }
      if (count < next_step(made)) throw error(errc::corrupt, "the peer asks for too few symbols");
    }
    report_.symbols += made;
  }

  void send_symbols(riblt_encoder& coder, std::uint64_t first, std::uint64_t count) {
    const auto symbols =
        coder.symbols(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < symbols.size(); i += messages::run_symbols) {
      // The peer only listens now. One that asks and does not listen shall not fill our memory.
      if (!peer_.has_room()) peer_.flush();
      const auto part = symbols.subspan(i, std::min(messages::run_symbols, symbols.size() - i));
      send(type::symbols,
           messages::write(messages::symbol_run{.last = i + part.size() == symbols.size(),
                                                .items = coder.items(),
                                                .first = first + i,
                                                .symbols = part}));
    }
  }

  void answer(const std::vector<std::uint64_t>& places, const std::vector<std::uint64_t>& items) {
    std::vector<std::uint64_t> wanted;
    wanted.reserve(places.size());
    for (const std::uint64_t place : places)
      wanted.push_back(items[static_cast<std::size_t>(place)]);
    send_lacking(table_.keys_with(wanted));
    receive_keys([&](std::string key) { table_.receive(std::move(key)); });
  }

  void decode() {
    const std::vector<std::uint64_t> items = table_.sorted_items();
    riblt_decoder decoder(items);
    std::uint64_t their_items = 0;
    for (std::uint64_t more = 0;;) {
      receive_run(decoder, their_items, more);
      if (decoder.complete()) break;
      more = next_step(decoder.symbols());
      if (decoder.symbols() + more > symbols_allowed()) {
        throw error(errc::corrupt, "the peer's symbols tell no difference");
      }
      send(type::more, messages::write_number(more));
    }
    report_.symbols += decoder.symbols();
    ask(decoder, items, their_items);
  }

  // Symbols until the end of those that were asked for: exactly so many, but any number at first.
  // Fewer would cost us time for all of our keys each time.
  void receive_run(riblt_decoder& decoder, std::uint64_t& their_items, std::uint64_t asked) {
    std::vector<riblt_symbol> run;
    for (bool last = false; !last;) {
      const auto list = messages::read_symbols(receive(type::symbols, messages::run_limit).payload);
      const std::uint64_t have = decoder.symbols() + run.size();
      if (have == 0) their_items = list.items;
      hold(got_symbol_bytes * list.symbols.size());
      const bool lawful = list.first == have && list.items == their_items &&
                          !list.symbols.empty() &&
                          have + list.symbols.size() <= symbols_allowed() &&
                          list.items <= theirs_.size.keys + table_.size();
      if (!lawful) throw error(errc::corrupt, "the peer sent symbols that do not fit");
      run.insert(run.end(), list.symbols.begin(), list.symbols.end());
      last = list.last;
      if (asked != 0 && (run.size() > asked || (last && run.size() < asked))) {
        throw error(errc::corrupt, "the peer sent more or fewer symbols than it was asked for");
      }
    }
    decoder.add(run);
  }

  // We know all of the peer's items now: places in its sorted list say in few bits what we want.
  void ask(const riblt_decoder& decoder, const std::vector<std::uint64_t>& items,
           std::uint64_t their_items) {
    const std::vector<std::uint64_t> wanted = sorted(decoder.only_there());
    const std::vector<std::uint64_t> offered = sorted(decoder.only_here());
    std::vector<std::uint64_t> shared;
    std::set_difference(items.begin(), items.end(), offered.begin(), offered.end(),
                        std::back_inserter(shared));
    std::vector<std::uint64_t> places;
    bool lawful = shared.size() + offered.size() == items.size() &&
                  shared.size() + wanted.size() == their_items;
    for (std::size_t i = 0; i < wanted.size() && lawful; ++i) {
      const auto above = std::lower_bound(shared.begin(), shared.end(), wanted[i]);
      places.push_back(static_cast<std::uint64_t>(above - shared.begin()) + i);
      lawful =
          (above == shared.end() || *above != wanted[i]) && (i == 0 || wanted[i - 1] != wanted[i]);
    }
    if (!lawful) throw error(errc::corrupt, "the peer's symbols contradict our keys");
    send(type::wanted, messages::write_places(places));
    send_lacking(table_.keys_with(offered));
    receive_keys([&](std::string key) {
      if (!std::binary_search(wanted.begin(), wanted.end(), table_.item_of(key))) {
        throw error(errc::corrupt, "the peer sent a key that was not asked for");
      }
      table_.receive(std::move(key));
    });
  }

  static std::vector<std::uint64_t> sorted(std::span<const std::uint64_t> list) {
    std::vector<std::uint64_t> copy(list.begin(), list.end());
    std::sort(copy.begin(), copy.end());
    return copy;
  }

  // ---- the end

  bool agree() {  // whether both have the same union now; both sides come to the same answer
    const messages::set_check ours{.keys = table_.size(), .sum = table_.checksum()};
    send(type::check, messages::write(ours));
    return messages::read_check(receive(type::check, messages::check_limit).payload) == ours;
  }

  reconciliation result() {
    std::sort(lacking_.begin(), lacking_.end());
    lacking_.erase(std::unique(lacking_.begin(), lacking_.end()), lacking_.end());
    reconciliation r;
    std::uint64_t bytes = table_.own_bytes();  // of the peer's keys
    for (const std::uint32_t i : lacking_) {
      r.only_here.push_back(table_.place(i));
      bytes -= table_.key(i).size();
    }
    r.only_there = table_.take_received();
    for (const std::string& key : r.only_there) bytes += key.size();
    // The sizes were the peer's word; now they can be checked.
    const std::uint64_t keys = table_.own() - r.only_here.size() + r.only_there.size();
    if (keys != theirs_.size.keys || bytes != theirs_.size.key_bytes) {
      throw error(errc::corrupt, "the peer has other keys than it said");
    }
    report_.keys_here = hello_.size.keys;
    report_.keys_there = theirs_.size.keys;
    report_.key_bytes_here = hello_.size.key_bytes;
    report_.key_bytes_there = theirs_.size.key_bytes;
    r.report = report_;
    return r;
  }

  message_channel& peer_;
  const reconcile_options options_;
  key_table table_;
  messages::hello hello_;
  messages::hello theirs_;
  reconcile_plan plan_;
  bool encoder_ = false;
  bool asked_ = false;                  // sent something since the last answer
  std::vector<std::uint32_t> lacking_;  // own keys that the peer lacked
  std::uint64_t keys_received_ = 0;
  std::uint64_t held_ = 0;  // bytes that the peer made us hold
  reconcile_report report_;
};

}  // namespace

reconciliation reconcile(message_channel& peer, std::span<const std::string_view> keys,
                         const reconcile_options& o) {
  try {
    return session(peer, keys, o).run();
  } catch (const refused&) {
    throw;
  } catch (const error& e) {
    if (e.code() != errc::io) {  // so that the other side can say why, too
      const auto why = messages::write_refusal(e.what());
      peer.send(static_cast<std::uint8_t>(type::refusal), why);
    }
    throw;
  }
}

}  // namespace bloomery

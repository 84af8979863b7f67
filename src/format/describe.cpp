#include "bloomery/format/describe.hpp"

#include <cmath>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "bloomery/filter/explanation.hpp"
#include "bloomery/format/image.hpp"
#include "bloomery/format/version_name.hpp"
#include "hexadecimal.hpp"
#include "json_text.hpp"

namespace bloomery {

namespace {

using detail::in_hexadecimal;
using detail::json_object;

// What only some filters have to tell.
void add_particulars(json_object& object, const any_filter& f) {
  const shape& s = f.shape();
  for (const fact& told : f->facts()) {
    std::visit([&](auto value) { object.add(told.name, value); }, told.value);
  }
  if (!s.shard.whole()) {
    object.add("shard", std::uint64_t{s.shard.index});
    object.add("shards", std::uint64_t{s.shard.count});
  }
  if (f.hash().form.length != 0) object.add("kmer", std::uint64_t{f.hash().form.length});
  if (f.hash().rule != key_rule::plain) object.add("keys_are", rule_name(f.hash().rule));
  if (f.hash().id == hash_id::siphash) object.add("key_id", in_hexadecimal(f.hash().key_id));
}

std::string places_text(const explanation& e) {
  std::string text;
  for (const key_place& p : e.places) {
    text += text.empty() ? "" : ",";
    text += json_object().add("position", p.position).add("value", p.value).text();
  }
  return "[" + text + "]";
}

json_object& add_numbers(json_object& object, const finding& found) {
  for (const named_number& n : found.numbers) {
    std::visit([&](const auto& value) { object.add(n.name, value); }, n.value);
  }
  return object;
}

// The items of a list stand together; what there is but one of belongs to the object itself.
void add_findings(json_object& object, const explanation& e) {
  std::vector<std::pair<std::string_view, std::string>> lists;
  const auto add = [&](const finding& found) {
    if (found.list.empty()) {
      add_numbers(object, found);
      return;
    }
    json_object item;
    const std::string text = add_numbers(item, found).text();
    for (auto& [name, items] : lists) {
      if (name != found.list) continue;
      items += "," + text;
      return;
    }
    lists.emplace_back(found.list, text);
  };
  for (const finding& found : e.findings) add(found);
  add(e.why);
  for (const auto& [name, items] : lists) object.add_text(name, "[" + items + "]");
}

}  // namespace

std::uint64_t content_name(const any_filter& f) {
  image_writer writer(f.header());
  for (const auto part : f->parts()) writer.pass(part);  // one that has grown is in several
  return writer.name();
}

std::string info_as_json(const any_filter& f, std::uint64_t file_bytes) {
  std::uint64_t words = 0;
  for (const auto part : f->parts()) words += part.size();
  json_object object;
  object.add("kind", kind_name(f.shape().kind))
      .add("keys", f.keys())
      .add("keys_planned", f.planned().keys);
  // With every bit set any number of keys is possible: then there is no estimate.
  const std::optional<double> estimated = f->keys_estimated();
  if (estimated && std::isfinite(*estimated)) {
    object.add("keys_estimated", static_cast<std::uint64_t>(std::llround(*estimated)));
  } else {
    object.add("keys_estimated", nullptr);
  }
  object.add("bits", words * 64)
      .add("bytes", file_bytes)
      .add("packed", false)
      .add("name", version_name(content_name(f)))
      .add("probes", std::uint64_t{f.shape().probes});
  if (f.planned().fpr_target > 0) {
    object.add("fpr_target", f.planned().fpr_target);
  } else {
    object.add("fpr_target", nullptr);
  }
  object.add("fpr_now", f.fpr()).add("fill", f->fill());
  if (const key_form& form = f.hash().form; form.known()) {
    object.add("form", form.type == key_type::kmers ? "k-mers" : form_name(form));
  } else {
    object.add("form", nullptr);
  }
  object.add("hash", hash_name(f.hash().id))
      .add("seed", f.hash().seed)
      .add("format_version", std::uint64_t{format_version});
  add_particulars(object, f);
  return object.text();
}

std::string explain_as_json(const any_filter& f, std::string_view key, const any_hasher& hash) {
  const explanation e = f->explain(key, hash);
  json_object object;
  object.add("kind", kind_name(f.shape().kind)).add("hash_function", hash_name(f.hash().id));
  if (makes_digests(f.hash().id)) {
    object.add("hash", nullptr);
  } else {
    std::uint64_t hashed = 0;
    hash.hash({&key, 1}, std::span<std::uint64_t>(&hashed, 1));
    object.add("hash", in_hexadecimal(hashed));
  }
  object.add("unit", e.unit)
      .add_text("places", places_text(e))
      .add("contained", f->contains(key, hash))
      .add("fpr_now", quick_fpr(f));
  add_findings(object, e);
  return object.text();
}

}  // namespace bloomery

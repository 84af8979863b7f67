#include "bloomery/hash/key_form.hpp"

namespace bloomery {

std::string form_name(const key_form& form) {
  switch (form.type) {
    case key_type::unknown: break;
    case key_type::text: return "text";
    case key_type::integers: return "integers";
    case key_type::binary: return "binary";
    case key_type::kmers: return "k-mers of " + std::to_string(form.length) + " bases";
  }
  return "of an unknown form";
}

key_form form_from_name(std::string_view name) {
  for (const key_type type : {key_type::text, key_type::integers, key_type::binary}) {
    if (name == form_name(type)) return type;
  }
  for (std::uint16_t bases = 1; bases <= max_kmer_bases; ++bases) {
    if (name == form_name({key_type::kmers, bases})) return {key_type::kmers, bases};
  }
  return {};
}

}  // namespace bloomery

// Finds the addresses, domains and URLs in a line of any text: access logs, mail logs, reports.
//
// They are recognised by their form alone: a word with a dot and an ending of letters is a domain,
// whether or not it exists. Ports, brackets and punctuation around it are dropped, the part before
// '@' is no domain, and the parts of a URL are not reported again.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bloomery/lists/address.hpp"

namespace bloomery {

enum class thing_kind : std::uint8_t { address, domain, url };

struct text_thing {
  thing_kind kind = thing_kind::address;
  std::string_view text;  // a view into the line
  ip_address address{};   // set if it is an address
};

// Appends what the line contains, in its order.
void scan_text(std::string_view line, std::vector<text_thing>& out);

}  // namespace bloomery

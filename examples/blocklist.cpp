// A block list as a filter: entries in, addresses, domains and URLs asked, and a line of a log
// looked through.
#include <bloomery/lists/blocklist.hpp>
#include <cassert>
#include <cstdio>
#include <string>
#include <vector>

namespace {

void show(const std::string& what, const std::optional<bloomery::block_entry>& entry) {
  std::printf("%-40s %s\n", what.c_str(), entry ? entry->text().c_str() : "free");
}

}  // namespace

int main() {
  bloomery::block_list_builder builder({.fpr = 1e-6});
  builder.add_range(*bloomery::ip_range::parse("10.1.0.0/16"));
  builder.add_domain("ads.example");           // with all below it
  builder.add_line("0.0.0.0 host.example");    // a line of a hosts file: this host alone
  builder.add_line("||cdn.example/banners/");  // on every host of cdn.example
  assert(builder.add_line("@@||good.example^") == bloomery::line_kind::exception);  // left out

  const bloomery::block_list list(builder.build());
  const auto address = list.check_address(*bloomery::ip_address::parse("::ffff:10.1.2.3"));
  show("::ffff:10.1.2.3", address);
  assert(address && address->text() == "10.1.0.0/16");
  const auto page = list.check_url("HTTPS://eu.cdn.example:443/a/../banners/1.gif?x");
  show("https://eu.cdn.example/banners/1.gif?x", page);
  assert(page && page->text() == ".cdn.example/banners");
  show("www.host.example", list.check_domain("www.host.example"));
  assert(!list.check_domain("www.host.example"));

  std::vector<bloomery::text_thing> things;
  bloomery::scan_text("10.9.9.9 asked www.ads.example:443 for http://h.example/", things);
  bloomery::block_batch batch(list);  // many questions at once
  for (const bloomery::text_thing& thing : things) batch.add(thing);
  batch.ask();
  for (std::size_t i = 0; i < things.size(); ++i) {
    show(std::string(things[i].text), batch.answer(i));
  }
  assert(things.size() == 3 && !batch.answer(0) && batch.answer(1) && !batch.answer(2));
}

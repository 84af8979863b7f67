#include "cli/serve/routes.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bloomery/core/sizing.hpp"
#include "bloomery/format/delta.hpp"
#include "cli/serve/key_stream.hpp"

namespace bloomery::cli {
namespace {

namespace fs = std::filesystem;

any_filter filter_of(const std::vector<std::string>& keys, const key_form& form = key_type::text) {
  any_filter f(sizing::make_plan({.kind = filter_kind::blocked, .keys = 1000, .fpr = 0.001}),
               erase(xxh3_hasher(7), form));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  f.add(views);
  return f;
}

// A folder with one filter, `words`, and the routes over it.
class routes_over_folder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::temp_directory_path() / ("routes." + std::to_string(::getpid()) + "." +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    filter_of({"apple", "pear"}).save(folder_ / "words");
    shelf_.emplace(shelf_options{
        .folder = folder_, .keep = 2, .hasher = hasher, .report = [this](const std::string& what) {
          told_ += what;
        }});
    routes_.emplace(*shelf_, route_options{}, counters_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::shared_ptr<const any_hasher> hasher(const image_header& h) {
    return erase(xxh3_hasher(h.hash.seed), h.hash.form);
  }

  http_reply ask(http_request q, std::string_view body = {}, std::size_t piece = 1000) {
    if (q.method.empty()) q.method = "GET";
    http_plan plan = routes_->answer(q);
    std::string out;
    if (plan.body) {
      try {
        for (; !body.empty(); body.remove_prefix(std::min(piece, body.size()))) {
          plan.body->feed(body.substr(0, piece), out);
        }
        if (auto next = plan.body->finish(out)) return next->work();
      } catch (const std::exception& e) {
        return routes::failed(e);
      }
      plan.reply.body = out;
    }
    return plan.work ? plan.work() : std::move(plan.reply);
  }

  fs::path folder_;
  std::string told_;
  serve_counters counters_;
  std::optional<shelf> shelf_;
  std::optional<routes> routes_;
};

TEST_F(routes_over_folder, refusals_count_for_their_route) {
  const auto route_of = [&](std::string_view target, std::string_view method) {
    http_request q{.target = std::string(target)};
    q.method = method;
    return routes_->answer(q).route;
  };
  EXPECT_EQ(route_of("/filters/words/add", "POST"), http_route::add);     // 403
  EXPECT_EQ(route_of("/filters/words/check", "GET"), http_route::check);  // 400: no key
  EXPECT_EQ(route_of("/filters/words/delta", "GET"), http_route::delta);
  EXPECT_EQ(route_of("/filters/none", "GET"), http_route::filter);
  EXPECT_EQ(route_of("/filters/words", "PUT"), http_route::filter);
  EXPECT_EQ(route_of("/metrics", "POST"), http_route::metrics);
  EXPECT_EQ(route_of("/filters/words/other", "GET"), http_route::other);
}

TEST_F(routes_over_folder, answers_do_not_depend_on_the_pieces) {
  const std::string lines = "apple\nplum\n\npear";
  for (std::size_t piece = 1; piece < 20; ++piece) {
    EXPECT_EQ(ask({.method = "POST", .target = "/filters/words/check"}, lines, piece).body,
              "apple\npear\n");
    EXPECT_EQ(
        ask({.method = "POST", .target = "/filters/words/check?annotate=1"}, lines, piece).body,
        "+\tapple\n-\tplum\n-\t\n+\tpear\n");
    EXPECT_EQ(ask({.method = "POST",
                   .target = "/filters/words/check",
                   .accept = "application/octet-stream"},
                  lines, piece)
                  .body,
              std::string("\x09"));
    EXPECT_EQ(ask({.method = "POST",
                   .target = "/filters/words/check",
                   .content_type = "application/json; charset=utf-8"},
                  R"( ["appl\u0065", "x\n\ud83c\udf4e" , "pear"] )", piece)
                  .body,
              "{\"answers\":[true,false,true],\"keys\":3,\"found\":2}\n");
  }
  EXPECT_EQ(counters_.keys_asked, 19U * 15);
}

TEST_F(routes_over_folder, bodies_that_are_no_keys) {
  for (const char* bad :
       {"", "[", "[1]", "{\"a\":1}", "[\"a\"", "[\"a\",]", "[\"a\"]x", "[\"\\ud800\"]",
        "[\"\\udc00\"]", "[\"\\x\"]", "[\"a\nb\"]", "[null]", "[,]", "[\"a\" \"b\"]"}) {
    EXPECT_EQ(ask({.method = "POST",
                   .target = "/filters/words/check",
                   .content_type = "application/json"},
                  bad)
                  .status,
              400U)
        << bad;
  }
  const std::string long_line(longest_http_key + 1, 'x');
  EXPECT_EQ(ask({.method = "POST", .target = "/filters/words/check"}, long_line).status, 413U);
}

TEST_F(routes_over_folder, keys_have_the_form_of_the_filter) {
  const std::uint64_t number = detail::little_endian(std::uint64_t{42});
  filter_of({std::string(reinterpret_cast<const char*>(&number), 8)}, key_type::integers)
      .save(folder_ / "numbers");
  filter_of({"\x01\xff"}, key_type::binary).save(folder_ / "digests");
  shelf_->scan();
  EXPECT_EQ(ask({.target = "/filters/numbers/check?key=42"}).body, "{\"found\":true}\n");
  EXPECT_EQ(ask({.target = "/filters/numbers/check?key=43"}).body, "{\"found\":false}\n");
  EXPECT_EQ(ask({.target = "/filters/numbers/check?key=x"}).status, 400U);
  EXPECT_EQ(ask({.target = "/filters/digests/check?key=01FF"}).body, "{\"found\":true}\n");
  EXPECT_EQ(ask({.method = "POST", .target = "/filters/numbers/check"}, "7\n42\n").body, "42\n");
  EXPECT_EQ(ask({.method = "POST",
                 .target = "/filters/numbers/check",
                 .content_type = "application/json"},
                "[42,-1,\"0x2a\"]")
                .body,
            "{\"answers\":[true,false,true],\"keys\":3,\"found\":2}\n");
  const http_reply bad = ask({.method = "POST", .target = "/filters/numbers/check"}, "7\n\nx\n");
  EXPECT_EQ(bad.status, 400U);
  EXPECT_EQ(bad.body, "{\"error\":\"line:2: not a whole number\"}\n");
}

TEST_F(routes_over_folder, versions_lead_to_the_present_one) {
  const auto tag = [&] { return shelf_->state()->at("words").now->name; };
  const auto delta = [&](const std::string& from) {
    return ask({.target = "/filters/words/delta?from=" + from});
  };
  std::vector<std::string> keys = {"apple", "pear"};
  const any_filter first = any_filter::load(folder_ / "words");
  std::vector<std::string> tags = {tag()};
  EXPECT_EQ(delta(tag()).status, 204U);
  for (int i = 0; i < 3; ++i) {
    keys.push_back("more" + std::to_string(i));
    filter_of(keys).save(folder_ / "words");
    shelf_->scan();
    tags.push_back(tag());
    if (i == 1) {
      const http_reply r = delta('"' + tags[0] + '"');
      ASSERT_EQ(r.status, 200U);
      const unpacked_filter now = patch(first.version(), r.bytes);
      EXPECT_TRUE(std::ranges::equal(now.words.words(), filter_of(keys).words()));
      EXPECT_NE(r.fields.find("Bloomery-Version: " + tag()), std::string::npos);
    }
  }
  // Two before the present one are kept.
  EXPECT_EQ(delta(tags[0]).status, 303U);
  EXPECT_EQ(delta(tags[1]).status, 200U);
  EXPECT_EQ(delta("0123").status, 400U);
  EXPECT_EQ(ask({.target = "/filters/words/delta"}).status, 400U);
  // Back to a version that is kept: it is one again, and not twice.
  filter_of({"apple", "pear", "more0", "more1"}).save(folder_ / "words");
  shelf_->scan();
  EXPECT_EQ(tag(), tags[2]);
  EXPECT_EQ(delta(tags[3]).status, 200U);
  EXPECT_EQ(delta(tags[2]).status, 204U);
}

TEST_F(routes_over_folder, the_oldest_versions_of_all_filters_go_first) {
  const std::uint64_t each = fs::file_size(folder_ / "words");
  shelf bounded({.folder = folder_, .keep_bytes = 2 * each, .hasher = hasher});
  std::vector<std::string> keys = {"apple", "pear"};
  std::vector<std::string> names;
  const auto change = [&](const char* name) {
    keys.push_back("more" + std::to_string(keys.size()));
    filter_of(keys).save(folder_ / name);
    bounded.scan();
    names.push_back(bounded.state()->at(name).now->name);
  };
  for (int i = 0; i < 4; ++i) change("words");
  const auto kept = [&](const char* name) { return bounded.state()->at(name).before; };
  ASSERT_EQ(kept("words").size(), 2U);
  EXPECT_EQ(kept("words")[0]->name, names[2]);
  EXPECT_EQ(kept("words")[1]->name, names[1]);
  EXPECT_EQ(bounded.state()->at("words").find(names[0]), nullptr);
  // Another filter takes of the same bytes.
  for (int i = 0; i < 3; ++i) change("hosts");
  EXPECT_EQ(kept("words").size() + kept("hosts").size(), 2U);
  shelf none({.folder = folder_, .keep_bytes = each - 1, .hasher = hasher});
  filter_of({"plum"}).save(folder_ / "words");
  none.scan();
  EXPECT_TRUE(none.state()->at("words").before.empty());
}

TEST_F(routes_over_folder, who_holds_a_version_keeps_it) {
  const auto before = shelf_->state();
  const std::vector<std::byte> bytes(before->at("words").now->bytes().begin(),
                                     before->at("words").now->bytes().end());
  filter_of({"other"}).save(folder_ / "words");
  shelf_->scan();
  fs::remove(folder_ / "words");
  shelf_->scan();
  EXPECT_EQ(ask({.target = "/filters/words"}).status, 404U);
  EXPECT_TRUE(std::ranges::equal(before->at("words").now->bytes(), bytes));
  EXPECT_TRUE(before->at("words").now->filter.contains("apple"));
}

TEST_F(routes_over_folder, damage_is_left_out_and_told_once) {
  filter_of({"x"}).save(folder_ / "new");
  {
    std::fstream file(folder_ / "new", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(300);
    file.put('!');
  }
  std::ofstream(folder_ / "notes.txt") << "no filter";
  std::ofstream(folder_ / ".hidden") << "BLOOMERY";
  shelf_->scan();
  shelf_->scan();
  EXPECT_EQ(shelf_->damaged(), 1U);
  EXPECT_EQ(shelf_->state()->size(), 1U);
  EXPECT_NE(told_.find("new: "), std::string::npos) << told_;
  EXPECT_EQ(told_.find("/proc"), std::string::npos) << told_;
  for (const char* target : {"/filters/new", "/filters/notes.txt", "/filters/none"}) {
    EXPECT_EQ(ask({.target = target}).status, 404U) << target;
  }
  for (const char* target :
       {"/filters/.hidden", "/filters/%2e%2e", "/filters/a%2fb", "/filters/a%00"}) {
    EXPECT_EQ(ask({.target = target}).status, 400U) << target;
  }
}

TEST_F(routes_over_folder, what_it_tells_is_utf8_whatever_the_names_are) {
  filter_of({"plum"}).save(folder_ / "\xff.bloom");
  shelf_->scan();
  const std::string name = "\xef\xbf\xbd.bloom";
  const std::string metrics = ask({.target = "/metrics"}).body;
  EXPECT_NE(metrics.find("filter_keys{name=\"" + name + "\"} 1\n"), std::string::npos) << metrics;
  EXPECT_EQ(metrics.find('\xff'), std::string::npos);
  const nlohmann::json list = nlohmann::json::parse(ask({.target = "/filters"}).body);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["name"], "words");
  EXPECT_EQ(list[0]["version"], shelf_->state()->at("words").now->name);
  EXPECT_EQ(list[1]["name"], name);
  EXPECT_EQ(ask({.target = "/filters/%ff.bloom/check?key=plum"}).body, "{\"found\":true}\n");
}

TEST(made_once, for_all_who_ask) {
  made_forms made(10);
  int calls = 0;
  const auto five = [&] {
    ++calls;
    return std::vector<std::byte>(5);
  };
  EXPECT_EQ(made.find("a"), nullptr);
  made.get("a", five);
  made.get("b", five);
  made.get("a", five);
  EXPECT_EQ(calls, 2);
  made.get("c", five);  // b was used last
  EXPECT_EQ(made.find("b"), nullptr);
  EXPECT_NE(made.find("a"), nullptr);
  EXPECT_EQ(made.bytes(), 10U);
  EXPECT_THROW(made.get("d", []() -> std::vector<std::byte> { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(made.get("d", five)->size(), 5U);
  EXPECT_EQ(made.get("large", [] { return std::vector<std::byte>(11); })->size(), 11U);
  EXPECT_EQ(made.find("large"), nullptr);
}

}  // namespace
}  // namespace bloomery::cli

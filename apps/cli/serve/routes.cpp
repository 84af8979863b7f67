#include "cli/serve/routes.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/core/kinds.hpp"
#include "bloomery/exchange/publication.hpp"
#include "bloomery/format/delta.hpp"
#include "bloomery/format/version_name.hpp"
#include "cli/serve/check_body.hpp"
#include "cli/serve/key_stream.hpp"
#include "cli/serve/site_files.hpp"

namespace bloomery::cli {

namespace {

constexpr std::string_view squid_path = "/squid-internal-periodic/store_digest";
constexpr std::string_view digests_path = "/digests/";
constexpr std::string_view json_type = "application/json";
constexpr std::string_view text_type = "text/plain";
constexpr std::string_view bits_type = "application/octet-stream";

http_plan with(http_route route, http_reply reply) {
  return {.route = route, .reply = std::move(reply)};
}

http_reply text_reply(std::string_view type, std::string body) {
  http_reply r;
  r.type = type;
  r.body = std::move(body);
  return r;
}

void allow(const http_request& q, std::string_view method) {
  if (q.method == method || (q.method == "HEAD" && method == "GET")) return;
  throw http_error(405, fmt::format("only {} goes here", method),
                   fmt::format("Allow: {}\r\n", method == "GET" ? "GET, HEAD" : method));
}

void check_token(const http_request& q, const std::string& token) {
  constexpr std::string_view scheme = "Bearer ";
  const std::string_view given = q.authorization;
  const bool bearer =
      given.size() >= scheme.size() && same_word(given.substr(0, scheme.size()), scheme);
  if (bearer && same_secret(given.substr(scheme.size()), token)) return;
  throw http_error(401, "this needs a token: Authorization: Bearer TOKEN",
                   "WWW-Authenticate: Bearer\r\n");
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out.push_back(c);
    }
  }
  return out;
}

std::string packed_name(const std::string& name, const shelf_version& v) {
  return fmt::format("packed/{}/{}", v.name, name);
}

void must_answer(const shelf_version& v) {
  if (!v.refusal.empty()) throw http_error(409, v.refusal);
}

// Packed keys would be taken for other keys.
void must_be_plain(const http_request& q) {
  if (q.content_encoding.empty() || same_word(q.content_encoding, "identity")) return;
  throw http_error(415, "bodies are taken as they are: send them without Content-Encoding");
}

bool is_on(std::string_view query, std::string_view name) {
  const auto value = query_value(query, name);
  if (!value || *value == "0") return false;
  if (*value == "1") return true;
  throw http_error(400, fmt::format("{} is 0 or 1", name));
}

std::string dumped(const nlohmann::json& object) {
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// As with_names has it: what happened to a file is said of its name, not of its path here.
std::string without_folder(std::string what, const std::string& folder) {
  const std::string prefix = folder + "/";
  for (std::size_t at = 0; (at = what.find(prefix, at)) != std::string::npos;) {
    what.erase(at, prefix.size());
  }
  return what;
}

// Of NAME/verb.
http_route route_of_verb(std::string_view rest) {
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return http_route::filter;
  const std::string_view verb = rest.substr(slash + 1);
  return verb == "delta"   ? http_route::delta
         : verb == "check" ? http_route::check
         : verb == "add"   ? http_route::add
                           : http_route::other;
}

constexpr std::string_view http_scheme = "http://";

// Proxies name the host in the target, also where they want a digest.
std::string_view without_host(std::string_view target) {
  if (target.starts_with(http_scheme)) {
    const std::size_t slash = target.find('/', http_scheme.size());
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  if (!target.starts_with('/')) throw http_error(400, "the target of a request begins with /");
  return target;
}

}  // namespace

routes::routes(shelf& filters, route_options o, serve_counters& counters)
    : filters_(&filters),
      options_(std::move(o)),
      counters_(&counters),
      made_(options_.cache_bytes) {}

http_reply routes::failed(const std::exception& e) {
  if (const auto* http = dynamic_cast<const http_error*>(&e)) return error_reply(*http);
  if (const auto* ours = dynamic_cast<const error*>(&e)) {
    switch (ours->code()) {
      case errc::mismatch:
      case errc::unsupported: return error_reply(409, e.what());
      case errc::no_memory: return error_reply(507, e.what());
      default: return error_reply(500, e.what());
    }
  }
  return error_reply(500, "the server failed at this");
}

http_plan routes::answer(const http_request& q) {
  http_route route = http_route::other;
  try {
    return dispatch(q, route);
  } catch (const std::bad_alloc&) {
    return with(route, error_reply(507, "out of memory"));
  } catch (const std::exception& e) {
    return with(route, failed(e));
  }
}

// `route` is set before anything on it can fail, so that refusals are counted where they belong.
http_plan routes::dispatch(const http_request& q, http_route& route) {
  const bool absolute = q.target.starts_with(http_scheme);
  const auto [path, query] = split_target(without_host(q.target));
  if (path == squid_path || path.starts_with(digests_path)) {
    route = http_route::digest;
    allow(q, "GET");
    return digest(path);
  }
  if (absolute && !options_.mirrors.empty()) {
    route = http_route::mirror;
    return from_mirror(q);
  }
  if (path == "/healthz") {
    route = http_route::health;
    allow(q, "GET");
    return with(http_route::health, text_reply(text_type, "ok\n"));
  }
  constexpr std::string_view filters = "/filters";
  const bool lists = path == filters || path == "/filters/";
  route = path == "/metrics"               ? http_route::metrics
          : lists                          ? http_route::list
          : !path.starts_with("/filters/") ? http_route::page
                                           : route_of_verb(path.substr(filters.size() + 1));
  if (!options_.read_token.empty() &&
      !(options_.writable && same_word(q.method, "POST") && path.ends_with("/add"))) {
    check_token(q, options_.read_token);
  }
  if (path == "/metrics") {
    allow(q, "GET");
    return with(http_route::metrics, text_reply("text/plain; version=0.0.4; charset=utf-8",
                                                metrics_text(*counters_, *filters_, made_)));
  }
  if (lists) {
    allow(q, "GET");
    return with(http_route::list, text_reply(json_type, list_json()));
  }
  if (path.starts_with("/filters/")) {
    return of_filter(q, path.substr(filters.size() + 1), query);
  }
  allow(q, "GET");
  return from_page(q, path);
}

http_plan routes::digest(std::string_view path) const {
  const bool first = path == squid_path;
  const std::string name = first ? "" : percent_decoded(path.substr(digests_path.size()));
  for (const auto& [known, file] : options_.digests) {
    if (first || known == name) return with(http_route::digest, digest_reply(file));
  }
  throw http_error(404, "there is no such cache digest");
}

http_plan routes::from_page(const http_request& q, std::string_view path) const {
  if (!options_.page.empty()) {
    auto found = page_file(options_.page, percent_decoded(path), q);
    if (found) return with(http_route::page, *std::move(found));
  } else if (path == "/") {
    return with(http_route::page, listing());
  }
  throw http_error(404, "there is nothing here; /filters lists what there is");
}

http_plan routes::from_mirror(const http_request& q) const {
  // A sibling has it or not. What a digest promises wrongly is 504, and Squid goes elsewhere.
  if (q.method == "GET" || q.method == "HEAD") {
    for (const auto& [base, folder] : options_.mirrors) {
      if (!q.target.starts_with(base)) continue;
      const std::string_view rest = std::string_view(q.target).substr(base.size());
      if (rest.find_first_of("?#") != std::string_view::npos) continue;
      auto found = file_below(folder, percent_decoded(rest));
      if (found) return with(http_route::mirror, *std::move(found));
    }
  }
  return with(http_route::mirror, error_reply(504, "it is not in this cache"));
}

std::string routes::list_json() const {
  std::vector<listed_filter> rows;
  const auto state = filters_->state();
  for (const auto& [name, f] : *state) {
    listed_filter row{.name = name,
                      .header = f.now->filter.header(),
                      .bytes = f.now->bytes().size(),
                      .version = parse_version_name(f.now->name).value_or(0),
                      .packed_bytes = std::nullopt};
    const made_bytes packed = made_.find(packed_name(name, *f.now));
    if (packed) row.packed_bytes = packed->size();
    rows.push_back(std::move(row));
  }
  return listing_text(rows);
}

http_reply routes::listing() const {
  std::string rows;
  const auto state = filters_->state();
  for (const auto& [name, f] : *state) {
    rows += fmt::format(
        "<tr><td><a href=\"/filters/{}\">{}</a></td><td>{}</td><td>{}</td><td>{}</td>"
        "<td><code>{}</code></td></tr>\n",
        percent_encoded(name), html_text(name), kind_name(f.now->filter.shape().kind),
        f.now->filter.keys(), f.now->bytes().size(), f.now->name);
  }
  http_reply r = text_reply("text/html; charset=utf-8", "");
  r.add("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
  r.body = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><title>Filters</title>"
      "<style>body{{font-family:sans-serif}}td,th{{padding:0 1em;text-align:left}}</style></head>\n"
      "<body><h1>Filters</h1>\n<table><tr><th>name</th><th>kind</th><th>keys</th><th>bytes</th>"
      "<th>version</th></tr>\n{}</table>\n<p><a href=\"/filters\">as JSON</a></p></body></html>\n",
      rows);
  return r;
}

http_plan routes::of_filter(const http_request& q, std::string_view rest, std::string_view query) {
  const std::size_t slash = rest.find('/');
  const std::string name = percent_decoded(rest.substr(0, slash));
  if (!is_served_name(name)) throw http_error(400, "no filter has such a name");
  const std::string_view verb = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  const auto state = filters_->state();
  const auto at = state->find(name);
  if (at == state->end()) throw http_error(404, fmt::format("there is no filter {}", name));
  const shelf_filter& f = at->second;
  if (slash == std::string_view::npos) {
    allow(q, "GET");
    return image(q, name, f);
  }
  if (verb == "delta") {
    allow(q, "GET");
    return delta(name, f, query);
  }
  if (verb == "check")
    return q.method == "POST" ? check_many(q, f, query) : (allow(q, "GET"), check_one(f, query));
  if (verb == "add") {
    allow(q, "POST");
    return add(q, name, f);
  }
  throw http_error(404, "a filter has delta, check and add");
}

http_plan routes::image(const http_request& q, const std::string& name, const shelf_filter& f) {
  const version_ptr& v = f.now;
  const auto finish = [](http_reply r) {
    r.add("Vary", "Accept");
    return r;
  };
  const auto wanted = preferred_type(q.accept, {filter_media_type, bits_type, packed_media_type});
  if (!wanted) {
    throw http_error(406, fmt::format("there are {} and {}", filter_media_type, packed_media_type));
  }
  if (*wanted != 2) {
    return with(http_route::filter, finish(tagged_reply(q, fmt::format("\"{}\"", v->name),
                                                        filter_media_type, v->bytes(), v)));
  }
  const std::string etag = fmt::format("\"{}-packed\"", v->name);
  const auto answer_with = [finish, etag](const http_request& asked, const made_bytes& packed) {
    return finish(tagged_reply(asked, etag, packed_media_type, *packed, packed));
  };
  const std::string key = packed_name(name, *v);
  if (matches_etag(q.if_none_match, etag)) {
    return with(http_route::filter, finish(tagged_reply(q, etag, packed_media_type, {}, nullptr)));
  }
  if (const made_bytes there = made_.find(key)) {
    return with(http_route::filter, answer_with(q, there));
  }
  http_plan plan;
  plan.route = http_route::filter;
  plan.work = [this, q, v, key, answer_with] {
    return answer_with(q,
                       made_.get(key, [&] { return pack(v->filter.header(), v->filter.words()); }));
  };
  return plan;
}

namespace {

// With the quotation marks of an ETag or without.
std::string version_asked_from(std::string_view query) {
  auto from = query_value(query, "from");
  if (!from) throw http_error(400, "from which version? delta?from=VERSION");
  if (from->size() >= 2 && from->starts_with('"') && from->ends_with('"')) {
    from = from->substr(1, from->size() - 2);
  }
  if (!parse_version_name(*from)) {
    throw http_error(400, "a version is 16 hexadecimal digits, as in the ETag of a filter");
  }
  return *std::move(from);
}

}  // namespace

http_plan routes::delta(const std::string& name, const shelf_filter& f, std::string_view query) {
  const std::string from = version_asked_from(query);
  const auto to_whole = [location = "/filters/" + percent_encoded(name)] {
    http_reply r = error_reply(303, "there is no delta from that version; take the whole");
    r.add("Location", location);
    return r;
  };
  const version_ptr to = f.now;
  const version_ptr old = f.find(from);
  if (old == nullptr) return with(http_route::delta, to_whole());
  const auto answer_with = [to, to_whole](const made_bytes& made) {
    if (made->empty()) return to_whole();
    http_reply r;
    r.type = delta_media_type;
    r.bytes = *made;
    r.owner = made;
    r.add("Bloomery-Version", to->name);
    r.add("Cache-Control", "no-cache");
    return r;
  };
  if (old == to || old->name == to->name) {
    http_reply r;
    r.status = 204;
    r.add("Bloomery-Version", to->name);
    return with(http_route::delta, std::move(r));
  }
  const std::string key = fmt::format("delta/{}/{}/{}", old->name, to->name, name);
  if (const made_bytes there = made_.find(key)) return with(http_route::delta, answer_with(there));
  http_plan plan;
  plan.route = http_route::delta;
  plan.work = [this, old, to, key, answer_with] {
    return answer_with(made_.get(key, [&] {
      std::vector<std::byte> made = diff(old->filter.version(), to->filter.version());
      // The whole, packed, has an address of its own where it is kept for all.
      if (describe_delta(made).whole) made.clear();
      return made;
    }));
  };
  return plan;
}

http_plan routes::check_one(const shelf_filter& f, std::string_view query) {
  const auto spelled = query_value(query, "key");
  if (!spelled) throw http_error(400, "which key? check?key=KEY, or POST many");
  if (spelled->size() > longest_http_key) throw http_error(413, "the key is too long");
  const shelf_version& v = *f.now;
  must_answer(v);
  bool found = false;
  const key_form form = v.filter.hash().form;
  if (form.type == key_type::text || !form.known()) {
    found = v.filter.contains(*spelled);
  } else {
    try {
      found = v.filter.contains(spelled_key(*spelled, options_of_form(form)));
    } catch (const error& e) {
      throw http_error(400, e.what());
    }
  }
  ++counters_->keys_asked;
  counters_->keys_found += found ? 1U : 0U;
  return with(http_route::check,
              text_reply(json_type, found ? "{\"found\":true}\n" : "{\"found\":false}\n"));
}

http_plan routes::check_many(const http_request& q, const shelf_filter& f, std::string_view query) {
  must_answer(*f.now);
  must_be_plain(q);
  const bool json = same_word(media_type(q.content_type), json_type);
  const auto wanted = json ? preferred_type(q.accept, {json_type, text_type, bits_type})
                           : preferred_type(q.accept, {text_type, json_type, bits_type});
  if (!wanted) throw http_error(406, "answers are text/plain, application/json or octet-stream");
  const std::size_t which = *wanted;
  const answer_form form = which == 2                 ? answer_form::bitmap
                           : (which == 0) == json     ? answer_form::json
                           : is_on(query, "annotate") ? answer_form::annotated
                                                      : answer_form::found;
  const key_form keys = f.now->filter.hash().form;
  http_plan plan;
  plan.route = http_route::check;
  plan.reply.type = form == answer_form::bitmap ? bits_type
                    : form == answer_form::json ? json_type
                                                : text_type;
  plan.reply.add("Bloomery-Version", f.now->name);
  plan.body = make_check_body(f.now, json ? make_json_stream(keys) : make_line_stream(keys), form,
                              *counters_);
  return plan;
}

http_plan routes::add(const http_request& q, const std::string& name, const shelf_filter& f) {
  if (!options_.writable) throw http_error(403, "this server adds nothing; see --writable");
  check_token(q, options_.write_token);
  must_answer(*f.now);
  must_be_plain(q);
  if (!abilities_of(f.now->filter.shape().kind).add) {
    throw http_error(
        409, fmt::format("a {} filter takes no more keys", kind_name(f.now->filter.shape().kind)));
  }
  const bool json = same_word(media_type(q.content_type), json_type);
  const key_form form = f.now->filter.hash().form;
  const auto work = [this, name, form](const std::vector<std::string_view>& keys) {
    try {
      if (!keys.empty()) options_.add(filters_->folder() + "/" + name, form, keys);
    } catch (const error& e) {
      throw error(e.code(), without_folder(e.what(), filters_->folder()));
    }
    counters_->keys_added += keys.size();
    filters_->scan();  // so that who adds a key and asks for it finds it
    const auto state = filters_->state();
    const auto at = state->find(name);
    nlohmann::json object = {{"added", keys.size()}};
    if (at != state->end()) {
      const any_filter& now = at->second.now->filter;
      object["keys"] = now.keys();
      object["fpr_target"] = now.planned().fpr_target;
      object["fpr_now"] = now.fpr();
      object["version"] = at->second.now->name;
    }
    return text_reply(json_type, dumped(object));
  };
  http_plan plan;
  plan.route = http_route::add;
  plan.body = make_add_body(json ? make_json_stream(form) : make_line_stream(form),
                            options_.most_add_bytes, work);
  return plan;
}

}  // namespace bloomery::cli

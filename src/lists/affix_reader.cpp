// Reads NAME.aff, line by line.
#include <algorithm>
#include <charconv>

#include "bloomery/core/error.hpp"
#include "bloomery/lists/affix.hpp"
#include "characters.hpp"
#include "numbered_lines.hpp"

namespace bloomery {

namespace {

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), out);
  return wrong == std::errc{} && end == text.data() + text.size();
}

// Messages quote words of the file, which may be of any length.
std::string quoted(std::string_view text) { return "'" + std::string(text.substr(0, 40)) + "'"; }

}  // namespace

class affix_reader {
 public:
  affix_reader(affix_rules& out, std::string_view aff, const std::string& name)
      : out_(out), lines_(aff, name) {}

  void read() {
    while (lines_.next()) {
      fields_ = detail::fields_of(lines_.line());
      if (fields_.empty() || fields_[0].starts_with('#')) continue;
      try {
        take_line();
      } catch (const std::invalid_argument& e) {
        lines_.fail(errc::corrupt, e.what());
      }
    }
    if (entries_left_ > 0) {
      lines_.fail(errc::corrupt, "the file ends, but " + std::to_string(entries_left_) +
                                     " lines of the last affix are missing");
    }
  }

 private:
  using affix = affix_rules::affix;
  using flag = affix_rules::flag;

  [[noreturn]] static void fail(const std::string& what) { throw std::invalid_argument(what); }

  void take_line() {
    const std::string_view option = fields_[0];
    if (option == "SFX" || option == "PFX") return take_affix(option == "SFX");
    if (option == "FLAG") return take_form();
    if (option == "AF") return take_alias();
    if (option == "FULLSTRIP") out_.full_strip_ = true;
    if (option == "CHECKSHARPS") out_.sharps_ = true;
    if (option == "TRY") out_.letters_ = field(1);
    if (option == "COMPLEXPREFIXES") {
      lines_.fail(errc::unsupported, "COMPLEXPREFIXES: two prefixes on a word are not supported");
    }
    take_special_flag(option);
  }

  void take_special_flag(std::string_view option) {
    struct special {
      std::string_view option;
      flag affix_rules::*where;
    };
    static constexpr special all[] = {
        {"NEEDAFFIX", &affix_rules::need_affix_},
        {"PSEUDOROOT", &affix_rules::need_affix_},
        {"CIRCUMFIX", &affix_rules::circumfix_},
        {"FORBIDDENWORD", &affix_rules::forbidden_},
        {"KEEPCASE", &affix_rules::keep_case_},
        {"NOSUGGEST", &affix_rules::no_suggestion_},
        {"ONLYINCOMPOUND", &affix_rules::only_in_compound_},
    };
    for (const special& s : all) {
      if (s.option == option) out_.*s.where = one_flag(field(1));
    }
  }

  std::string_view field(std::size_t i) const {
    if (i >= fields_.size()) fail(std::string(fields_[0]) + " lacks a field");
    return fields_[i];
  }

  flag one_flag(std::string_view text) const {
    const affix_rules::flag_set flags = raw_flags(text);
    if (flags.size() != 1) fail(quoted(text) + " is not one flag");
    return flags[0];
  }

  // Parses flags without looking for aliases (AF): a flag by itself is never an alias.
  affix_rules::flag_set raw_flags(std::string_view text) const {
    affix_rules plain;
    plain.form_ = out_.form_;
    return plain.parse_flags(text);
  }

  void take_form() {
    const std::string_view form = field(1);
    if (form == "long") {
      out_.form_ = affix_rules::flag_form::pair;
    } else if (form == "num") {
      out_.form_ = affix_rules::flag_form::number;
    } else if (form != "UTF-8") {
      fail("FLAG is " + quoted(form) + ", but must be long, num or UTF-8");
    }
  }

  void take_alias() {
    if (!alias_seen_) {  // the first line says how many follow
      alias_seen_ = true;
      return;
    }
    out_.aliases_.push_back(raw_flags(field(1)));
  }

  void take_affix(bool suffix) {
    const flag name = one_flag(field(1));
    auto& list = (suffix ? out_.suffixes_ : out_.prefixes_)[name];
    if (entries_left_ == 0) {
      if (field(2) != "Y" && field(2) != "N")
        fail("the cross product is " + quoted(field(2)) + ", but must be Y or N");
      if (!read_number(field(3), entries_left_)) fail(quoted(field(3)) + " is no number of lines");
      crosses_ = field(2) == "Y";
      open_ = name;
      return;
    }
    if (name != open_)
      fail(std::to_string(entries_left_) + " lines of another flag were to come first");
    --entries_left_;
    list.push_back(entry(name));
  }

  affix entry(flag name) const {
    affix a;
    a.name = name;
    a.crosses = crosses_;
    a.strip = characters(field(2));
    std::string_view append = field(3);
    const std::size_t slash = append.find('/');
    if (slash != std::string_view::npos) a.flags = out_.parse_flags(append.substr(slash + 1));
    a.append = characters(append.substr(0, slash));
    if (fields_.size() > 4) a.condition = condition(fields_[4]);
    return a;
  }

  static std::u32string characters(std::string_view text) {
    return text == "0" ? std::u32string() : detail::to_characters(text);
  }

  static std::vector<affix_rules::place> condition(std::string_view text) {
    std::vector<affix_rules::place> places;
    if (text == ".") return places;
    const std::u32string all = detail::to_characters(text);
    for (std::size_t i = 0; i < all.size(); ++i) {
      affix_rules::place p;
      if (all[i] == U'[') {
        const std::size_t end = all.find(U']', i);
        if (end == std::u32string::npos) fail("the condition " + quoted(text) + " lacks a ]");
        p.negated = all[i + 1] == U'^';
        const std::size_t begin = i + (p.negated ? 2 : 1);
        p.characters = all.substr(begin, end - begin);
        i = end;
      } else if (all[i] == U'.') {
        p.negated = true;  // not in the empty set: any character
      } else {
        p.characters = all[i];
      }
      places.push_back(std::move(p));
    }
    return places;
  }

  affix_rules& out_;
  detail::numbered_lines lines_;
  std::vector<std::string_view> fields_;
  std::uint32_t entries_left_ = 0;  // entries that must follow the last header of an affix
  flag open_ = 0;
  bool crosses_ = false;
  bool alias_seen_ = false;
};

affix_rules::affix_rules(std::string_view aff, const std::string& name) {
  affix_reader(*this, aff, name).read();
}

std::string affix_rules::encoding_of(std::string_view aff) {
  const std::string name;
  for (detail::numbered_lines lines(aff, name); lines.next();) {
    const std::vector<std::string_view> fields = detail::fields_of(lines.line());
    if (fields.size() > 1 && fields[0] == "SET") return std::string(fields[1]);
  }
  return "ISO8859-1";
}

// The flags, sorted. Throws std::invalid_argument, because only the caller knows the line.
affix_rules::flag_set affix_rules::parse_flags(std::string_view text) const {
  flag_set flags;
  if (!aliases_.empty()) {
    std::size_t number = 0;
    if (!read_number(text, number) || number == 0 || number > aliases_.size()) {
      throw std::invalid_argument(quoted(text) + " is none of the " +
                                  std::to_string(aliases_.size()) + " aliases of flags");
    }
    return aliases_[number - 1];
  }
  if (form_ == flag_form::number) {
    while (!text.empty()) {
      const std::size_t comma = std::min(text.find(','), text.size());
      std::uint32_t number = 0;
      if (!read_number(text.substr(0, comma), number))
        throw std::invalid_argument(quoted(text) + " is no list of numbers of flags");
      flags.push_back(number);
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
  } else {
    const std::u32string characters = detail::to_characters(text);
    const std::size_t step = form_ == flag_form::pair ? 2 : 1;
    if (characters.size() % step != 0)
      throw std::invalid_argument(quoted(text) + " is no list of flags of two characters");
    for (std::size_t i = 0; i < characters.size(); i += step) {
      flags.push_back(step == 1 ? flag{characters[i]}
                                : flag{characters[i]} << 32U | characters[i + 1]);
    }
  }
  std::sort(flags.begin(), flags.end());
  flags.erase(std::unique(flags.begin(), flags.end()), flags.end());
  return flags;
}

}  // namespace bloomery

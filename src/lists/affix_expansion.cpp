// Reads NAME.dic: each stem with its flags, and the forms that affixes make from it.
#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/secret_hasher.hpp"
#include "bloomery/lists/affix.hpp"
#include "characters.hpp"
#include "numbered_lines.hpp"

namespace bloomery {

namespace {

// The line without remarks on morphology: from a tab, or a blank, two letters and a colon.
std::string_view without_remarks(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t') return line.substr(0, i);
    if (line[i] == ' ' && i + 3 < line.size() && line[i + 3] == ':') return line.substr(0, i);
  }
  return line;
}

struct stem {
  std::string word;
  std::string_view flags;
};

// A slash begins the flags, unless a backslash stands before it or it is the first character.
stem split_stem(std::string_view line) {
  line = without_remarks(line);
  while (line.ends_with(' ')) line.remove_suffix(1);
  stem s;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '/') {
      s.word.push_back('/');
      ++i;
    } else if (line[i] == '/' && i > 0) {
      s.flags = line.substr(i + 1);
      break;
    } else {
      s.word.push_back(line[i]);
    }
  }
  return s;
}

}  // namespace

class affix_expansion {
 public:
  affix_expansion(const affix_rules& rules, std::string_view dic, const std::string& name,
                  const affix_limits& limits)
      : rules_(rules), dic_(dic), name_(name), limits_(limits) {}

  void run(const affix_rules::receiver& each) {
    for_each_stem([&](const stem& s, const flag_set& flags, const detail::numbered_lines&) {
      if (has(flags, rules_.forbidden_)) forbidden_.insert(s.word);
    });
    for_each_stem([&](const stem& s, const flag_set& flags, const detail::numbered_lines& at) {
      if (has(flags, rules_.forbidden_) || has(flags, rules_.only_in_compound_)) return;
      lines_ = &at;
      forms_.clear();
      expand_stem(detail::to_characters(s.word), flags);
      deliver(flags, each);
    });
  }

 private:
  using affix = affix_rules::affix;
  using flag_set = affix_rules::flag_set;
  using flag = affix_rules::flag;

  static bool has(const flag_set& flags, flag f) {
    return f != 0 && std::binary_search(flags.begin(), flags.end(), f);
  }

  template <class Work>
  void for_each_stem(Work work) const {
    detail::numbered_lines lines(dic_, name_);
    std::uint64_t number = 0;
    if (!lines.next())
      throw error(errc::corrupt,
                  name_ + ": it is empty; its first line must say how many words follow");
    const std::string_view first = lines.line();
    if (std::from_chars(first.data(), first.data() + first.size(), number).ec != std::errc{}) {
      lines.fail(errc::corrupt, "the first line must say how many words follow");
    }
    while (lines.next()) {
      const stem s = split_stem(lines.line());
      if (s.word.empty()) continue;
      try {
        work(s, s.flags.empty() ? flag_set() : rules_.parse_flags(s.flags), lines);
      } catch (const std::invalid_argument& e) {
        lines.fail(errc::corrupt, e.what());
      }
    }
  }

  void expand_stem(const std::u32string& word, const flag_set& flags) {
    if (!has(flags, rules_.need_affix_)) take(word);
    for_each(rules_.suffixes_, flags, [&](const affix& s) {
      if (!suffix_fits(s, word)) return;
      const std::u32string form = with_suffix(s, word);
      if (stands_alone(s)) take(form);
      add_prefixes(form, flags, s, s);
      for_each(rules_.suffixes_, s.flags, [&](const affix& outer) {
        if (!suffix_fits(outer, form)) return;
        const std::u32string longer = with_suffix(outer, form);
        if (stands_alone(outer) && !has(s.flags, rules_.circumfix_)) take(longer);
        add_prefixes(longer, flags, s, outer);
      });
    });
    add_lone_prefixes(word, flags);
  }

  // Adds the prefixes that the stem or a suffix permits to a form with suffixes.
  void add_prefixes(const std::u32string& form, const flag_set& flags, const affix& inner,
                    const affix& outer) {
    if (!outer.crosses) return;
    const auto add = [&](const affix& p) {
      if (p.crosses && prefix_fits(p, form) && together(p, inner)) take(with_prefix(p, form));
    };
    if (inner.crosses) for_each(rules_.prefixes_, flags, add);
    for_each(rules_.prefixes_, inner.flags, add);
    if (&outer != &inner) for_each(rules_.prefixes_, outer.flags, add);
  }

  // Adds prefixes without a suffix, and the suffixes that such a prefix permits.
  void add_lone_prefixes(const std::u32string& word, const flag_set& flags) {
    for_each(rules_.prefixes_, flags, [&](const affix& p) {
      if (stands_alone(p) && prefix_fits(p, word)) take(with_prefix(p, word));
      if (!p.crosses) return;
      for_each(rules_.suffixes_, p.flags, [&](const affix& s) {
        if (!s.crosses || !suffix_fits(s, word) || !together(p, s)) return;
        const std::u32string form = with_suffix(s, word);
        if (prefix_fits(p, form)) take(with_prefix(p, form));
      });
    });
  }

  template <class Work>
  void for_each(const std::map<flag, affix_rules::affix_list>& lists, const flag_set& flags,
                Work work) {
    for (const flag f : flags) {
      const auto list = lists.find(f);
      if (list == lists.end()) continue;
      for (const affix& a : list->second) {
        if (++tries_ > limits_.tries) {
          lines_->fail(errc::corrupt,
                       "more than " + std::to_string(limits_.tries) +
                           " affixes were tried; the dictionary is too large or hostile");
        }
        work(a);
      }
    }
  }

  bool stands_alone(const affix& a) const {
    return !has(a.flags, rules_.need_affix_) && !has(a.flags, rules_.circumfix_) &&
           !never_a_word(a);
  }
  bool never_a_word(const affix& a) const {
    return has(a.flags, rules_.only_in_compound_) || has(a.flags, rules_.forbidden_);
  }
  bool together(const affix& p, const affix& s) const {
    const bool both_need = has(p.flags, rules_.need_affix_) && has(s.flags, rules_.need_affix_);
    return !both_need && !never_a_word(p) && !never_a_word(s) &&
           has(p.flags, rules_.circumfix_) == has(s.flags, rules_.circumfix_);
  }

  bool leaves_enough(const affix& a, const std::u32string& word) const {
    return word.size() > a.strip.size() || (rules_.full_strip_ && word.size() == a.strip.size());
  }
  bool suffix_fits(const affix& s, const std::u32string& word) const {
    return leaves_enough(s, word) && word.ends_with(s.strip) && word.size() >= s.condition.size() &&
           fits(s, std::u32string_view(word).substr(word.size() - s.condition.size()));
  }
  bool prefix_fits(const affix& p, const std::u32string& word) const {
    return leaves_enough(p, word) && word.starts_with(p.strip) &&
           word.size() >= p.condition.size() && fits(p, word);
  }
  static bool fits(const affix& a, std::u32string_view part) {
    for (std::size_t i = 0; i < a.condition.size(); ++i) {
      const affix_rules::place& p = a.condition[i];
      if ((p.characters.find(part[i]) == std::u32string::npos) != p.negated) return false;
    }
    return true;
  }

  static std::u32string with_suffix(const affix& s, const std::u32string& word) {
    return word.substr(0, word.size() - s.strip.size()) + s.append;
  }
  static std::u32string with_prefix(const affix& p, const std::u32string& word) {
    return p.append + word.substr(p.strip.size());
  }

  void take(const std::u32string& form) {
    if (forms_.size() == limits_.forms_of_word) {
      lines_->fail(errc::corrupt,
                   "the word has more than " + std::to_string(limits_.forms_of_word) + " forms");
    }
    if (form.empty()) return;  // all was stripped
    if (form[0] < U' ') lines_->fail(errc::corrupt, "the word begins with a control character");
    forms_.push_back(detail::to_text(form));
  }

  void deliver(const flag_set& flags, const affix_rules::receiver& each) {
    std::sort(forms_.begin(), forms_.end());
    forms_.erase(std::unique(forms_.begin(), forms_.end()), forms_.end());
    number_ += forms_.size();
    if (number_ > limits_.forms) {
      lines_->fail(errc::corrupt, "the words up to here have more than " +
                                      std::to_string(limits_.forms) + " forms");
    }
    word_traits traits{.keep_case = has(flags, rules_.keep_case_),
                       .no_suggestion = has(flags, rules_.no_suggestion_)};
    for (const std::string& form : forms_) {
      if (forbidden_.contains(form)) continue;
      word_traits own = traits;
      // With CHECKSHARPS the flag only says that ß is written SS in capitals.
      if (rules_.sharps_ && form.find("ß") != std::string::npos) own.keep_case = false;
      each(form, own);
    }
  }

  const affix_rules& rules_;
  std::string_view dic_;
  const std::string& name_;
  affix_limits limits_;
  const detail::numbered_lines* lines_ = nullptr;
  std::unordered_set<std::string, secret_text_hash> forbidden_;
  std::vector<std::string> forms_;
  std::uint64_t tries_ = 0;
  std::uint64_t number_ = 0;
};

void affix_rules::expand(std::string_view dic, const std::string& name, const receiver& each,
                         const affix_limits& limits) const {
  affix_expansion(*this, dic, name, limits).run(each);
}

}  // namespace bloomery

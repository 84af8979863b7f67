// A guard around a prepared SELECT of SQLite: keys that the table lacks mostly never reach it.
//
//     auto g = bloomery::sqlite_guard<std::string_view>(
//         db, {.table = "people", .key = "mail", .value = "name"});
//     std::optional<std::string> name = g.find("anna@example.org");
//     ... INSERT ...;  g.add("bert@example.org");                 // the table comes first
//
// The filter compares bytes, so SQLite must do so too: the key column must be declared as some kind
// of INT for keys of type std::int64_t and as CHAR, CLOB or TEXT, with the collation BINARY, for
// std::string_view. Else SQLite would find '042' or 'ANNA' where the filter says no.
//
// Like the statement and the connection, the guard serves one thread at a time; a rebuild in the
// background needs a connection of its own. The connection must outlive the guard.
//
// Needs SQLite: link to bloomery::sqlite.
#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/guard/key_scan.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/guard/guard.hpp"

namespace bloomery {

struct sqlite_table {
  std::string table;
  std::string key;
  std::string value;
};

template <class Key>
concept sqlite_key = std::same_as<Key, std::int64_t> || std::same_as<Key, std::string_view>;

namespace detail {

[[noreturn]] inline void throw_sqlite(sqlite3* db) {
  throw error(errc::io, "SQLite: " + std::string(sqlite3_errmsg(db)));
}

[[nodiscard]] inline std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

struct finalize_statement {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using sqlite_statement = std::unique_ptr<sqlite3_stmt, finalize_statement>;

[[nodiscard]] inline sqlite_statement prepared(sqlite3* db, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, sql.c_str(), static_cast<int>(sql.size()) + 1, &statement, nullptr) !=
      SQLITE_OK) {
    throw_sqlite(db);
  }
  return sqlite_statement(statement);
}

// Steps to the next row. Returns false at the end.
[[nodiscard]] inline bool step(sqlite3* db, sqlite3_stmt* statement) {
  const int result = sqlite3_step(statement);
  if (result != SQLITE_ROW && result != SQLITE_DONE) throw_sqlite(db);
  return result == SQLITE_ROW;
}

// The bytes in the first column of the current row.
[[nodiscard]] inline std::string_view text_of(sqlite3_stmt* statement) {
  const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement, 0));
  return {bytes != nullptr ? bytes : "",
          static_cast<std::size_t>(sqlite3_column_bytes(statement, 0))};
}

// Throws errc::unsupported unless SQLite compares such keys by bytes, by its affinity rules.
template <sqlite_key Key>
void check_key_column(sqlite3* db, const sqlite_table& t) {
  const char* declared = nullptr;
  const char* collation = nullptr;
  if (sqlite3_table_column_metadata(db, nullptr, t.table.c_str(), t.key.c_str(), &declared,
                                    &collation, nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw_sqlite(db);
  }
  std::string type = declared != nullptr ? declared : "";
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto has = [&type](std::string_view part) { return type.find(part) != std::string::npos; };
  const std::string column = "the column " + t.key + " of " + t.table;
  if constexpr (std::same_as<Key, std::int64_t>) {
    if (!has("INT")) {
      throw error(errc::unsupported, column + " is declared as '" + type + "', not as an INTEGER");
    }
  } else {
    if (has("INT") || !(has("CHAR") || has("CLOB") || has("TEXT"))) {
      throw error(errc::unsupported, column + " is declared as '" + type + "', not as TEXT");
    }
    if (std::string_view(collation) != "BINARY") {
      throw error(errc::unsupported,
                  column + " has the collation " + collation + ", which a filter does not know");
    }
  }
}

}  // namespace detail

// Looks up the value of a key, as bytes; a NULL is empty. Throws errc::io when SQLite fails.
template <sqlite_key Key>
class sqlite_lookup {
 public:
  sqlite_lookup(sqlite3* db, const sqlite_table& t)
      : db_(db),
        select_(detail::prepared(db, "SELECT " + detail::quoted_name(t.value) + " FROM " +
                                         detail::quoted_name(t.table) + " WHERE " +
                                         detail::quoted_name(t.key) + " = ?1")) {
    detail::check_key_column<Key>(db, t);
  }

  std::optional<std::string> operator()(const Key& key) {
    const reset_at_end reset{select_.get()};
    if (bind(key) != SQLITE_OK) detail::throw_sqlite(db_);
    if (!detail::step(db_, select_.get())) return std::nullopt;
    return std::string(detail::text_of(select_.get()));
  }

 private:
  // A statement that was not reset would keep the table locked.
  struct reset_at_end {
    sqlite3_stmt* statement;
    explicit reset_at_end(sqlite3_stmt* s) noexcept : statement(s) {}
    reset_at_end(const reset_at_end&) = delete;
    reset_at_end& operator=(const reset_at_end&) = delete;
    ~reset_at_end() { sqlite3_reset(statement); }
  };

  int bind(std::int64_t key) { return sqlite3_bind_int64(select_.get(), 1, key); }
  // SQLite need not copy the key, which exists until the statement is reset. A null pointer would
  // be bound as NULL, so an empty key points to an empty text.
  int bind(std::string_view key) {
    return sqlite3_bind_text64(select_.get(), 1, key.data() != nullptr ? key.data() : "",
                               key.size(), nullptr, SQLITE_UTF8);
  }

  sqlite3* db_;
  detail::sqlite_statement select_;
};

// A filter of all keys in the table, without values of another type: no key equals them.
template <sqlite_key Key>
[[nodiscard]] filter sqlite_filter(sqlite3* db, const sqlite_table& t, const scan_options& o = {}) {
  detail::check_key_column<Key>(db, t);
  const auto all = detail::prepared(
      db, "SELECT " + detail::quoted_name(t.key) + " FROM " + detail::quoted_name(t.table));
  key_scan scan(o);
  while (detail::step(db, all.get())) {
    const int type = sqlite3_column_type(all.get(), 0);
    if constexpr (std::same_as<Key, std::int64_t>) {
      if (type == SQLITE_INTEGER) scan.add(std::int64_t{sqlite3_column_int64(all.get(), 0)});
    } else {
      if (type == SQLITE_TEXT) {
        (void)sqlite3_column_text(all.get(), 0);  // converts it to UTF-8
        scan.add(detail::text_of(all.get()));
      }
    }
  }
  return scan.build();
}

template <sqlite_key Key>
[[nodiscard]] auto sqlite_guard(sqlite3* db, const sqlite_table& t, const scan_options& o = {}) {
  return guard<filter, sqlite_lookup<Key>>(sqlite_filter<Key>(db, t, o), sqlite_lookup<Key>(db, t));
}

}  // namespace bloomery

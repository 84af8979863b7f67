// A database file of Redis or Valkey, read without a server: it finds the keys that modules made
// and passes over all others. Versions 1 to 12 of the format are known, and Valkey's 80.
//
//     rdb_file file(bytes);                        // of a whole file, such as a mapped one
//     while (auto key = file.next()) {
//       if (const data_type* type = key->known) {
//         auto value = read(type->from, key->version, file.fields());
//       }
//     }
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bloomery/foreign/values.hpp"

namespace bloomery::foreign {

class rdb_file {
 public:
  struct module_key {
    std::string name;
    std::uint64_t database = 0;
    std::string type;  // nine characters
    int version = 0;
    const data_type* known = nullptr;  // null for types that foreign::read does not read
  };

  // Throws errc::not_bloomery for bytes that are no database file. They must outlive this object.
  explicit rdb_file(std::span<const std::byte> bytes);

  // The next key of a module; nothing at the end, where the checksum of the file is compared.
  // Throws errc::corrupt for damaged files, errc::unsupported for types that nobody knew.
  [[nodiscard]] std::optional<module_key> next();
  // The fields of the key that next returned last.
  [[nodiscard]] field_reader& fields() noexcept { return fields_; }
  // Keys that are not of modules, so far.
  [[nodiscard]] std::uint64_t other_keys() const noexcept { return other_keys_; }

 private:
  class key_fields final : public field_reader {
   public:
    explicit key_fields(rdb_file& file) noexcept : file_(file) {}
    std::uint64_t number() override;
    double real() override;
    std::span<const std::byte> text() override;
    void skip_rest();

   private:
    friend class rdb_file;
    [[nodiscard]] std::uint64_t expect(std::uint64_t kind, std::uint64_t other);

    rdb_file& file_;
    std::vector<std::byte> unpacked_;
    bool open_ = false;
  };

  struct length {
    std::uint64_t number = 0;
    bool encoded = false;  // then it says how a string is written
  };
  [[nodiscard]] std::span<const std::byte> take(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t take_number(std::size_t bytes);
  [[nodiscard]] length take_length();
  [[nodiscard]] std::uint64_t take_count();  // a length that is one
  // A string; unpacked into `room` where it is not in the file as it is.
  [[nodiscard]] std::span<const std::byte> take_string(std::vector<std::byte>& room);
  void skip_string();
  void skip_strings(std::uint64_t count);
  void skip_counts(std::uint64_t count);
  void skip_value(unsigned type);
  void skip_scores();
  void skip_stream(unsigned type);
  void skip_fields();
  [[nodiscard]] bool skip_mark(unsigned mark);  // false when `mark` is the type of a key
  void check_end();

  std::span<const std::byte> all_;
  std::span<const std::byte> rest_;
  std::uint64_t database_ = 0;
  std::uint64_t other_keys_ = 0;
  std::uint64_t format_ = 0;
  key_fields fields_{*this};
};

}  // namespace bloomery::foreign

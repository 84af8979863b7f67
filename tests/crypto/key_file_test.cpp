// Key files: the forms that are read, and errors that never show the key.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "bloomery/crypto/siphash.hpp"
#include "crypto/keys.hpp"

namespace bloomery {
namespace {

using key_type = siphash_hasher::key_type;
using namespace std::string_view_literals;

// A file of its own for each test: tests run side by side.
class KeyFile : public testing::Test {
 protected:
  KeyFile()
      : path_(std::filesystem::temp_directory_path() /
              ("bloomery_key_" +
               std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + '_' +
               std::to_string(getpid()))) {}
  ~KeyFile() override { std::filesystem::remove_all(path_); }

  key_type read(std::string_view content) {
    std::ofstream(path_, std::ios::binary) << content;
    return read_key_file(path_);
  }

  // The text of the refusal.
  std::string refusal(std::string_view content) {
    try {
      static_cast<void>(read(content));
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::bad_argument);
      return e.what();
    }
    ADD_FAILURE() << "accepted " << content.size() << " bytes";
    return "";
  }

  std::filesystem::path path_;
};

constexpr std::string_view digits = "000102030405060708090a0b0c0d0e0f";

TEST_F(KeyFile, HoldsHexadecimalDigits) { EXPECT_EQ(read(digits), counting_key()); }

TEST_F(KeyFile, MayEndItsLine) {
  EXPECT_EQ(read(std::string(digits) + "\n"), counting_key());
  EXPECT_EQ(read(std::string(digits) + "\r\n"), counting_key());
}

TEST_F(KeyFile, TakesCapitalDigits) {
  EXPECT_EQ(read("000102030405060708090A0B0C0D0E0F\n"), counting_key());
}

TEST_F(KeyFile, MayBeSixteenRawBytes) {
  EXPECT_EQ(read("\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17"sv), counting_key());
  // Raw bytes that look like line ends are bytes all the same.
  EXPECT_EQ(read("\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"sv)[15], std::byte{'\n'});
}

TEST_F(KeyFile, OfAnyOtherLengthIsRefused) {
  for (const std::size_t size : {0U, 1U, 15U, 17U, 31U, 33U, 34U, 48U, 63U, 64U, 65U, 1000U}) {
    const std::string text = refusal(std::string(size, 'a'));
    EXPECT_NE(text.find(path_.string()), std::string::npos) << text;
    EXPECT_NE(text.find("32 hexadecimal digits or 16 raw bytes"), std::string::npos) << text;
  }
}

TEST_F(KeyFile, WithSomethingAfterTheKeyIsRefused) {
  refusal(std::string(digits) + "\nmore");
  refusal(std::string(digits) + " ");
  refusal(std::string(digits) + std::string(40, '\n') + "more");
}

TEST_F(KeyFile, WithBadDigitsIsRefused) {
  for (const std::string_view bad :
       {"000102030405060708090a0b0c0d0e0g"sv, "0x0102030405060708090a0b0c0d0e0f"sv,
        "00010203 405060708090a0b0c0d0e0f"sv, "00:01:02:03:04:05:06:07:08:09:0a"sv}) {
    ASSERT_EQ(bad.size(), 32U);
    refusal(bad);
  }
}

TEST_F(KeyFile, AnErrorDoesNotTellTheKey) {
  for (const std::string_view secret :
       {"5ec3e75ec3e75ec3e75ec3e75ec3e75"sv, "5ec3e75ec3e75ec3e75ec3e75ec3e75x"sv,
        "raw secret key, 17"sv}) {
    const std::string text = refusal(secret);
    for (std::size_t at = 0; at + 5 <= secret.size(); ++at) {
      EXPECT_EQ(text.find(secret.substr(at, 5)), std::string::npos) << text;
    }
  }
}

TEST_F(KeyFile, ThatIsMissingIsNamed) {
  try {
    static_cast<void>(read_key_file(path_));
    FAIL() << "no error was thrown";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::io);
    EXPECT_NE(std::string(e.what()).find(path_.string()), std::string::npos) << e.what();
  }
}

TEST_F(KeyFile, ThatIsAFolderIsRefused) {
  std::filesystem::create_directory(path_);
  EXPECT_THROW(static_cast<void>(read_key_file(path_)), error);
}

}  // namespace
}  // namespace bloomery

// Mutates files of every kind and form, makes their checksums right again, and does with each all
// that the library can do: mutate GOLDEN ROUNDS [NAME [FIRST]]
//
// ROUNDS is how many mutations of each file are tried; the first ROUNDS of an endless list that is
// always the same. NAME does only those of one file, and FIRST begins with a later one. The last
// file that was wrong is left as mutation.found in the folder where the program runs.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bloomery/hash/hash.hpp"
#include "mutation/mutate.hpp"
#include "mutation/repair.hpp"
#include "mutation/seeds.hpp"
#include "mutation/use.hpp"

// Of the sanitizers, where there are any.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

using namespace bloomery_fuzz;
namespace fs = std::filesystem;

constexpr unsigned most_seconds = 60;      // for one mutation, on the slowest machine
constexpr long most_kilobytes = 1L << 20;  // of memory, for all files of at most 3 MB
constexpr std::size_t large = std::size_t{1} << 19U;
constexpr std::size_t large_rarer = 16;  // they take so much longer

std::array<char, 128> doing = {};  // for a handler of signals, which can do nothing but write it

void say_what() {
  [[maybe_unused]] const ssize_t written = ::write(2, doing.data(), std::strlen(doing.data()));
}

extern "C" void died(int number) {
  say_what();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// Files are in memory where that is possible: thousands are written in a second.
fs::path scratch_folder() {
  const fs::path memory = "/dev/shm";
  const fs::path parent = ::access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path();
  std::string name = (parent / "bloomery-mutation-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("there is no folder to work in");
  return name;
}

long peak_kilobytes() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

byte_vector mutated(const seed_file& seed, const seed_file& other, std::size_t round) {
  std::uint64_t start = round;
  for (const char c : seed.name) start = bloomery::splitmix64(start ^ static_cast<std::uint8_t>(c));
  random_numbers random(start);
  byte_vector bytes = seed.bytes;
  if (round % 2 == 0) {
    edge_number(bytes, random.below(edge_numbers(bytes)));
    if (random.below(4) == 0) edge_number(bytes, random.below(edge_numbers(bytes)));
  } else {
    mutate(bytes, other.bytes, random);
  }
  if (random.below(16) != 0) repair(bytes, seed.form, random.below(2) == 0);
  return bytes;
}

class campaign {
 public:
  campaign(std::vector<seed_file> seeds, fs::path folder)
      : seeds_(std::move(seeds)), folder_(std::move(folder)) {}

  void run(std::size_t rounds, const std::string& only, std::size_t first) {
    for (std::size_t i = 0; i < seeds_.size(); ++i) {
      const seed_file& seed = seeds_[i];
      if (!only.empty() && seed.name != only) continue;
      std::snprintf(doing.data(), doing.size(), "%s itself\n", seed.name.c_str());
      if (use(seed.bytes, seed.form, seed.old, folder_) != verdict::accepted) {
        throw finding(seed.name + " itself is refused");
      }
      const std::size_t here = seed.bytes.size() < large ? rounds : rounds / large_rarer;
      for (std::size_t round = first; round < std::max(here, first + 1); ++round) {
        try_one(seed, seeds_[(i + 1 + round % 7) % seeds_.size()], round);
      }
    }
  }
  // Returns whether all is well.
  [[nodiscard]] bool report() const {
    std::printf(
        "%zu files, %zu mutations: %zu refused, %zu opened and found unsound, %zu used, %zu "
        "wrong\n",
        seeds_.size(), counts_[0] + counts_[1] + counts_[2] + wrong_, counts_[0], counts_[1],
        counts_[2], wrong_);
    return wrong_ == 0;
  }

 private:
  void try_one(const seed_file& seed, const seed_file& other, std::size_t round) {
    const byte_vector bytes = mutated(seed, other, round);
    std::snprintf(doing.data(), doing.size(), "mutation %zu of %s\n", round, seed.name.c_str());
    ::alarm(most_seconds);
    try {
      ++counts_[static_cast<std::size_t>(use(bytes, seed.form, seed.old, folder_))];
      if (__sanitizer_set_death_callback == nullptr && peak_kilobytes() > most_kilobytes) {
        throw finding("it takes " + std::to_string(peak_kilobytes() / 1024) + " MiB of memory");
      }
    } catch (const std::exception& e) {
      ++wrong_;
      std::fprintf(stderr, "mutation %zu of %s: %s\n", round, seed.name.c_str(), e.what());
      std::ofstream("mutation.found", std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    }
    ::alarm(0);
  }

  std::vector<seed_file> seeds_;
  fs::path folder_;
  std::array<std::size_t, 3> counts_ = {};
  std::size_t wrong_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: mutate GOLDEN ROUNDS [NAME [FIRST]]\n");
    return 2;
  }
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM}) {
    if (__sanitizer_set_death_callback == nullptr || number == SIGALRM) std::signal(number, died);
  }
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(say_what);
  fs::path folder;
  int status = 0;
  try {
    folder = scratch_folder();
    campaign all(make_seeds(argv[1], folder), folder);
    all.run(std::strtoul(argv[2], nullptr, 10), argc > 3 ? argv[3] : "",
            argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 0);
    status = all.report() ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "mutate: %s\n", e.what());
    status = 2;
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return status;
}

// What is made of versions for clients, packed forms and deltas: made once, however many ask at the
// same time, and kept for the next who ask, up to a number of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace bloomery::cli {

using made_bytes = std::shared_ptr<const std::vector<std::byte>>;

class made_forms {
 public:
  explicit made_forms(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // What is kept under this name, or null.
  [[nodiscard]] made_bytes find(const std::string& name);
  // The same, made when it is not there; waits while another thread makes it. Passes on what `make`
  // throws.
  made_bytes get(const std::string& name, const std::function<std::vector<std::byte>()>& make);

  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct kept {
    std::string name;
    made_bytes what;
  };

  void keep(const std::string& name, const made_bytes& what);

  const std::uint64_t most_bytes_;
  mutable std::mutex mutex_;
  std::uint64_t bytes_ = 0;
  std::list<kept> recent_;  // the latest first
  std::map<std::string, std::list<kept>::iterator> by_name_;
  std::map<std::string, std::shared_future<made_bytes>> under_way_;
};

}  // namespace bloomery::cli

// SPDX-License-Identifier: BSL-1.0
// What tests/readers/safetensors.py compares with the Python package.
//   write FOLDER   writes files, and prints `file name type shape bytes` for each tensor, name and bytes in hexadecimal
//   check FILE...  prints `good` or `refused: why` for each
#include <cstdio>
#include <string>
#include <string_view>

#include <tautline/io/checkpoint_store.hpp>

using namespace tautline;

namespace {

void print_hex(void const* data, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) std::printf("%02x", static_cast<unsigned>(static_cast<unsigned char const*>(data)[i]));
}

void print(char const* file, named_tensor const& tensor) {
  std::printf("%s ", file);
  print_hex(tensor.name.data(), tensor.name.size());
  std::printf(" %s [", to_string(tensor.view.type));
  for (std::size_t i = 0; i < tensor.view.rank; ++i) {
    std::printf("%s%lld", i == 0 ? "" : ",", static_cast<long long>(tensor.view.shape[i]));
  }
  std::printf("] ");
  print_hex(tensor.view.data, tensor.view.bytes());
  std::printf("-\n");
}

int write(std::string const& folder) {
  std::vector<std::uint8_t> memory(4096);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint8_t>(i * 37 + 11);
  std::vector<std::uint8_t> flags(16);
  for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = i % 3 == 0;
  auto const make = [&](std::string name, element_type type, std::initializer_list<std::int64_t> shape) {
    named_tensor made{std::move(name)};
    made.view.type = type;
    for (std::int64_t const extent : shape) made.view.shape[made.view.rank++] = extent;
    made.view.data = type == element_type::BOOL ? flags.data() : memory.data();
    return made;
  };
  std::vector<named_tensor> all;
  for (int i = 0; i <= static_cast<int>(element_type::F64); ++i) {
    auto const type = static_cast<element_type>(i);
    std::string const name = to_string(type);
    all.push_back(make(name + "/matrix", type, {2, 3}));
    all.push_back(make(name + "/scalar", type, {}));
    all.push_back(make(name + "/none", type, {2, 0, 3}));
    all.push_back(make(name + "/one", type, {1, 1, 1, 1, 1, 1, 1, 1}));
  }
  all.push_back(make("with \"quotes\", \\ and a\nnew line, \x01, \xc3\xa4", element_type::F32, {3}));
  all.push_back(make("", element_type::U8, {3}));
  all.push_back(make("hook/early_stopping<\"loss\">/best", element_type::F64, {}));
  struct {
    char const* file;
    std::vector<named_tensor> tensors;
    safetensors_metadata metadata;
  } const files[] = {{"all.safetensors", all, {}},
                     {"metadata.safetensors", {all.begin(), all.begin() + 3}, {{"a \"key\"", "a value\nof two lines"}}},
                     {"empty.safetensors", {}, {}},
                     {"only_metadata.safetensors", {}, {{"format", "pt"}}}};
  for (auto const& [file, tensors, metadata] : files) {
    io_result const done = write_safetensors(folder + '/' + file, tensors, metadata);
    if (!done.ok()) return std::puts(done.message.c_str()), 1;
    for (named_tensor const& each : tensors) print(file, each);
  }

  // what a training saves
  static float w[2][3]{{1, 2, 3}, {4, 5, 6}};
  static bool seen = true;
  static std::int64_t position = 1234;
  static constexpr training_state::functions how{
      [](void*, void* visitor, training_state::item_visit visit) {
        state_item item;
        item.owner = "w", item.view = view_tensor(w);
        visit(visitor, item);
        item.group = state_group::input, item.owner = "x", item.field = "position", item.view = view_tensor(position);
        visit(visitor, item);
        item.group = state_group::hook, item.owner = "once<\"a\">", item.field = "seen", item.view = view_tensor(seen);
        visit(visitor, item);
      },
      [](void*, void*, training_state::node_visit) {}};
  checkpoint_store store(folder + "/store");
  saved_checkpoint const saved = store.save(training_state{nullptr, how, 12});
  if (!saved.ok()) return std::puts(saved.message.c_str()), 1;
  char const* const file = "store/step-000000000012.safetensors";
  print(file, {"variable/w", view_tensor(w)});
  print(file, {"input/x/position", view_tensor(position)});
  print(file, {"hook/once<\"a\">/seen", view_tensor(seen)});
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::string_view(words[1]) == "write") return write(words[2]);
  if (count < 3 || std::string_view(words[1]) != "check") return 2;
  for (int i = 2; i < count; ++i) {
    safetensors_file const file = safetensors_file::read(words[i]);
    std::printf("%s%s\n", file.result().ok() ? "good" : "refused: ", file.result().message.c_str());
  }
  return 0;
}

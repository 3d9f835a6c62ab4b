#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "apps/linkwork/program.h"
#include "apps/linkwork/settings_options.h"
#include "linkwork/model/input_error.h"

namespace linkwork::cli {
namespace {

/// LINKWORK_FUZZ_INPUTS asks for more.
int input_count(int usual) {
  const char* const wanted = std::getenv("LINKWORK_FUZZ_INPUTS");
  return wanted != nullptr ? std::atoi(wanted) : usual;
}

/// Words as people type them, and mistype them.
class RandomWords {
 public:
  explicit RandomWords(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return random_() % count; }

  std::string word() {
    static const std::vector<std::string> kWords{"run",
                                                 "resume",
                                                 "compare",
                                                 "kinematics",
                                                 "check",
                                                 "report",
                                                 "view",
                                                 "study",
                                                 "list",
                                                 "new",
                                                 "schema",
                                                 "four_bar",
                                                 "models",
                                                 "--end",
                                                 "--step",
                                                 "--rtol",
                                                 "--every",
                                                 "--set",
                                                 "--threads",
                                                 "--out",
                                                 "--integrator",
                                                 "--glue",
                                                 "--checkpoint",
                                                 "--realtime",
                                                 "--quiet",
                                                 "--port",
                                                 "--help",
                                                 "--version",
                                                 "-h",
                                                 "-o",
                                                 "--",
                                                 "-",
                                                 "dopri45",
                                                 "rk4",
                                                 "baumgarte",
                                                 "schur",
                                                 "baumgarte:alpha=5,beta=5",
                                                 "all",
                                                 "none",
                                                 "1",
                                                 "1e-3",
                                                 "-1",
                                                 "nan",
                                                 "1e999",
                                                 "a=1",
                                                 "=",
                                                 "--end=2",
                                                 "--set=a=b",
                                                 "--vary",
                                                 "a=1,2",
                                                 "--steps",
                                                 "1e-3,1e-4",
                                                 "--tolerances",
                                                 "1e-4:1e-6",
                                                 "",
                                                 "--coordinates",
                                                 "--formulation",
                                                 "--stabilization",
                                                 "--checkpoint-every",
                                                 "--no-report",
                                                 "--double",
                                                 "--quick",
                                                 "--budget"};
    std::string text = kWords[below(kWords.size())];
    for (std::size_t mistakes = below(8) == 0 ? 1 + below(3) : 0; mistakes > 0; --mistakes) {
      const std::size_t at = below(text.size() + 1);
      if (below(2) == 0)
        text.insert(at, 1, static_cast<char>(1 + below(255)));  // an argument has no NUL
      else if (at < text.size())
        text.erase(at, 1 + below(3));
    }
    if (below(500) == 0) text.append(10000, text.empty() ? '-' : text.back());
    return text;
  }

 private:
  std::mt19937 random_;
};

TEST(CommandLine, OfAnyWordsIsUnderstoodOrRefusedInWords) {
  RandomWords words(11);
  int understood_count = 0;
  for (int i = input_count(1500); i > 0; --i) {
    std::vector<std::string> texts{"linkwork"};
    for (std::size_t count = words.below(8); count > 0; --count) texts.push_back(words.word());
    std::vector<const char*> arguments;
    for (const std::string& text : texts) arguments.push_back(text.c_str());
    try {
      understood(static_cast<int>(arguments.size()), arguments.data());  // and not done
      ++understood_count;
    } catch (const InputError& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
  EXPECT_GT(understood_count, 0);
}

TEST(SettingsOptions, OfAnyTextsAreAppliedOrRefusedInWords) {
  RandomWords words(12);
  const std::vector<std::string> names{"--end",         "--step",        "--rtol",          "--atol",       "--every",
                                       "--coordinates", "--formulation", "--stabilization", "--integrator", "--glue"};
  int applied = 0;
  for (int i = input_count(20000); i > 0; --i) {
    SettingsOptions options;
    options.set_texts({{names[words.below(names.size())], words.word()}, {names[words.below(names.size())], words.word()}});
    if (words.below(4) == 0) options.threads = words.word();
    Settings settings;
    try {
      options.apply_to(settings);
      ++applied;
      EXPECT_GT(settings.end, 0.0);
      EXPECT_GT(settings.step, 0.0);
    } catch (const InputError& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
  EXPECT_GT(applied, 0);
}

}  // namespace
}  // namespace linkwork::cli

#include "studies/study_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "linkwork/io/page.h"
#include "studies/catalog.h"

namespace linkwork::studies {
namespace {

using Json = nlohmann::json;

const StudyInfo kInfo{"small", "A small study", "nothing much", "Key2000", "Somebody, somewhere"};

StudyResult small_result() {
  StudyResult result;
  Part& first = result.add_part("First", "One paragraph.\n\nAnother.");
  first.claims.push_back({"sum", "1 + 1 is 2", "2", "2.0", Holds::kYes});
  first.tables.push_back({"Sums", {"what", "value"}, {{"1 + 1", 2.0}, {"0 / 0", std::nan("")}}, "A caption"});
  Part& second = result.add_part("Second", "");
  second.claims.push_back({"difference", "1 < </script> 2", "", "", Holds::kPartly, "because"});
  second.figures.push_back({"Curve", "x", "y", false, true, {{"one", {1, 2}, {3, std::numeric_limits<double>::infinity()}}}});
  return result;
}

TEST(StudyFile, SaysOfEachClaimWhatWasPublishedMeasuredAndWhetherItHolds) {
  const Json json = Json::parse(study_json(kInfo, small_result(), {true, 1.5, "0.1"}));
  EXPECT_EQ(json["name"], "small");
  EXPECT_EQ(json["reference"], "Key2000");
  EXPECT_EQ(json["quick"], true);
  ASSERT_EQ(json["claims"].size(), 2u);
  const Json expected = {{"part", 0},      {"id", "sum"}, {"text", "1 + 1 is 2"}, {"published", "2"}, {"measured", "2.0"},
                         {"holds", "yes"}, {"why", ""}};
  EXPECT_EQ(json["claims"][0], expected);
  EXPECT_EQ(json["claims"][1]["holds"], "partly");
  EXPECT_EQ(json["claims"][1]["part"], 1);
}

TEST(StudyFile, KeepsNumbersOfTablesAndFiguresAsNumbersAndGapsAsNull) {
  const Json json = Json::parse(study_json(kInfo, small_result(), {}));
  EXPECT_EQ(json["tables"][0]["rows"], Json::parse(R"([["1 + 1", 2.0], ["0 / 0", null]])"));
  const Json& series = json["figures"][0]["series"][0];
  EXPECT_EQ(series["x"], Json::parse("[1.0, 2.0]"));
  EXPECT_EQ(series["y"], Json::parse("[3.0, null]"));
  EXPECT_EQ(series["style"], "line");
  EXPECT_EQ(json["figures"][0]["y_log"], true);
}

TEST(StudyFile, RefusesMalformedResults) {
  StudyResult twice = small_result();
  twice.parts[1].claims[0].id = "sum";
  EXPECT_THROW(study_json(kInfo, twice, {}), std::logic_error);
  StudyResult odd = small_result();
  odd.parts[1].claims[0].id = "no spaces";
  EXPECT_THROW(study_json(kInfo, odd, {}), std::logic_error);
  StudyResult ragged = small_result();
  ragged.parts[0].tables[0].rows[0].pop_back();
  EXPECT_THROW(study_json(kInfo, ragged, {}), std::logic_error);
  StudyResult uneven = small_result();
  uneven.parts[1].figures[0].series[0].x.pop_back();
  EXPECT_THROW(study_json(kInfo, uneven, {}), std::logic_error);
}

TEST(StudyFile, NoTextEndsTheScriptThatCarriesTheData) {
  const std::string json = study_json(kInfo, small_result(), {});
  const std::string html = page_html("@LINKWORK_CONNECT@|@LINKWORK_DATA@|", json);
  EXPECT_EQ(html.find('<'), std::string::npos);
  const std::string data = html.substr(html.find('|') + 1, html.rfind('|') - html.find('|') - 1);
  EXPECT_EQ(Json::parse(data), Json::parse(json));
}

TEST(StudyCatalog, NamesAreUniqueAndEveryEntryIsComplete) {
  std::set<std::string> names;
  for (const Study& study : all_studies()) {
    EXPECT_TRUE(names.insert(study.info.name).second) << study.info.name;
    for (const std::string& text : {study.info.title, study.info.summary, study.info.reference, study.info.citation})
      EXPECT_FALSE(text.empty()) << study.info.name;
    EXPECT_TRUE(study.run) << study.info.name;
  }
}

}  // namespace
}  // namespace linkwork::studies

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// gappyFolder is a folder as scoreFolder's, where every seventh label of cat is unknown, and the words on no bag and on
// every bag are not audited; fog has pooled rates.
func gappyFolder(t *testing.T) string {
	t.Helper()
	dir := scoreFolder(t)
	for name, more := range map[string][3]string{"scores.csv": {",none,all", ",.1,.9", ",.2,.8"},
		"labels.csv": {",none,all", ",0,1", ",0,"}} {
		path := filepath.Join(dir, name)
		lines := strings.Split(strings.TrimSpace(read(t, path)), "\n")
		for i := range lines {
			switch {
			case i == 0:
				lines[i] += more[0]
			case i%7 == 0:
				if lines[i] += more[2]; name == "labels.csv" {
					fields := strings.Split(lines[i], ",")
					fields[1] = ""
					lines[i] = strings.Join(fields, ",")
				}
			default:
				lines[i] += more[1]
			}
		}
		write(t, path, strings.Join(lines, "\n")+"\n")
	}
	return dir
}

// Page, JSON and list have the same numbers, with unknown labels, classes with pooled rates and classes that are not
// audited, before and after decisions. The tables show the same counts as the page.
func TestAudit_CountsAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	dir := gappyFolder(t)
	decided := decisionsOn(t, dir, 40, 36)
	for name, args := range map[string][]string{"no decisions": nil,
		"decisions": {"--decisions", decided, "--output", filepath.Join(t.TempDir(), "fixed.csv")}} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			page, list := filepath.Join(out, "page.html"), filepath.Join(out, "suspects.csv")
			args = append(args, "--page", page, "--suspects", list, "--page-items", "10000", "--min-error", "0.1")
			v := readJSON(t, must(t, onScores("audit", dir, append(args, "--json")...)...))
			counts := v["counts"].(map[string]any)
			of := func(key string) int { return int(math.Round(counts[key].(float64))) }

			var shown struct {
				Counts  map[string]any
				Items   []any
				Summary []string
			}
			data := regexp.MustCompile(`(?s)<script id="data"[^>]*>(.*?)</script>`).FindStringSubmatch(read(t, page))
			expect.OK(t, json.Unmarshal([]byte(data[1]), &shown))
			if fmt.Sprint(shown.Counts) != fmt.Sprint(counts) || len(shown.Items) != of("open_suspects") {
				t.Errorf("the page has %v and %d items, JSON %v", shown.Counts, len(shown.Items), counts)
			}

			records := readCSV(t, read(t, list))
			found := v["found"].(map[string]any)
			if len(records)-1 != of("suspects") || v["suspects_total"] != counts["suspects"] ||
				found["suspects"] != counts["suspects"] || found["labels"] != counts["audited_labels"] {
				t.Errorf("%d suspects in the list, %v found, %v", len(records)-1, found, counts)
			}

			labels, suspects, pooled, skipped, incorrect := 0., 0., 0, 0, 0.
			for _, one := range v["classes"].([]any) {
				class := one.(map[string]any)
				labels += class["labels"].(float64)
				suspects += class["incorrect_suspects"].(float64) + class["missing_suspects"].(float64)
				switch {
				case class["audited"] != true:
					skipped++
				case class["pooled"] == true:
					pooled++
				default:
					incorrect += class["expected_incorrect"].(float64)
				}
			}
			if labels != counts["labels"] || suspects != counts["suspects"] || pooled != 1 || skipped != 2 ||
				math.Abs(incorrect-counts["expected_incorrect"].(float64)) > 1e-9 {
				t.Errorf("classes sum up to %v labels, %v suspects, %v incorrect, %d pooled, %d not audited; counts are %v", labels,
					suspects, incorrect, pooled, skipped, counts)
			}

			tables := strings.Join(strings.Fields(must(t, onScores("audit", dir, args...)...)), " ")
			wantParts(t, tables, append(shown.Summary, "on every sample", fmt.Sprintf("%d of %d classes are not audited",
				of("classes_not_audited"), of("classes")))...)
			if unknown := 800/7 + 1; of("audited_labels") > 3*800-unknown+1 || of("audited_labels") < 3*800-unknown-1 {
				t.Errorf("%d labels are audited", of("audited_labels"))
			}
			if !slices.ContainsFunc(records, func(r []string) bool { return r[1] == "fog" }) && name == "no decisions" {
				t.Error("no suspect of the word with pooled rates")
			}
		})
	}
}

package main

import (
	"strings"
	"testing"

	"nmn/report"
	runpage "nmn/run/page"
)

// The page of a run shows bags with their pictures and loads nothing.
func TestTrain_PageShowsBagsAndLoadsNothing(t *testing.T) {
	t.Parallel()
	page := read(t, trainedArm(t, "nmn-fi"), report.HTMLFile)
	pictures := strings.Count(page, `<img src="data:image/jpeg;base64,`)
	cards, beside := strings.Count(page, `<article class="card">`), strings.Count(page, `<article class="says">`)
	if cards == 0 || cards > 2*runpage.Bags || beside != runpage.ComparedByChance+runpage.ComparedApart ||
		pictures != cards+beside {
		t.Errorf("%d pictures on %d cards and beside the words of two arms on %d", pictures, cards, beside)
	}
	wantParts(t, page, "Next to the net that it started from", "<h3>stage 1</h3>", "<h3>NMN-FI, informed start</h3>",
		"Training", "Precision and recall", "Noise of the labels", "true labels of the test set", "scenes-test-",
		"Configuration")
	if strings.Contains(page, "://") {
		t.Error("the page names another place")
	}
}

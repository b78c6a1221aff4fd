package report

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"nmn/eval"
	"nmn/labels"
	"nmn/text"
)

// shownRun is a run with everything that a page shows; whatever a user gives holds markup.
func shownRun() *Run {
	result := drawnResult(.6)
	result.Words[1].Word = markup
	curves := eval.ByGroup[[]eval.CurvePoint]{Group: make([][]eval.CurvePoint, text.POSCount),
		All: []eval.CurvePoint{{Recall: .2, Precision: 1},
			{Recall: 1, Precision: .3}}}
	curves.Group[text.NN], curves.Group[text.VB] = curves.All, curves.All
	curve := drawnCurve()
	curve[0].Stage = markup
	return &Run{
		Name: markup, Dataset: markup, Arm: markup, Noise: .4, Seed: 7, Result: result, ThresholdFrom: markup,
		Config: "images: " + markup + hostile, Curve: curve, Rates: result.NoiseRates(), Duration: 83 * time.Second,
		Scored: &Scored{Against: "true labels", Split: markup, Curves: curves,
			Right: []ShownBag{{ID: markup, JPEG: []byte("jpeg"), Labels: []ShownLabel{{markup, .9996, HitLabel, true},
				{"dog", .61, IncorrectLabel, false}, {"cat", .0004, MissingLabel, false}}}},
			Wrong: []ShownBag{{ID: "no picture", Labels: []ShownLabel{{"dog", .98, IncorrectLabel, true}}}},
		},
	}
}

func htmlOf(t *testing.T, r *Run) string {
	t.Helper()
	return said(t, r.WriteHTML)
}

// drawn matches drawings, which the golden file leaves out: package chart tests their coordinates.
var drawn = regexp.MustCompile(`(?s)<svg.*?</svg>`)

func TestWriteHTML_IsAsTheGoldenFile(t *testing.T) {
	page := drawn.ReplaceAllString(htmlOf(t, shownRun()), "<svg></svg>")
	style := regexp.MustCompile(`(?s)<style>.*?</style>`)
	golden(t, "page.html", []byte(style.ReplaceAllString(page, "<style></style>")))
}

func TestWriteHTML_ShowsEverySectionInOrder(t *testing.T) {
	content, elements := parsed(t, htmlOf(t, shownRun()))
	at := 0
	for _, heading := range []string{"Quality", "Training", "Precision and recall", "Noise of the labels",
		"Words", "Predictions for single samples", "Configuration"} {
		next := strings.Index(content[at:], "\n"+heading+"\n")
		if next < 0 {
			t.Fatalf("%q is missing, or not behind the section before", heading)
		}
		at += next
	}
	if elements["figure"] != 7 || elements["img"] != 1 || elements["article"] != 2 || elements["section"] != 7 {
		t.Errorf("elements %v", elements)
	}
	has(t, content, "AP (truth)", "60.0 %", "human AP", "OF1 at θ*", "Here θ* is 0.312.", "ECE", "> 99.9",
		"< 0.1", "61.0", "✗", "seed: 7")
}

func TestWriteHTML_EscapesAndLoadsNothing(t *testing.T) {
	page := htmlOf(t, shownRun())
	content, elements := parsed(t, page)
	if elements["script"] != 0 || strings.Contains(page, "</td><b>&\"odd\"") || strings.Contains(page, "alert(\"x\")") {
		t.Errorf("markup of words becomes that of the page: %v", elements)
	}
	// As text it is there: title, heading, facts, tables, chart, labels, identifier and configuration.
	if n := strings.Count(content, markup); n < 12 {
		t.Errorf("the name full of markup is %d times on the page", n)
	}
	for _, source := range regexp.MustCompile(
		`(?i)\b(?:src|href|srcset|action|data)\s*=\s*"([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if source[1] != "data:image/jpeg;base64,anBlZw==" {
			t.Errorf("the page loads %q", source[1])
		}
	}
	lacks(t, page, "http:", "https:", "//", "@import", "url(", "<link", "<?xml", "ZgotmplZ")
	has(t, page, `content="default-src 'none'; img-src data:; style-src 'unsafe-inline'"`)
}

func TestWriteHTML_OfWhatTheRunHas(t *testing.T) {
	if _, elements := parsed(t, htmlOf(t, &Run{Arm: Baseline})); elements["section"] != 0 || elements["h1"] != 1 {
		t.Errorf("a run of nothing has %v", elements)
	}
	r := shownRun()
	r.Result.Truth, r.Rates, r.Scored = nil, nil, nil
	page := htmlOf(t, r)
	if _, elements := parsed(t, page); elements["section"] != 4 || !strings.Contains(page, "mAP (labels)") ||
		!strings.Contains(page, "Measured against the labels, on 200 samples") {
		t.Errorf("without truth, rates and scores: %v", elements)
	}
	r.Epochs = []Epoch{{Number: 1, Result: drawnResult(.12)}}
	if _, table, there := strings.Cut(htmlOf(t, r), "After each epoch"); !there || !strings.Contains(table, ">12.0<") {
		t.Error("the page does not tell the epochs")
	}
}

func TestRateCharts_NeedsTheTruth(t *testing.T) {
	rates := labels.Table{{Word: "cat", Q01: .1, Q10: .2, T01: math.NaN(), T10: math.NaN()}}
	if drawn, err := drawCharts(&bytes.Buffer{}, rateCharts(rates)); drawn || err != nil {
		t.Errorf("without truth: %v, %v", drawn, err)
	}
	rates[0].T01 = .3
	var b bytes.Buffer
	if drawn, err := drawCharts(&b, rateCharts(rates)); !drawn || err != nil || !strings.Contains(b.String(), "q01") ||
		strings.Contains(b.String(), "q10") {
		t.Errorf("of one rate: %v, %v", drawn, err)
	}
}

// What training pictures were changed by stands among the facts of a run.
func TestFacts_NameTheAugmentations(t *testing.T) {
	r := shownRun()
	r.Augment = "mirrored half of the time, mixup 0.2"
	has(t, htmlOf(t, r), "augmentations: "+r.Augment)
}

package report

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
)

// hostileWord would act on a page or a terminal.
const hostileWord = markup + "|`*_\x1b[2J\u202e"

// foundCaptions are captions with everything that reports show of them.
func foundCaptions() *FoundCaptions {
	return &FoundCaptions{
		Captions: 500, Doubted: 190, Foreign: .412, Low: .395, High: .43,
		Remarks: []string{"7 captions have no witness, and are kept"}, Truth: &FoundTruth{Foreign: 200, AUC: .9437,
			Precision: .9, Recall: .855, ForeignKept: .0935},
		Worst: []WorstCaption{
			{Bag: "bag" + hostileWord, Number: 2, Own: .00012, Words: []string{"dog", hostileWord},
				Against: []string{hostileWord},
				Lacks:   []string{"cat"}, JPEG: []byte("jpeg")},
			{Bag: "b", Number: 1, Own: .31, Words: []string{"dog"}},
		},
		Rates: []MentionRate{
			{Word: hostileWord, Frequency: .25, Holds: .5, Else: .0125},
			{Word: "dog", Frequency: .125, Holds: .375, Else: .001},
		},
	}
}

func TestFoundCaptions_AreAsTheGoldenFiles(t *testing.T) {
	r := &Run{Arm: "caption-filter", Captions: foundCaptions()}
	html := htmlOf(t, r)
	section := regexp.MustCompile(`(?s)<section>\n<h2>Captions</h2>.*?</section>\n`).FindString(html)
	golden(t, "captions.html", []byte(section))

	content, elements := parsed(t, html)
	if elements["script"] != 0 || elements["b"] != 0 || elements["img"] != 1 || elements["article"] != 2 ||
		elements["details"] != 1 {
		t.Errorf("elements %v", elements)
	}
	has(t, content, markup, "41.2 % of 500 captions probably belong to other pictures (39.5 to 43.0 %).", "which is below 0.5 for 190.",
		"7 captions have no witness, and are kept.", "AUC 0.944, 90.0 % of those 190 and 9.3 % of the others.",
		"caption 2, right with p = 0.000")
	if strings.ContainsAny(section, "\x1b\u202e") {
		t.Error("control characters of words act")
	}
}

func TestFoundCaptions_SayWhatIsKnown(t *testing.T) {
	f := foundCaptions()
	f.Low, f.High, f.Remarks, f.Doubted = eval.Undefined(), eval.Undefined(), nil, 0
	if got, want := f.Lines(), []string{
		"41.2 % of 500 captions probably belong to other pictures",
		"Each caption counts by the probability that it is right, which is below 0.5 for 0",
		"200 captions are known to be replaced: AUC 0.944"}; !reflect.DeepEqual(got, want) {
		t.Errorf("without an interval, none doubted: %q", got)
	}
	f = &FoundCaptions{Captions: 20, Refused: "20 captions are too few", Truth: f.Truth}
	if got := f.Lines(); !reflect.DeepEqual(got, []string{"Captions are used as they are: 20 captions are too few"}) {
		t.Errorf("after a refusal: %q", got)
	}
	if tables := mentionRateTables(f.Rates); len(tables) != 0 {
		t.Errorf("after a refusal %d tables", len(tables))
	}
}

// What a result file holds of captions reads back, but for pictures.
func TestFoundCaptions_ReadBack(t *testing.T) {
	f := foundCaptions()
	f.Truth.Precision, f.Truth.ForeignKept = 1, 0
	f.Worst[0].JPEG = nil
	f.Rates = f.Rates[:1]
	text, err := json.Marshal(f)
	expect.OK(t, err)
	var got FoundCaptions
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(&got, f) {
		t.Errorf("%+v, want %+v (%v)", got, f, err)
	}
	undefined, err := json.Marshal(FoundTruth{AUC: eval.Undefined(), Precision: eval.Undefined()})
	if err != nil || !strings.Contains(string(undefined), `"auc":null`) {
		t.Errorf("%s (%v)", undefined, err)
	}
}

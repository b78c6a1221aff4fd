package metrics

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"nmn/internal/expect"
)

func evaluate(t *testing.T, items []Item, m *Meteor) *Result {
	t.Helper()
	r, err := Evaluate(context.Background(), items, m)
	expect.OK(t, err)
	return r
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.12g, want %.12g", what, got, want)
	}
}

// The scores that the COCO evaluation gives of one candidate.
func TestEvaluate_KnownAnswer(t *testing.T) {
	r := evaluate(t,
		[]Item{{ID: "1", Candidate: "This is a good test.",
			References: []string{"this is a test", "This is also a test!"}}}, nil)
	for order, want := range []float64{.8, .632455, .510873, 9.036e-5} {
		near(t, "BLEU", r.All.BLEU[order], want, 1e-6)
		near(t, "BLEU of the caption", r.Captions[0].BLEU[order], want, 1e-6)
	}
	near(t, "ROUGE-L", r.All.ROUGEL, .907063, 1e-6)
	near(t, "CIDEr-D of one picture", r.All.CIDErD, 0, 0)
}

// fakecap are the generated captions of the COCO evaluation's example, with the scores that it publishes.
func fakecap(t testing.TB) (items []Item, dir string) {
	dir = os.Getenv("NMN_DATA")
	if dir == "" {
		t.Skip("NMN_DATA names no folder with caption-metrics")
	}
	read := func(name string, into any) {
		content, err := os.ReadFile(filepath.Join(dir, "caption-metrics", "fakecap", name))
		if err == nil {
			err = json.Unmarshal(content, into)
		}
		expect.OK(t, err)
	}
	var results []struct {
		ID      int64  `json:"image_id"`
		Caption string `json:"caption"`
	}
	references := map[string][]string{}
	read("captions_val2014_fakecap_results.json", &results)
	read("references.json", &references)
	for _, r := range results {
		id := strconv.FormatInt(r.ID, 10)
		items = append(items, Item{ID: id, Candidate: r.Caption, References: references[id]})
	}
	return items, dir
}

func TestEvaluate_PublishedScores(t *testing.T) {
	items, _ := fakecap(t)
	r := evaluate(t, items, nil)
	want := BLEUCount{Length: 9893, ReferenceLength: 9855, Guess: [4]int{9893, 8893, 7893, 6893},
		Correct: [4]int{5732, 2510, 1043, 423}}
	if r.Counts != want {
		t.Errorf("BLEU counts are %+v, want %+v", r.Counts, want)
	}
	for order, want := range []float64{.579, .404, .279, .191} {
		near(t, "BLEU", r.All.BLEU[order], want, 5e-4)
	}
	near(t, "ROUGE-L", r.All.ROUGEL, .396, 5e-4)
	near(t, "CIDEr-D", r.All.CIDErD, .600, 5e-4)
}

func TestEvaluate_MeteorOfPublishedCaptions(t *testing.T) {
	items, dir := fakecap(t)
	full, err := LoadMeteor(filepath.Join(dir, "meteor-data"))
	expect.OK(t, err)
	for last, want := range map[module]float64{exact: 0.18077688747876358, stem: 0.18465432227251194,
		synonym: 0.18967223242926706} {
		m := *full
		m.last = last
		near(t, "METEOR by "+m.Modules(), evaluate(t, items, &m).All.METEOR, want, 1e-4)
	}
	near(t, "METEOR without files", evaluate(t, items, nil).All.METEOR, 0.18465432227251194, 5e-3)
}

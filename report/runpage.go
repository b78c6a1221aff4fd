package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"nmn/eval"
	"nmn/text"
)

// Files of a run's page.
const (
	HTMLFile  = "report.html"
	RatesFile = "q.csv"
)

// WriteRun writes the page of one run into its folder, and q.csv for a run that has noise rates. Files are written
// completely or not at all.
func WriteRun(folder string, r *Run) error {
	if r.Rates != nil {
		if err := r.Rates.WriteFile(filepath.Join(folder, RatesFile), r.Rates.LearntColumns()); err != nil {
			return err
		}
	}
	return savePage(filepath.Join(folder, HTMLFile), "page of "+cmp.Or(r.Name, r.Arm), r.WriteHTML)
}

// wordsShown is the length of lists of best and worst words on a page.
const wordsShown = 10

// roundedDuration rounds a duration to seconds, and a short one more finely.
func roundedDuration(d time.Duration) time.Duration {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond)
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// counts returns how many samples and classes were evaluated.
func (r *Run) counts() string {
	if r.NotMeasured != "" {
		return "nothing"
	}
	return fmt.Sprintf("%d %v, %d %v", r.Result.Bags, r.Samples, r.Result.Classes, ClassNoun(r.Result))
}

// ClassNoun returns the noun for the classes of an evaluation: "words" of captions, otherwise "labels".
func ClassNoun(r *eval.Result) text.Plural {
	if r.CaptionsPerSample > 0 || r.GroupSize.Group != nil {
		return "words"
	}
	if isOneClass(r) {
		return "classes"
	}
	return "labels"
}

// facts returns what was trained and how. The arm is in the title of the page.
func (r *Run) facts() (facts []string) {
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, name+": "+value)
		}
	}
	add("data", r.Dataset)
	if r.Flips != (Flips{}) {
		add("flipped labels", r.Flips.String()+" (percent)")
	} else if r.Noise > 0 { // 0 without captions
		replaced := "replaced captions"
		if r.Result != nil && isOneClass(r.Result) {
			replaced = "replaced labels"
		}
		add(replaced, strings.TrimSpace(noiseCell(r.Noise).Text+" % "+r.NoiseKind))
	}
	add("left out", r.LeftOut)
	add("augmentations", r.Augment)
	add("seed", fmt.Sprint(r.Seed))
	if r.Duration > 0 {
		add("duration", roundedDuration(r.Duration).String())
	}
	add("features", r.Features)
	add("weights", r.Weights)
	if r.Result != nil {
		add("evaluated on", r.counts())
	}
	add("threshold "+thresholdColumn, r.ThresholdFrom)
	if a := r.Audit; a != nil {
		add("wrong labels found by", a.From)
		for _, m := range measureTable(true) {
			if v := m.of(r); strings.HasPrefix(m.name, "audit") && v.Defined() {
				add(m.name, fmt.Sprintf("%.*f %%", m.decimals, float64(m.scale*v)))
			}
		}
	}
	return facts
}

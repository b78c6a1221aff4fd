package paper

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"nmn/eval"
	"nmn/internal/durable"
	"nmn/loader"
	"nmn/paper/claims"
	"nmn/paper/table4"
	"nmn/report"
	"nmn/run"
	"nmn/text"
)

// results returns the figures of all runs, for the claims. The figures of single words come last in each run.
func (p *Plan) results(f *found) (all []claims.Result) {
	for u, r := range p.runs(f) {
		all = append(all, resultsOf(u, r)...)
	}
	for i := range f.units {
		if c := f.units[i].captions; c != nil {
			all = append(all, p.captionResults(&p.Units[i], c)...)
		}
	}
	return append(all, f.em...)
}

// completeResults are the figures of complete tasks. Figures of EM come from RecordFile, which the last page left.
func (p *Plan) completeResults(tasks []Task) ([]claims.Result, error) {
	f := &found{units: make([]foundUnit, len(p.Units))}
	last, err := durable.LoadJSON[record](filepath.Join(p.Settings.Dir, RecordFile), "remove the file")
	if err != nil {
		return nil, err
	}
	if last != nil {
		for _, r := range last.Results {
			if r.Part == string(EM) {
				f.em = append(f.em, r)
			}
		}
	}
	for i := range tasks {
		t := &tasks[i]
		u := &p.Units[t.unit]
		if u.Captions != nil || !t.Complete {
			continue
		}
		o, err := run.ReadOutcome(t.Folder)
		if err != nil {
			return nil, err
		}
		if o != nil && o.Evaluation != nil {
			f.units[t.unit].runs = append(f.units[t.unit].runs, report.Run{Name: t.Folder, Arm: string(o.Arm), MIL: o.MIL,
				Noise: o.Noise, Seed: o.Seed, Result: o.Evaluation})
		}
	}
	for i := range p.Units {
		if p.Units[i].Captions == nil {
			continue
		}
		read, err := p.readCaptions(&p.Units[i])
		if err != nil {
			return nil, err
		}
		f.units[i] = *read
	}
	return p.results(f), nil
}

func resultsOf(u *Unit, r *report.Run) (all []claims.Result) {
	base := claims.Result{Part: string(u.parts[0]), Data: u.Data, Arm: r.Arm, Missing: r.Noise, Seed: r.Seed,
		Words: claims.All}
	if r.MIL {
		base.Arm += claims.MIL
	}
	add := func(words, metric string, scale, value eval.Number) {
		if value.Defined() {
			one := base
			one.Words, one.Metric, one.Value = words, metric, float64(scale*value)
			all = append(all, one)
		}
	}
	e := r.Result
	if e.Human != nil {
		add(claims.All, claims.AP, 100, e.Human.AP.All)
		for g, v := range e.Human.AP.Group {
			add(text.POS(g).String(), claims.AP, 100, v)
		}
	}
	if e.Observed != nil && e.Observed.Human != nil {
		add(claims.All, claims.APObserved, 100, e.Observed.Human.AP.All)
	}
	reference := e.Labels
	if e.Truth != nil {
		reference = e.Truth
		add(claims.All, claims.APTruth, 100, e.Truth.AP.All)
	}
	if reference != nil {
		add(claims.All, claims.OF1, 100, reference.AtThreshold.All.OF1)
		add(claims.All, claims.Brier, 1, reference.Brier.All)
	}
	for i := range e.Words {
		if h := e.Words[i].Human; h != nil {
			add(claims.Word(e.Words[i].Word), claims.AP, 100, h.AP)
		}
	}
	return all
}

func (p *Plan) captionResults(u *Unit, c *captionScores) (all []claims.Result) {
	for i, arm := range table4.Arms() {
		for j, s := range c.Rows[i].Scores {
			for _, m := range []struct {
				metric string
				value  float64
			}{{claims.CIDEr, s.CIDErD}, {claims.Bleu4, s.BLEU[3]}, {claims.ROUGEL, s.ROUGEL}, {claims.METEOR, s.METEOR}} {
				all = append(all, claims.Result{Part: string(Table4), Data: u.Data, Arm: string(arm) + claims.MIL,
					Missing: u.noise(), Seed: p.Settings.Seeds[j], Words: claims.All, Metric: m.metric, Value: 100 * m.value})
			}
		}
	}
	return all
}

// dataDigest identifies a set of a unit: what its bags are called, and how they are labelled before captions are
// replaced.
type dataDigest struct {
	Split  string `json:"split"`
	Bags   int    `json:"samples"`
	SHA256 string `json:"sha256"`
}

// digestsOf returns the digests of the sets of a session whose data have no noise.
func digestsOf(ctx context.Context, s *run.Session) (all []dataDigest, err error) {
	judged, name := s.Data.EvaluationSplit()
	for _, of := range []struct {
		split string
		set   *loader.Set
	}{{"train", s.Data.Train}, {name, judged}} {
		census, err := of.set.Census(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, dataDigest{of.split, census.Bags, hex.EncodeToString(census.Digest[:])})
	}
	return all, nil
}

func names(parts []Part) string {
	all := make([]string, len(parts))
	for i, p := range parts {
		all[i] = string(p)
	}
	return strings.Join(all, ", ")
}

func seedsText(seeds []uint64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(seeds), " ", ", "), "[]")
}

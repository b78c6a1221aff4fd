package main

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"nmn/train"
)

// stagesOf returns the stages that a program with --progress json receives.
func stagesOf(t *testing.T, show func(p *program)) (stages []stage) {
	t.Helper()
	var written bytes.Buffer
	p := &program{terminal: &terminal{err: &written, getenv: func(string) string { return "" }}, progress: progressJSON}
	p.status = &statusLine{out: &written}
	show(p)
	for line := range strings.Lines(written.String()) {
		var of struct{ Progress *stage }
		if err := json.Unmarshal([]byte(line), &of); err != nil || of.Progress == nil {
			t.Fatalf("%q: %v", line, err)
		}
		stages = append(stages, *of.Progress)
	}
	return stages
}

func TestProgressJSON_TellsSteps(t *testing.T) {
	got := stagesOf(t, func(p *program) {
		show := p.showProgress("stage 1", "images")
		show(train.Progress{Step: 1, Steps: 20, Epoch: 1, Loss: .25}, 64)
		show(train.Progress{Step: 2, Steps: 20, Epoch: 1, Loss: .25}, 64) // too soon
		show(train.Progress{Step: 20, Steps: 20, Epoch: 2, Loss: math.NaN()}, 64)
	})
	loss := .25
	want := []stage{{"stage 1", 1, 20, "steps", 1, &loss}, {"stage 1", 20, 20, "steps", 2, nil}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestProgressJSON_TellsCounts(t *testing.T) {
	got := stagesOf(t, func(p *program) {
		show := p.counted("rows", "samples")
		for done := range 4 {
			show(done, 3)
		}
	})
	want := []stage{{Title: "rows", Done: 3, Total: 3, Unit: "samples"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestProgressJSON_IsQuietWhereAsked(t *testing.T) {
	if got := stagesOf(t, func(p *program) {
		p.quiet = true
		if p.counted("rows", "samples") != nil || p.watched() {
			t.Error("somebody looks")
		}
	}); got != nil {
		t.Error(got)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"nmn/train"
)

// halfway is a stage of 200 steps, resumed after 50, at step 100; a second a step.
func halfway(columns int) (p *progress, e train.Progress, now time.Time) {
	began := time.Unix(1000, 0)
	p = newProgress("NMN-FD + MIL", "images", began, func() int { return columns })
	for step := 51; step <= 100; step++ {
		e = train.Progress{Epoch: 3, Step: step, Steps: 200, Loss: 19.4791, Duration: time.Second,
			DataWait: 125 * time.Millisecond}
		now = began.Add(time.Duration(step-50) * time.Second)
		p.step(e, 64, now)
	}
	return p, e, now
}

func TestProgress_LineFitsTheTerminal(t *testing.T) {
	for columns, want := range map[int]string{
		0:  "",
		1:  "",
		8:  "NMN-FD ",
		20: "NMN-FD + MIL 50 %",
		30: "NMN-FD + MIL |███   | 50 %",
		80: "NMN-FD + MIL |███    | 50 %, 1m40s left, 64 images/s, data wait 12 %",
		120: "NMN-FD + MIL |█████      | 50 %, 1m40s left, 64 images/s, data wait 12 %, loss 19.479, epoch 3, step 100 of " +
			"200",
	} {
		p, e, now := halfway(columns)
		if got := p.line(e, now); got != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
	for columns := range 300 {
		p, e, now := halfway(columns)
		if got := p.line(e, now); utf8.RuneCountInString(got) > max(columns-1, 0) {
			t.Errorf("%d columns: %q has %d", columns, got, utf8.RuneCountInString(got))
		}
	}
}

func TestProgress_DrawsTheLastStepAndNotTooOften(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newProgress("stage 1", "images", now, func() int { return 80 })
	var drawn []int
	for step := 1; step <= 100; step++ {
		now = now.Add(30 * time.Millisecond)
		if p.step(train.Progress{Step: step, Steps: 100}, 0, now) {
			drawn = append(drawn, step)
		}
	}
	if got := fmt.Sprint(drawn[:3], drawn[len(drawn)-1], len(drawn)); got != "[1 5 9] 100 26" {
		t.Errorf("steps drawn %v, want 1, 5, 9 and so on, and 100", drawn)
	}
	if left := p.left(train.Progress{Step: 100, Steps: 100}, now); left != 0 {
		t.Errorf("%v are left at the end", left)
	}
}

func TestBrief_TwoUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 499 * time.Millisecond: "0s", 59600 * time.Millisecond: "1m00s", 61 * time.Second: "1m01s",
		time.Hour: "1h00m", 23*time.Hour + 59*time.Minute + 59*time.Second: "23h59m", 50 * time.Hour: "2d2h",
	} {
		if got := brief(d); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
}

// screen plays what was written to a terminal: carriage returns, and erasing to the end of the line.
func screen(written string) string {
	var lines []string
	for _, line := range strings.Split(written, "\n") {
		var cells []rune
		at := 0
		for runes := []rune(line); len(runes) > 0; {
			switch {
			case runes[0] == '\r':
				at, runes = 0, runes[1:]
			case strings.HasPrefix(string(runes), "\x1b[K"):
				cells, runes = cells[:at], runes[3:]
			default:
				cells, runes = append(cells[:at], append([]rune{runes[0]}, cells[min(at+1, len(cells)):]...)...), runes[1:]
				at++
			}
		}
		lines = append(lines, string(cells))
	}
	return strings.Join(lines, "\n")
}

func TestStatusLine_MessagesStandAboveAndNothingIsLeft(t *testing.T) {
	var out bytes.Buffer
	s := &statusLine{out: &out}
	s.show("a long line of progress")
	s.show("short")
	if got := screen(out.String()); got != "short" {
		t.Errorf("the screen shows %q", got)
	}
	fmt.Fprintln(s, "message")
	s.show("again")
	if got := screen(out.String()); got != "message\nagain" {
		t.Errorf("the screen shows %q", got)
	}
	s.clear()
	fmt.Fprintln(s, "end")
	if got := screen(out.String()); got != "message\nend\n" {
		t.Errorf("the screen shows %q", got)
	}
	size := out.Len()
	if s.clear(); out.Len() != size {
		t.Errorf("clearing nothing writes %q", out.String()[size:])
	}
}

// Workers that load pictures log while the loop draws.
func TestStatusLine_SeveralWriters(t *testing.T) {
	var out bytes.Buffer
	s := &statusLine{out: &out}
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 50 {
				s.show(strings.Repeat("#", 30))
				fmt.Fprintln(s, "message")
			}
		})
	}
	writers.Wait()
	s.clear()
	if got := screen(out.String()); got != strings.Repeat("message\n", 200) {
		t.Errorf("the screen shows %q", got)
	}
}

func TestAverage_ForgetsOldSteps(t *testing.T) {
	var a average
	if a.rate() != 0 || a.wait() != 0 {
		t.Errorf("before the first step: %g images/s, %g %%", a.rate(), a.wait())
	}
	a.add(train.Progress{Duration: time.Minute, DataWait: time.Minute}, 32) // slow at the start
	for range 300 {
		a.add(train.Progress{Duration: time.Second, DataWait: time.Second / 4}, 32)
	}
	if math.Abs(a.rate()-32) > .01 || math.Abs(a.wait()-25) > .01 {
		t.Errorf("%g images/s and %g %% after a slow start, want 32 and 25", a.rate(), a.wait())
	}
}

func TestExperiment_TellsWhichRunsTrain(t *testing.T) {
	t.Parallel()
	c := succeeds(t, tiny("experiment", "--size", "quick", "--run-dir", t.TempDir(), "--arms", "stage1",
		"--replace-captions", "0.2,0.4", "--seeds", "1,2")...)
	var got []string
	for _, line := range strings.Split(c.err, "\n") {
		if what, _, found := strings.Cut(line, ": epoch"); found {
			line = what
		}
		if strings.HasPrefix(line, "left    about ") { // some time
			_, line, _ = strings.Cut(line, " for ")
		}
		if topic, _, _ := strings.Cut(line, " "); topic == "report" || topic == "next" {
			line = topic
		}
		got = append(got, line)
	}
	more := func(runs string) string { return runs + ", by the time that those so far took" }
	want := []string{"noise 20 %, seed 1 (1 of 4)", "stage 1", more("3 more runs"), "noise 20 %, seed 2 (2 of 4)",
		"stage 1", more("2 more runs"), "noise 40 %, seed 1 (3 of 4)", "stage 1", more("one more run"),
		"noise 40 %, seed 2 (4 of 4)", "stage 1", "report", "next", ""}
	if !slices.Equal(got, want) {
		t.Errorf("standard error\n%s\nwant lines that start\n%s", c.err, strings.Join(want, "\n"))
	}
}

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

func TestSparse_CountsWarningsThatAreAlike(t *testing.T) {
	var b strings.Builder
	s := newSparse(slog.NewTextHandler(&b, nil))
	log := slog.New(s).With("set", "train")
	for n := range 7003 {
		log.Warn("clip is left out", "clip", fmt.Sprint("video", n))
	}
	log.Info("data are read")
	log.Warn("clip is left out", "clip", "late")
	log.Error("clip is left out", "clip", "broken")
	s.summarise(context.Background())
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != mostAlike+4 || !strings.Contains(lines[mostAlike], "more=6998") ||
		!strings.Contains(lines[mostAlike+1], "data are read") || !strings.Contains(lines[mostAlike+2], "more=1") ||
		!strings.Contains(lines[mostAlike+3], "clip=broken") || !strings.Contains(lines[0], "set=train clip=video0") {
		t.Errorf("%d lines:\n%s", len(lines), b.String())
	}
}

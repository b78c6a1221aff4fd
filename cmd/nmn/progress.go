package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/train"
)

// redraw is the shortest time between two changes of the line.
const redraw = 100 * time.Millisecond

// pace limits how often a line is drawn.
type pace struct {
	every time.Duration
	drawn time.Time
}

// due reports whether to draw now. The last state is always drawn.
func (p *pace) due(now time.Time, last bool) bool {
	if now.Sub(p.drawn) < p.every && !last {
		return false
	}
	p.drawn = now
	return true
}

// progress draws the progress of a stage.
type progress struct {
	title   string
	began   time.Time
	first   int // steps done at the start, -1 before the first step
	pace    pace
	speed   average
	unit    string     // of the items of a step
	columns func() int // of the terminal, which may change
}

func newProgress(title, unit string, now time.Time, columns func() int) *progress {
	return &progress{title: title, began: now, first: -1, pace: pace{every: redraw}, unit: unit, columns: columns}
}

// showProgress returns a function that draws the steps of a stage with a title. A step has a number of items, in a
// unit.
func (p *program) showProgress(title, unit string) func(e train.Progress, items int) {
	bar := newProgress(title, unit, time.Now(), func() int { return p.width(p.err) })
	return func(e train.Progress, items int) {
		if now := time.Now(); bar.step(e, items, now) {
			done := stage{Title: title, Done: e.Step, Total: e.Steps, Unit: "steps", Epoch: e.Epoch}
			p.draw(done.withLoss(e.Loss), bar.line(e, now))
		}
	}
}

// step counts a step and reports whether to draw now.
func (p *progress) step(e train.Progress, items int, now time.Time) bool {
	if p.first < 0 {
		p.first = e.Step - 1
	}
	p.speed.add(e, items)
	return p.pace.due(now, e.Step >= e.Steps)
}

// left estimates the remaining time from the speed since the start, which includes validation and checkpoints.
func (p *progress) left(e train.Progress, now time.Time) time.Duration {
	done := max(e.Step-p.first, 1)
	return time.Duration(float64(now.Sub(p.began)) / float64(done) * float64(e.Steps-e.Step))
}

// line fits the most important figures into the columns of the terminal. The last column stays free, because a
// full line would wrap.
func (p *progress) line(e train.Progress, now time.Time) string {
	parts := []string{
		fmt.Sprintf("%d %%", 100*e.Step/max(e.Steps, 1)),
		brief(p.left(e, now)) + " left",
		fmt.Sprintf("%.0f %s/s", p.speed.rate(), p.unit),
		fmt.Sprintf("data wait %.0f %%", p.speed.wait()),
		fmt.Sprintf("loss %.3f", e.Loss),
		fmt.Sprintf("epoch %d", e.Epoch),
		fmt.Sprintf("step %d of %d", e.Step, e.Steps),
	}
	room := max(p.columns()-1, 0)
	width := min(max(room/10, 6), 30)
	free := room - utf8.RuneCountInString(p.title) - width - len(" || ")
	text := ""
	for i, part := range parts {
		if i > 0 {
			part = ", " + part
		}
		if len(text)+len(part) > free {
			break
		}
		text += part
	}
	if text == "" { // no room for any figure
		line := []rune(p.title + " " + parts[0])
		return string(line[:min(len(line), room)])
	}
	full := width * e.Step / max(e.Steps, 1)
	return p.title + " |" + strings.Repeat("█", full) + strings.Repeat(" ", width-full) + "| " + text
}

// brief writes a duration with its two largest units.
func brief(d time.Duration) string {
	seconds := int(d.Round(time.Second).Seconds())
	minutes, hours := seconds/60, seconds/3600
	switch {
	case hours >= 24:
		return fmt.Sprintf("%dd%dh", hours/24, hours%24)
	case hours > 0:
		return fmt.Sprintf("%dh%02dm", hours, minutes%60)
	case minutes > 0:
		return fmt.Sprintf("%dm%02ds", minutes, seconds%60)
	}
	return fmt.Sprintf("%ds", seconds)
}

// average is an exponential average over steps.
type average struct{ items, seconds, waited float64 }

func (a *average) add(e train.Progress, items int) {
	const keep = .95
	a.items = keep*a.items + float64(items)
	a.seconds = keep*a.seconds + e.Duration.Seconds()
	a.waited = keep*a.waited + e.DataWait.Seconds()
}

func (a *average) rate() float64 { return a.items / max(a.seconds, 1e-9) }

func (a *average) wait() float64 { return 100 * a.waited / max(a.seconds, 1e-9) }

// counted returns a function that shows how much of some work is done, in a unit, and the time left. It returns nil if
// progress is hidden. A file or a program that does not draw progress gets a line each minute. If done falls, other
// work has begun.
func (p *program) counted(title, unit string) func(done, total int) {
	audience := p.audience()
	if audience == nobody {
		return nil
	}
	began := time.Now()
	before, pace := 0, pace{every: redraw, drawn: began}
	if audience == record {
		pace.every = time.Minute
	}
	return func(done, total int) {
		now := time.Now()
		if done < before {
			began = now
		}
		before = done
		if !pace.due(now, done >= total && audience != record) {
			return
		}
		left := time.Duration(float64(now.Sub(began)) / float64(max(done, 1)) * float64(total-done))
		line := fmt.Sprintf("%s: %d %%, %d of %d %s, %s left", title, 100*done/max(total, 1), done, total, unit, brief(left))
		if audience == record {
			fmt.Fprintln(p.status, line)
		} else {
			p.draw(stage{Title: title, Done: done, Total: total, Unit: unit}, line)
		}
	}
}

// Values of --progress.
const (
	progressAuto = "auto" // a line on terminals, else few lines
	progressJSON = "json"
)

// stage is the progress of some work. Its JSON is for the calling program; see docs/reference/cli.md.
type stage struct {
	Title string `json:"title"` // name of the work
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Unit  string `json:"unit"` // of Done, in the plural
	Epoch int    `json:"epoch,omitempty"`
	// Loss is the loss of the last step, in nats. It is nil outside training or if it is not finite.
	Loss *float64 `json:"loss,omitempty"`
}

// withLoss returns the stage with the loss of a step.
func (s stage) withLoss(loss float64) stage {
	if !math.IsNaN(loss) && !math.IsInf(loss, 0) {
		s.Loss = &loss
	}
	return s
}

// watched reports whether progress is drawn continually.
func (p *program) watched() bool {
	to := p.audience()
	return to == person || to == caller
}

// draw shows progress: the line on a terminal, or the stage as JSON for the calling program. It ignores errors, so that
// they do not stop the work.
func (p *program) draw(s stage, line string) {
	if p.audience() != caller {
		p.status.show(line)
		return
	}
	text, err := json.Marshal(struct {
		Progress stage `json:"progress"`
	}{s})
	if err == nil {
		_, _ = p.status.Write(append(text, '\n'))
	}
}

// failure is an error for the calling program: the key of the setting at fault, if any, and the message. The
// message names other settings by their keys in backquotes.
type failure struct {
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
	Code    int    `json:"code"`
}

// writeError writes an error as a line of JSON.
func (p *program) writeError(err error, code int) {
	f := failure{Message: p.whose(err, visible.OneLine(err.Error())), Code: code}
	var mistake *setting.Error
	if errors.As(err, &mistake) {
		f.Key = mistake.Key
	}
	text, err := json.Marshal(struct {
		Error failure `json:"error"`
	}{f})
	if err == nil {
		_, _ = p.err.Write(append(text, '\n'))
	}
}

// audience is the reader of standard error.
type audience int

const (
	nobody audience = iota // --quiet
	person                 // at a terminal, with a line of progress
	record                 // a file or a program, which gets few whole lines
	caller                 // a program that draws progress itself: --progress json
)

// audience returns the reader of progress.
func (p *program) audience() audience {
	switch {
	case p.quiet:
		return nobody
	case p.progress == progressJSON:
		return caller
	case p.interactive(p.err):
		return person
	}
	return record
}

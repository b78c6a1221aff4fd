package main

import (
	"encoding/json"
	"errors"
	"math"

	"nmn/internal/setting"
	"nmn/internal/visible"
)

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

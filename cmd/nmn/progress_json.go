package main

import (
	"encoding/json"
	"errors"
	"math"

	"nmn/internal/setting"
	"nmn/internal/visible"
)

// Forms of progress, of --progress.
const (
	progressAuto = "auto" // a line on terminals, else few lines
	progressJSON = "json"
)

// stage is how far something is. As JSON it is for the program that called this one; see docs/reference/cli.md.
type stage struct {
	Title string `json:"title"` // what is being done
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Unit  string `json:"unit"` // of what Done counts, in the plural
	Epoch int    `json:"epoch,omitempty"`
	// Loss is that of the last step, in nats; nil where nothing learns or it is not finite.
	Loss *float64 `json:"loss,omitempty"`
}

// withLoss is the stage with the loss of a step.
func (s stage) withLoss(loss float64) stage {
	if !math.IsNaN(loss) && !math.IsInf(loss, 0) {
		s.Loss = &loss
	}
	return s
}

// watched reports whether somebody wants to know again and again how far something is.
func (p *program) watched() bool {
	to := p.audience()
	return to == person || to == caller
}

// draw shows how far something is: a person the line, the program that called this one the stage. What cannot be shown
// must not stop what it tells of.
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

// failure is an error for the program that called this one: the setting at fault, if it is one, and what is wrong with
// it. Other settings are named by their keys, in backquotes.
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

// audience is who reads what is written to standard error.
type audience int

const (
	nobody audience = iota // --quiet
	person                 // at a terminal, whose last line is kept up to date
	record                 // a file or a program, which gets whole lines and few of them
	caller                 // a program that draws progress itself: --progress json
)

// audience is whom progress is for.
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

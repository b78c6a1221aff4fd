package table4

import (
	"fmt"
	"path/filepath"

	"nmn/captioner/metrics"
	"nmn/captioner/session"
	"nmn/internal/durable"
	"nmn/report"
	"nmn/run"
)

// Files of pieces, written last, by which they are known to be complete.
const (
	conceptsFile = "concepts.json"
	scoresFile   = "scores.json"
)

// concepts is what conceptsFile holds.
type concepts struct {
	Net    string   `json:"net"`    // fingerprint of the run
	Judged string   `json:"judged"` // split of the data that the table scores
	Splits []string `json:"splits"` // that are written
}

// scored is what scoresFile holds.
type scored struct {
	Net       string            `json:"net"`       // fingerprint of the run with the concepts
	Captioner string            `json:"captioner"` // fingerprint
	Split     string            `json:"split"`     // that was scored
	Clips     int               `json:"clips"`     // of it
	Modules   string            `json:"meteor"`    // modules of METEOR
	Scores    metrics.Scores    `json:"scores"`
	Always    report.CaptionRow `json:"always"` // what the most frequent caption scores
}

// Complete reports whether a piece is complete, by the files in its folder. Files of another net or captioner
// do not count.
func (e *Experiment) Complete(p Piece) (bool, error) {
	if p.Captioner {
		s, err := e.readScores(p)
		return s != nil, err
	}
	c, err := e.readConcepts(p)
	return c != nil && len(c.Splits) == 2, err
}

// readConcepts reads the description of the concepts of a piece. It returns nil if there is none, or if it
// belongs to another net.
func (e *Experiment) readConcepts(p Piece) (*concepts, error) {
	p.Captioner = false
	net, err := e.netFingerprint(p)
	if err != nil || net == "" {
		return nil, err
	}
	c, err := durable.LoadJSON[concepts](filepath.Join(e.PieceFolder(p), conceptsFile),
		"remove the file to have the concepts written again")
	if err != nil || c == nil || c.Net != net {
		return nil, err
	}
	return c, nil
}

// readScores reads the scores of a captioner. It returns nil if they are missing or belong to another
// captioner.
func (e *Experiment) readScores(p Piece) (*scored, error) {
	net, err := e.netFingerprint(p)
	if err != nil || net == "" {
		return nil, err
	}
	folder := e.PieceFolder(p)
	s, err := durable.LoadJSON[scored](filepath.Join(folder, scoresFile), "remove the file to score the captioner again")
	if err != nil || s == nil || s.Net != net || len(s.Always.Scores) != 1 {
		return nil, err
	}
	o, err := session.ReadOutcome(folder)
	if err != nil || o == nil || o.Fingerprint != s.Captioner {
		return nil, err
	}
	return s, nil
}

// netFingerprint is the fingerprint of the run of a piece, or "" if it is not complete.
func (e *Experiment) netFingerprint(p Piece) (string, error) {
	net, err := e.Net(p)
	if err != nil {
		return "", err
	}
	o, err := run.ReadOutcome(net.Dir)
	if err != nil || o == nil {
		return "", err
	}
	return o.Fingerprint, nil
}

// Finished reads the table of an experiment on videos: the name of its clips, the modules of METEOR, and the
// rows as in Rows. Rows are nil if a captioner is not complete.
func (e *Experiment) Finished() (title, modules string, rows []report.CaptionRow, err error) {
	var always report.CaptionRow
	for _, arm := range Arms() {
		r := report.CaptionRow{Name: arm.Title(true)}
		for _, seed := range e.Seeds {
			s, err := e.readScores(Piece{seed, arm, true})
			if err != nil || s == nil {
				return "", "", nil, err
			}
			r.Scores, always, modules = append(r.Scores, s.Scores), s.Always, s.Modules
			title = fmt.Sprintf("%d %s clips of MSR-VTT", s.Clips, s.Split)
		}
		rows = append(rows, r)
	}
	return title, modules, append(rows, always), nil
}

package captioner

import (
	"cmp"
	"path/filepath"

	"nmn/captioning"
	"nmn/eval/caption"
	"nmn/run"
	"nmn/telemetry"
)

// records are the files of a run folder that grow with training; nil if they could not be opened.
type records struct {
	log     *telemetry.Log
	summary *telemetry.Summary
	scores  func() caption.Scores // of the last validation
}

// openRecords opens them behind a step, -1 for a new run.
func (s *Session) openRecords(dir string, step int) (*records, error) {
	log, err := run.OpenLog(dir, step, &s.Config)
	if err != nil {
		return nil, err
	}
	summary, err := telemetry.OpenCaptionSummary(filepath.Join(dir, run.SummaryFile), step)
	if err != nil {
		return nil, cmp.Or(err, log.Close())
	}
	return &records{log: log, summary: summary, scores: func() caption.Scores { return s.last }}, nil
}

func (r *records) observers() []captioning.Observer {
	if r == nil {
		return nil
	}
	return []captioning.Observer{telemetry.LogCaptionsTo(r.log.Logger()), r.summary.CaptionObserver(r.scores)}
}

// flush writes what found no room before.
func (r *records) flush() error {
	if r == nil {
		return nil
	}
	return cmp.Or(r.summary.Flush(), r.log.Flush())
}

func (r *records) close() error {
	if r == nil {
		return nil
	}
	return cmp.Or(r.summary.Flush(), r.log.Close())
}

// broken is the number of lines of the log that could not be read.
func (r *records) broken() int {
	if r == nil {
		return 0
	}
	return r.log.Broken()
}

// loss is that of the last epoch.
func (r *records) loss() float64 {
	if r == nil {
		return 0
	}
	return r.summary.Last("epoch", "loss")
}

package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"nmn/internal/durable"
	"nmn/recipe"
	"nmn/report"
	"nmn/train"
)

// EpochsFile is the file of a run folder with the evaluation after each epoch.
const EpochsFile = "epochs.json"

// EpochFigures are what a net was worth after an epoch.
type EpochFigures struct {
	Epoch            int `json:"epoch"` // of the stage, from 1
	Step             int `json:"step"`
	recipe.Judgement     // without the figures of single words
}

// epochRecord is the file of epoch figures. It is written anew with each row, before the checkpoint of that
// epoch, so that a run that goes on from a checkpoint has the rows of all earlier epochs.
type epochRecord struct {
	path    string
	rows    []EpochFigures
	missing error // why the file lacks rows: the disk was full
}

// openEpochs goes on with the record of a folder after a step; -1 begins anew.
func openEpochs(dir string, step int) (*epochRecord, error) {
	r := &epochRecord{path: filepath.Join(dir, EpochsFile)}
	if step < 0 {
		return r, r.write()
	}
	rows, err := ReadEpochs(dir)
	if err != nil {
		return nil, err
	}
	r.rows = slices.DeleteFunc(rows, func(f EpochFigures) bool { return f.Step > step })
	return r, r.write()
}

// put adds a row, in place of one of the same epoch; nothing on ranks that have no record.
func (r *epochRecord) put(at train.Position, j *recipe.Judgement) error {
	if r == nil {
		return nil
	}
	row := EpochFigures{at.Epoch, at.Step, *j}
	short := *j.Evaluation
	short.Words = nil
	row.Evaluation = &short
	if i := slices.IndexFunc(r.rows, func(f EpochFigures) bool { return f.Epoch == row.Epoch }); i >= 0 {
		r.rows[i] = row
	} else {
		r.rows = append(r.rows, row)
	}
	if r.missing = r.write(); durable.Full(r.missing) {
		return nil // training goes on, and the next row or checkpoint brings it
	}
	return r.missing
}

// Flush writes rows that found no room before, if any.
func (r *epochRecord) Flush() error {
	if r.missing != nil {
		r.missing = r.write()
	}
	return r.missing
}

// Observer flushes the rows before a checkpoint is written from which a run may go on.
func (r *epochRecord) Observer() train.Observer {
	return train.Observer{Saved: func(train.Saved) { _ = r.Flush() }} // the error stays for the next time
}

// Close has nothing to do: the file is written as a whole.
func (*epochRecord) Close() error { return nil }

func (r *epochRecord) write() error {
	rows := r.rows
	if rows == nil {
		rows = []EpochFigures{}
	}
	return durable.SaveJSON(r.path, rows)
}

// ReadEpochs reads the record of a folder.
func ReadEpochs(dir string) ([]EpochFigures, error) {
	path := filepath.Join(dir, EpochsFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: the run has no figures of its epochs; remove its folder to train it again", err)
	}
	if err != nil {
		return nil, err
	}
	rows, err := parseEpochs(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove the folder of the run to train it again", path, err)
	}
	return rows, nil
}

func parseEpochs(data []byte) ([]EpochFigures, error) {
	var rows []EpochFigures
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, err
	}
	for i, f := range rows {
		if f.Evaluation == nil || f.Step < 0 || f.Epoch < 1 || i > 0 && f.Epoch <= rows[i-1].Epoch {
			return nil, fmt.Errorf("row %d: epoch %d at step %d: want rising epochs from 1, each with an evaluation",
				i+1, f.Epoch, f.Step)
		}
	}
	return rows, nil
}

// epochsOf returns the rows for reports, counted from the end of a stage 1 of the given number of epochs.
func epochsOf(rows []EpochFigures, before int) []report.Epoch {
	var out []report.Epoch
	for _, f := range rows {
		out = append(out, report.Epoch{Number: f.Epoch - before, Result: f.Evaluation, Audit: f.Audit})
	}
	return out
}

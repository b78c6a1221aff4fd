package telemetry

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"sync"

	"nmn/train"
)

// Summary is summary.csv of a run folder: one row for each epoch and each validation, under the header
// of SummaryColumns. It is written anew after every row, aside and renamed, so that it is whole at any
// time. Rows that could not be written are in the file once the next one, or a checkpoint, can be.
type Summary struct {
	path    string
	replace func(path string, content []byte) error
	columns []string
	mutex   sync.Mutex
	rows    [][]string
	err     error // why the file lacks rows
}

// SummaryColumns are the columns: event is epoch or evaluation; the loss of an epoch is the mean over
// its bags; the measures of a validation are those of train.Measures. Cells without a figure are empty.
func SummaryColumns() []string {
	return append([]string{"event", "step", "epoch", "loss", "bags", "images", "bad_samples", "data_wait_s",
		"duration_s", "best"}, train.Measures()...)
}

const stepColumn = 1

// OpenSummary goes on with the summary of a run that is resumed from a checkpoint of a step: rows of
// later steps are taken out. Rows of the very step stay, and are not written twice. A new run passes -1
// and starts without rows.
func OpenSummary(path string, step int) (*Summary, error) {
	return openSummary(path, SummaryColumns(), step)
}

func openSummary(path string, columns []string, step int) (*Summary, error) {
	s := &Summary{path: path, replace: replace, columns: columns}
	if step < 0 {
		return s, s.write()
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, s.write()
	}
	if err != nil {
		return nil, fmt.Errorf("summary: %w", err)
	}
	if s.rows, err = parseSummary(bytes.NewReader(content), columns, step); err != nil {
		return nil, fmt.Errorf("summary %q: %w; remove the file to go on without its rows", path, err)
	}
	return s, s.write()
}

func parseSummary(r io.Reader, columns []string, step int) ([][]string, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = len(columns)
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("cannot read the header: %w", err)
	}
	for i, want := range columns {
		if header[i] != want {
			return nil, fmt.Errorf("line 1: column %d is %q, want %q", i+1, header[i], want)
		}
	}
	var rows [][]string
	for {
		row, err := in.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		at, err := strconv.Atoi(row[stepColumn])
		if err != nil {
			line, _ := in.FieldPos(stepColumn)
			return nil, fmt.Errorf("line %d: step is %q, want a number", line, row[stepColumn])
		}
		if at <= step {
			rows = append(rows, row)
		}
	}
}

// Last is the number in a column of the last row of an event; 0 where there is none.
func (s *Summary) Last(event, column string) float64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	at := slices.Index(s.columns, column)
	for _, row := range slices.Backward(s.rows) {
		if row[0] == event && at >= 0 {
			x, _ := strconv.ParseFloat(row[at], 64) // a cell without a figure is empty
			return x
		}
	}
	return 0
}

// Flush writes the rows that could not be written before, if any, and returns why it cannot. Training goes on without
// them.
func (s *Summary) Flush() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.err != nil {
		s.err = s.write()
	}
	return s.err
}

// saved flushes: a run that is resumed from a checkpoint has the rows before it.
func (s *Summary) saved(train.Saved) { _ = s.Flush() } // the error stays for the next time

// Observer adds a row for each epoch and validation.
func (s *Summary) Observer() train.Observer {
	return train.Observer{
		Epoch: func(e train.EpochDone) {
			s.add([]string{"epoch", strconv.Itoa(e.Step), strconv.Itoa(e.Epoch), decimal(e.Loss), strconv.Itoa(e.Bags),
				strconv.Itoa(e.Images),
				strconv.Itoa(e.BadSamples), decimal(e.DataWait.Seconds()), decimal(e.Duration.Seconds()), ""})
		},
		Evaluated: func(e train.Evaluated) {
			row := []string{"evaluation", strconv.Itoa(e.Step), strconv.Itoa(e.Epoch), "", "", "", "", "",
				decimal(e.Duration.Seconds()), strconv.FormatBool(e.Best)}
			for _, name := range train.Measures() {
				cell := ""
				if value := train.Measure(name, e.Result); value.Defined() {
					cell = decimal(float64(value))
				}
				row = append(row, cell)
			}
			s.add(row)
		},
		Saved: s.saved,
	}
}

// decimal is the shortest text that reads back as the same float32: enough for a table.
func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 32) }

// add appends a row, in place of one for the same event of the same step and epoch.
func (s *Summary) add(row []string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	row = append(row, make([]string, len(s.columns)-len(row))...)
	for i, old := range s.rows {
		if old[0] == row[0] && old[1] == row[1] && old[2] == row[2] {
			s.rows[i] = row
			s.err = s.write()
			return
		}
	}
	s.rows = append(s.rows, row)
	s.err = s.write()
}

func (s *Summary) write() error {
	var b bytes.Buffer
	out := csv.NewWriter(&b)
	if err := out.WriteAll(append([][]string{s.columns}, s.rows...)); err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	return s.replace(s.path, b.Bytes())
}

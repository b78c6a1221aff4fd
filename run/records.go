package run

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/loader"
	"nmn/report"
	"nmn/run/folder"
	"nmn/telemetry"
	"nmn/train"
)

// Files of a run folder that grow with training.
const (
	LogFile           = "log.jsonl"
	TensorBoardFolder = "tensorboard" // a folder
)

// record is a file of a run folder, or a folder of files, that grows with training.
type record interface {
	Observer() train.Observer
	Flush() error // writes what found no room before
	Close() error
}

// OpenLog opens the log of a run folder after a step, -1 for a new run, and writes the configuration first.
func OpenLog(dir string, step int, config any) (*telemetry.Log, error) {
	log, err := telemetry.OpenLog(filepath.Join(dir, LogFile), step)
	if err != nil {
		return nil, err
	}
	attributes := []any{"resumed_at", max(step, 0)}
	values := folder.Flatten(config)
	for _, k := range slices.Sorted(maps.Keys(values)) {
		attributes = append(attributes, k, values[k])
	}
	log.Logger().Info("configuration", attributes...)
	if n := log.Broken(); n > 0 {
		log.Logger().Warn("broken lines were left out", "count", n)
	}
	return log, nil
}

// openRecords opens the log and what else is configured after a step, -1 for a new run, and counts the lines of the log
// that were no lines of one. validation is the set that is evaluated during training, or nil.
func openRecords(dir string, step int, c *Config, validation *loader.Set) (all []record, broken int, err error) {
	log, err := OpenLog(dir, step, c)
	if err != nil {
		return nil, 0, err
	}
	all = []record{log}
	if c.Run.TensorBoard {
		board, err := telemetry.OpenBoard(filepath.Join(dir, TensorBoardFolder), step, validation)
		if err != nil {
			return nil, 0, cmp.Or(err, log.Close())
		}
		all = append(all, board)
	}
	return all, log.Broken(), nil
}

// logLine is what is read of a line of the log.
type logLine struct {
	Message      string   `json:"msg"`
	Step         int      `json:"step"`
	Loss         *float64 `json:"loss"`
	Truth        *float64 `json:"true_map"`
	Human        *float64 `json:"human_ap"`
	Labels       *float64 `json:"map"`
	Accuracy     *float64 `json:"accuracy"` // this and the next are figures of exclusive classes
	TrueAccuracy *float64 `json:"true_accuracy"`
	Images       float64  `json:"images"` // this and the next are totals of an epoch
	Milliseconds float64  `json:"epoch_ms"`
}

// ReadCurve reads loss and validation AP or accuracy of a whole run from its log. A line that is broken, as one that a
// full disk or a kill has cut, is left out and counted. A file whose first line is broken is no log.
func ReadCurve(path, stage string) (points []report.Point, broken int, err error) {
	broken, err = readLog(path, func(line *logLine) { points = line.drawn(points, stage) })
	return points, broken, err
}

// drawn adds the point of a curve that a line is, if it is one.
func (l *logLine) drawn(points []report.Point, stage string) []report.Point {
	point := report.Point{Step: l.Step, Stage: stage, Loss: eval.Undefined(), AP: eval.Undefined()}
	switch {
	case l.Message == "step" && l.Loss != nil:
		point.Loss = eval.Number(*l.Loss)
	case l.Message == "evaluation":
		if shown := cmp.Or(l.TrueAccuracy, l.Accuracy, l.Truth, l.Human, l.Labels); shown != nil {
			point.AP = eval.Number(*shown)
		}
		point.Accuracy = l.Accuracy != nil || l.TrueAccuracy != nil
	default:
		return points
	}
	return append(points, point)
}

// EpochLoss is the loss of the last epoch by the log of a run folder; 0 for none.
func EpochLoss(dir string) (loss float64, err error) {
	_, err = readLog(filepath.Join(dir, LogFile), func(line *logLine) {
		if line.Message == "epoch" && line.Loss != nil {
			loss = *line.Loss
		}
	})
	return loss, err
}

// LogSpeed is how many images a second the epochs in the log of a run folder have learned; 0 if it has none.
func LogSpeed(dir string) float64 {
	images, milliseconds := 0., 0.
	_, err := readLog(filepath.Join(dir, LogFile), func(line *logLine) {
		if line.Message == "epoch" {
			images, milliseconds = images+line.Images, milliseconds+line.Milliseconds
		}
	})
	if err != nil || milliseconds == 0 {
		return 0
	}
	return 1000 * images / milliseconds
}

// readLog shows each line of the log of a path; broken ones are counted.
func readLog(path string, show func(*logLine)) (broken int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if broken, err = eachLine(f, show); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return broken, nil
}

func eachLine(r io.Reader, show func(*logLine)) (broken int, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	number := 0
	for lines.Scan() {
		number++
		var line logLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil && number == 1 {
			return 0, fmt.Errorf("line %d is not one of a log: move the file away: %w", number, err)
		} else if err != nil {
			broken++
			continue
		}
		show(&line)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return 0, fmt.Errorf("line %d is too long: it is no log", number+1)
	}
	return broken, lines.Err()
}

// ValidationMeasure is the measure of an evaluation that people are shown on the way, and its name: accuracy
// if classes exclude each other, else AP against the truth, with human agreement or against labels.
func ValidationMeasure(r *eval.Result) (name string, value eval.Number) {
	for _, measure := range []string{"true_accuracy", "accuracy", "true_map", "human_ap", "map"} {
		if value = train.Measure(measure, r); value.Defined() {
			if strings.HasSuffix(measure, "accuracy") {
				return "accuracy", value
			}
			break
		}
	}
	return "AP", value
}

package telemetry

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"nmn/internal/durable"
	"nmn/train"
)

// Log is log.jsonl of a run folder: one JSON object a line, with time, level, a constant msg and typed keys. Steps have
// step, epoch, loss, lr, grad_norm, images_per_s, data_wait_ms, step_ms and device_bytes. Steps of several ranks also
// have ranks, rank_wait_ms, most_rank_wait_ms and slowest_rank. Lines that cannot be written wait until they can.
type Log struct {
	file   *durable.Journal
	logger *slog.Logger
	broken int
}

// maxLine bounds a line of a log that is read back.
const maxLine = 1 << 20

// OpenLog opens a log to append to. A run that is resumed from a checkpoint of a step repeats the later
// steps, so their lines are removed first. Broken lines, such as an incomplete last one, are removed too. A
// new run passes -1 and starts an empty file.
func OpenLog(path string, step int) (*Log, error) {
	broken, err := truncateLog(path, step)
	if err != nil {
		return nil, err
	}
	file, err := durable.OpenJournal(path, 0, lostLines)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return &Log{file: file, logger: slog.New(slog.NewJSONHandler(file, nil)), broken: broken}, nil
}

// lostLines is the line that stands for those that could not be written.
func lostLines(count int) []byte {
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(&b, nil)).Warn("lines lost", slog.Int("count", count))
	return b.Bytes()
}

// Broken is the number of whole lines that OpenLog has taken out because they were no lines of a log.
func (l *Log) Broken() int { return l.broken }

// Logger writes lines of other kinds to the same file, for example the resolved configuration.
func (l *Log) Logger() *slog.Logger { return l.logger }

// Flush writes the lines that could not be written before, if any, and returns why it cannot.
func (l *Log) Flush() error {
	if err := l.file.Flush(); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return nil
}

// Close closes the file. The error reports what could not be written.
func (l *Log) Close() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return nil
}

// Observer writes every step that falls on the log interval, and all other events.
func (l *Log) Observer() train.Observer { return LogTo(l.logger) }

// LogTo writes events to any logger.
func LogTo(logger *slog.Logger) train.Observer {
	return train.Observer{
		Step: func(e train.StepDone) {
			if e.Log {
				attributes := []any{slog.Int("step", e.Step), slog.Int("epoch", e.Epoch), slog.Float64("loss", e.Loss),
					slog.Float64("lr", e.LearningRate), slog.Float64("grad_norm", e.GradNorm),
					slog.Float64("images_per_s", e.ImagesPerSecond()),
					slog.Float64("data_wait_ms", Milliseconds(e.DataWait)),
					slog.Float64("step_ms", Milliseconds(e.Duration)), slog.Int("device_bytes", e.DeviceBytes)}
				if e.Ranks > 1 {
					attributes = append(attributes, slog.Int("ranks", e.Ranks), slog.Float64("rank_wait_ms", Milliseconds(e.Wait)),
						slog.Float64("most_rank_wait_ms", Milliseconds(e.MostWait)), slog.Int("slowest_rank", e.Slowest))
				}
				logger.Info("step", attributes...)
			}
		},
		Epoch: func(e train.EpochDone) {
			logger.Info("epoch", slog.Int("step", e.Step), slog.Int("epoch", e.Epoch), slog.Float64("loss", e.Loss),
				slog.Int("samples", e.Bags), slog.Int("images", e.Images), slog.Int("bad_samples", e.BadSamples),
				slog.Float64("data_wait_ms", Milliseconds(e.DataWait)), slog.Float64("epoch_ms", Milliseconds(e.Duration)))
		},
		Evaluated: func(e train.Evaluated) {
			attributes := []any{slog.Int("step", e.Step), slog.Int("epoch", e.Epoch), slog.Bool("best", e.Best),
				slog.Float64("evaluation_ms", Milliseconds(e.Duration))}
			for _, name := range train.Measures() {
				if value := train.Measure(name, e.Result); value.Defined() {
					attributes = append(attributes, slog.Float64(name, float64(value)))
				}
			}
			logger.Info("evaluation", attributes...)
		},
		Saved: func(e train.Saved) {
			logger.Info("checkpoint", slog.Int("step", e.Step), slog.Int("epoch", e.Epoch),
				slog.String("path", filepath.Base(e.Path)),
				slog.Bool("best", e.Best), slog.Int64("bytes", e.Bytes), slog.Float64("save_ms", Milliseconds(e.Duration)))
		},
		Unsaved: func(e train.Unsaved) {
			logger.Warn("checkpoint not saved, training goes on and tries again", slog.Int("step", e.Step),
				slog.Int("epoch", e.Epoch), slog.String("cause", e.Err.Error()))
		},
		Bad: func(e train.BadSamples) {
			for _, bad := range e.New {
				logger.Warn("bad sample left out", slog.String("id", bad.ID), slog.String("cause", bad.Err.Error()),
					slog.Int("count", e.Count))
			}
		},
	}
}

// Milliseconds is a duration as log lines have it.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// truncateLog rewrites a log without the lines after a step and without broken ones, which it counts.
func truncateLog(path string, step int) (broken int, err error) {
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("log: %w", err)
	}
	kept, broken, err := linesUntil(bytes.NewReader(old), step)
	if err != nil {
		return 0, fmt.Errorf("log %q: %w", path, err)
	}
	if len(kept) == len(old) {
		return 0, nil
	}
	if err := durable.WriteFile(path, kept, 0o644); err != nil {
		return 0, fmt.Errorf("cannot rewrite %q: %w", path, err)
	}
	return broken, nil
}

// linesUntil returns the lines up to a step, and the number of broken lines that it has left out. A file
// whose first line is broken is no log.
func linesUntil(r io.Reader, step int) (kept []byte, broken int, err error) {
	if step < 0 {
		return nil, 0, nil
	}
	lines := bufio.NewReaderSize(r, 1<<16)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF { // the rest has no end: the process was killed while writing
			return kept, broken, nil
		}
		if err != nil {
			return nil, 0, err
		}
		if len(line) > maxLine {
			return nil, 0, fmt.Errorf("line %d has %d bytes, more than %d: it is no log", number, len(line), maxLine)
		}
		var at struct {
			Step int `json:"step"`
		}
		err = json.Unmarshal(line, &at)
		if err != nil && number == 1 {
			return nil, 0, fmt.Errorf("line %d is not one of a log: move the file away: %w", number, err)
		}
		switch {
		case err != nil:
			broken++
		case at.Step <= step:
			kept = append(kept, line...)
		}
	}
}

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

// Log is log.jsonl of a run folder: one JSON object a line, with time, level, a constant msg and typed
// keys. Steps have step, epoch, loss, lr, grad_norm, images_per_s, data_wait_ms, step_ms and
// device_bytes.
type Log struct {
	file   *os.File
	logger *slog.Logger
}

// maxLine bounds a line of a log that is read back.
const maxLine = 1 << 20

// OpenLog opens a log to append to. A run that is resumed from a checkpoint of a step makes the steps
// behind it again: lines of a later step are taken out first, and so is a last line that was
// cut short. A new run passes -1 and starts an empty file.
func OpenLog(path string, step int) (*Log, error) {
	if err := truncateLog(path, step); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return &Log{file: file, logger: slog.New(slog.NewJSONHandler(file, nil))}, nil
}

// Logger writes lines of other kinds to the same file, for example the resolved configuration.
func (l *Log) Logger() *slog.Logger { return l.logger }

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// Observer writes every step that falls on the log interval, and all other events.
func (l *Log) Observer() train.Observer { return LogTo(l.logger) }

// LogTo writes events to any logger.
func LogTo(logger *slog.Logger) train.Observer {
	return train.Observer{
		Step: func(e train.StepDone) {
			if e.Log {
				logger.Info("step", slog.Int("step", e.Step), slog.Int("epoch", e.Epoch), slog.Float64("loss", e.Loss),
					slog.Float64("lr", e.LearningRate), slog.Float64("grad_norm", e.GradNorm),
					slog.Float64("images_per_s", e.ImagesPerSecond()),
					slog.Float64("data_wait_ms", milliseconds(e.DataWait)),
					slog.Float64("step_ms", milliseconds(e.Duration)), slog.Int("device_bytes", e.DeviceBytes))
			}
		},
		Epoch: func(e train.EpochDone) {
			logger.Info("epoch", slog.Int("step", e.Step), slog.Int("epoch", e.Epoch), slog.Float64("loss", e.Loss),
				slog.Int("bags", e.Bags), slog.Int("images", e.Images), slog.Int("bad_samples", e.BadSamples),
				slog.Float64("data_wait_ms", milliseconds(e.DataWait)),
				slog.Float64("epoch_ms", milliseconds(e.Duration)))
		},
		Evaluated: func(e train.Evaluated) {
			attributes := []any{slog.Int("step", e.Step), slog.Int("epoch", e.Epoch), slog.Bool("best", e.Best),
				slog.Float64("evaluation_ms", milliseconds(e.Duration))}
			for _, name := range train.Measures() {
				if value := train.Measure(name, e.Result); value.Defined() {
					attributes = append(attributes, slog.Float64(name, float64(value)))
				}
			}
			logger.Info("evaluation", attributes...)
		},
		Saved: logSaved(logger),
		Bad: func(e train.BadSamples) {
			for _, bad := range e.New {
				logger.Warn("bad sample left out", slog.String("id", bad.ID), slog.String("cause", bad.Err.Error()),
					slog.Int("count", e.Count))
			}
		},
	}
}

// logSaved writes a line for each checkpoint.
func logSaved(logger *slog.Logger) func(train.Saved) {
	return func(e train.Saved) {
		logger.Info("checkpoint", slog.Int("step", e.Step), slog.Int("epoch", e.Epoch),
			slog.String("path", filepath.Base(e.Path)),
			slog.Bool("best", e.Best), slog.Int64("bytes", e.Bytes), slog.Float64("save_ms", milliseconds(e.Duration)))
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// truncateLog rewrites a log without the lines after a step.
func truncateLog(path string, step int) error {
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	kept, err := linesUntil(bytes.NewReader(old), step)
	if err != nil {
		return fmt.Errorf("log %q: %w", path, err)
	}
	if len(kept) == len(old) {
		return nil
	}
	return replace(path, kept)
}

// linesUntil returns the lines up to a step: none of a later step.
func linesUntil(r io.Reader, step int) ([]byte, error) {
	var kept []byte
	if step < 0 {
		return nil, nil
	}
	lines := bufio.NewReaderSize(r, 1<<16)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF { // what is left has no end: the process was killed while it wrote
			return kept, nil
		}
		if err != nil {
			return nil, err
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("line %d has %d bytes, more than %d: it is no log", number, len(line), maxLine)
		}
		var at struct {
			Step int `json:"step"`
		}
		if err := json.Unmarshal(line, &at); err != nil {
			return nil, fmt.Errorf("line %d is not one of a log: move the file away: %w", number, err)
		}
		if at.Step <= step {
			kept = append(kept, line...)
		}
	}
}

// replace writes a file aside and renames it.
func replace(path string, content []byte) error {
	if err := durable.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("cannot rewrite %q: %w", path, err)
	}
	return nil
}

package durable

import (
	"context"
	"log/slog"
	"time"
)

// waits are those between the tries of Patiently, about five seconds in all.
var waits = [...]time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond,
	800 * time.Millisecond, 1500 * time.Millisecond, 2 * time.Second}

// Patiently calls write, which writes whole files and may be called again, until the disk has room for them.
// If the disk is full (Full), it waits and tries again, for about five seconds. Then, or when ctx ends, it
// returns the last try's error. full is called with the first error, as in WarnFull.
func Patiently(ctx context.Context, full func(error), write func() error) error {
	err := write()
	for i := 0; i < len(waits) && Full(err) && ctx.Err() == nil; i++ {
		if i == 0 {
			full(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(waits[i]):
			err = write()
		}
	}
	return err
}

// WarnFull writes to a log that a disk is full, for Patiently.
func WarnFull(log *slog.Logger) func(error) {
	return func(err error) { log.Warn("the disk is full: waiting a moment for room", "cause", err.Error()) }
}

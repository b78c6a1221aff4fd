package main

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
)

// mostAlike is the number of warnings with the same message that are shown. For thousands of missing files, a few names
// and the count are enough.
const mostAlike = 5

// sparse is a handler that shows the first warnings with each message and counts the others.
type sparse struct {
	slog.Handler
	*alike
}

// alike counts warnings by message. Handlers derived from the same handler share it.
type alike struct {
	mu   sync.Mutex
	seen map[string]int
}

func newSparse(h slog.Handler) sparse { return sparse{h, &alike{seen: map[string]int{}}} }

// Handle shows a record, unless it is a warning that was shown often enough.
func (s sparse) Handle(ctx context.Context, r slog.Record) error {
	if r.Level == slog.LevelWarn {
		s.mu.Lock()
		s.seen[r.Message]++
		enough := s.seen[r.Message] > mostAlike
		s.mu.Unlock()
		if enough {
			return nil
		}
	}
	return s.Handler.Handle(ctx, r)
}

// summarise logs at the end how many warnings were left out.
func (s sparse) summarise(ctx context.Context) {
	s.mu.Lock()
	seen := maps.Clone(s.seen)
	s.mu.Unlock()
	for _, message := range slices.Sorted(maps.Keys(seen)) {
		if more := seen[message] - mostAlike; more > 0 {
			slog.New(s.Handler).WarnContext(ctx, message+": more warnings like this (-v shows all)", "more", more)
		}
	}
}

func (s sparse) WithAttrs(attributes []slog.Attr) slog.Handler {
	return sparse{s.Handler.WithAttrs(attributes), s.alike}
}

func (s sparse) WithGroup(name string) slog.Handler {
	return sparse{s.Handler.WithGroup(name), s.alike}
}

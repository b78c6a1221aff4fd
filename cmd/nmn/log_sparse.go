package main

import (
	"context"
	"log/slog"
	"sync"
)

// mostAlike is the number of warnings with the same message that are shown. For thousands of missing files, a few names
// and the count are enough.
const mostAlike = 5

// sparse is a handler that shows the first warnings with each message and counts the others.
type sparse struct {
	slog.Handler
	counts *alike
}

// alike counts warnings by message. Handlers derived from the same handler share it.
type alike struct {
	mu    sync.Mutex
	seen  map[string]int
	more  []string       // messages left out since the last summary, in order
	extra map[string]int // number of warnings left out
}

func newSparse(h slog.Handler) sparse {
	return sparse{h, &alike{seen: map[string]int{}, extra: map[string]int{}}}
}

// Handle shows a record, unless it is a warning that was shown often enough.
func (s sparse) Handle(ctx context.Context, r slog.Record) error {
	if r.Level == slog.LevelWarn && s.counts.enough(r.Message) {
		return nil
	}
	s.summarise(ctx)
	return s.Handler.Handle(ctx, r)
}

// enough counts a warning and reports whether it is left out.
func (a *alike) enough(message string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen[message]++; a.seen[message] <= mostAlike {
		return false
	}
	if a.extra[message]++; a.extra[message] == 1 {
		a.more = append(a.more, message)
	}
	return true
}

// summarise logs how many warnings were left out.
func (s sparse) summarise(ctx context.Context) {
	s.counts.mu.Lock()
	more, extra := s.counts.more, s.counts.extra
	s.counts.more, s.counts.extra = nil, map[string]int{}
	s.counts.mu.Unlock()
	for _, message := range more {
		slog.New(s.Handler).WarnContext(ctx, message+": more warnings like this (-v shows all)", "more", extra[message])
	}
}

func (s sparse) WithAttrs(attributes []slog.Attr) slog.Handler {
	return sparse{s.Handler.WithAttrs(attributes), s.counts}
}

func (s sparse) WithGroup(name string) slog.Handler {
	return sparse{s.Handler.WithGroup(name), s.counts}
}

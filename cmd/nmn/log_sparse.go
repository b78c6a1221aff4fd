package main

import (
	"context"
	"log/slog"
	"sync"
)

// mostAlike is how many warnings of one message are shown: of thousands of files that are missing a few names are
// enough, and the number.
const mostAlike = 5

// sparse is a handler that shows the first warnings of each message, and counts the others.
type sparse struct {
	slog.Handler
	counts *alike
}

// alike counts warnings by message; handlers that are made of one share it.
type alike struct {
	mu    sync.Mutex
	seen  map[string]int
	more  []string       // messages that were left out since this was told, in their order
	extra map[string]int // how often
}

func newSparse(h slog.Handler) sparse {
	return sparse{h, &alike{seen: map[string]int{}, extra: map[string]int{}}}
}

// Handle shows a record, unless it is a warning of which there were enough.
func (s sparse) Handle(ctx context.Context, r slog.Record) error {
	if r.Level == slog.LevelWarn && s.counts.enough(r.Message) {
		return nil
	}
	s.tell(ctx)
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

// tell shows how many warnings were left out.
func (s sparse) tell(ctx context.Context) {
	s.counts.mu.Lock()
	more, extra := s.counts.more, s.counts.extra
	s.counts.more, s.counts.extra = nil, map[string]int{}
	s.counts.mu.Unlock()
	for _, message := range more {
		slog.New(s.Handler).WarnContext(ctx, message+", and so are more like it (-v shows all)", "more", extra[message])
	}
}

func (s sparse) WithAttrs(attributes []slog.Attr) slog.Handler {
	return sparse{s.Handler.WithAttrs(attributes), s.counts}
}

func (s sparse) WithGroup(name string) slog.Handler {
	return sparse{s.Handler.WithGroup(name), s.counts}
}

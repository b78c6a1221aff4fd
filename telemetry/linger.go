package telemetry

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// scrapes knows when metrics were asked for. Its methods may be called from any goroutine.
type scrapes struct {
	mu           sync.Mutex
	last, before time.Time // the last two; zero where there were none
	next         chan struct{}
}

// count notes the requests that a handler answers, once they are answered.
func (s *scrapes) count(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next := s.coming()
		handler.ServeHTTP(w, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.before, s.last = s.last, time.Now()
		if next == s.next { // else it began before somebody has begun to wait
			close(s.next)
			s.next = make(chan struct{})
		}
	})
}

// coming is what a scrape that begins now closes when it is answered.
func (s *scrapes) coming() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// expected is how long the next scrape may take to come; 0 where nobody scrapes, or does no more.
func (s *scrapes) expected(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	const spare = time.Second
	if s.before.IsZero() {
		return 0
	}
	wait := 2*s.last.Sub(s.before) + spare
	if now.Sub(s.last) > wait {
		return 0
	}
	return wait
}

// Linger waits until the metrics have been scraped once more, so that who watches sees how a run has ended. It waits
// for at most twice the time between the last two scrapes and a second, never longer than most, and not at all where
// nobody scrapes.
func (s *Server) Linger(ctx context.Context, most time.Duration) {
	wait := min(most, s.scrapes.expected(time.Now()))
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-s.scrapes.renewed():
	case <-timer.C:
	case <-ctx.Done():
	}
}

// renewed is closed when a scrape that begins after the call has been answered.
func (s *scrapes) renewed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = make(chan struct{})
	return s.next
}

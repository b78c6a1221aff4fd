package mlflow

import "sync"

// mostQueued is how many metrics wait for the goroutine that sends them, while the server keeps it waiting.
const mostQueued = 1 << 14

// queue holds entries for one goroutine that takes them. Its methods may be called from any.
type queue struct {
	mu      sync.Mutex
	entries []entry
	metrics int
	some    chan struct{} // holds one where there are entries that nobody has been told of
}

func newQueue() *queue { return &queue{some: make(chan struct{}, 1)} }

// put appends an entry, joined with the last one where it can be. It reports false where there are too many metrics;
// anything else always finds room.
func (q *queue) put(e entry) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(e.Metrics) > 0 && q.metrics+len(e.Metrics) > mostQueued {
		return false
	}
	q.metrics += len(e.Metrics)
	if n := len(q.entries); n == 0 || !q.entries[n-1].join(e) {
		q.entries = append(q.entries, e)
	}
	select {
	case q.some <- struct{}{}:
	default:
	}
	return true
}

// take empties the queue.
func (q *queue) take() []entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	entries := q.entries
	q.entries, q.metrics = nil, 0
	return entries
}

package ranks

import "time"

// Timed is a Group that says how long its calls wait for a rank; ask by TimeoutOf.
type Timed interface {
	// Timeout is that time; 0 is for ever.
	Timeout() time.Duration
}

// TimeoutOf is how long the calls of a group wait for a rank before they give it up, 0 for ever: what else waits for
// the same ranks is to wait as long. Of a group that does not say it is otherwise.
func TimeoutOf(g Group, otherwise time.Duration) time.Duration {
	if timed, ok := g.(Timed); ok {
		return timed.Timeout()
	}
	return otherwise
}

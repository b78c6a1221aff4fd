package ranks

import "time"

// Timed is a Group that reports how long its calls wait for a rank; use TimeoutOf to read it.
type Timed interface {
	// Timeout is that time; 0 is for ever.
	Timeout() time.Duration
}

// TimeoutOf returns how long the calls of a group wait for a rank before they give up, 0 for ever. Other
// waits for the same ranks should be as long. For a group that does not report it, it returns otherwise.
func TimeoutOf(g Group, otherwise time.Duration) time.Duration {
	if timed, ok := g.(Timed); ok {
		return timed.Timeout()
	}
	return otherwise
}

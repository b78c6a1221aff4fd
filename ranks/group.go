package ranks

import "time"

// Wire is how numbers travel while they are summed.
type Wire int

const (
	Float32 Wire = iota
	// BFloat16 halves the bytes: each rank's numbers are rounded to bfloat16 before they are sent, and so is their sum.
	BFloat16
)

// Group is a rank's view of the ranks of a job. It serves one goroutine, apart from Abort. Every rank makes
// the same calls in the same order. A call waits until the other ranks have made it, or for as long as the
// implementation allows. A call that fails ends the group. Its error wraps a *LostError if another rank is to
// blame, and all later calls fail with the same error.
type Group interface {
	// Rank is this process's number, from 0 to Size-1. Rank 0 writes the results of the job.
	Rank() int
	// Size is the number of ranks.
	Size() int
	// Local is this rank's number among the ranks of its host, and LocalSize is the number of ranks there.
	Local() int
	LocalSize() int
	// Names returns, for messages, the host and process of each rank.
	Names() []string
	// Timeout is how long a call waits for a rank before it gives up; 0 is for ever.
	Timeout() time.Duration

	// Sum starts to replace x, on each rank, by the sum of the x of all ranks, which have equal lengths.
	// Every rank gets the same bits, and the same ranks with the same numbers always get them. Sums are
	// computed one after the other while the caller continues; x belongs to the group until Wait.
	Sum(x []float32, wire Wire) error
	// Wait waits until all sums that were begun have ended.
	Wait() error
	// Gather returns what each rank gives, in the order of the ranks, on every rank. The lengths may differ. The result
	// holds until the next Gather.
	Gather(own []byte) ([][]byte, error)
	// Broadcast replaces data, on each rank, by the data of rank 0. The lengths are equal.
	Broadcast(data []byte) error

	// Abort ends the job on all ranks because this one cannot go on. Calls under way on other ranks fail with
	// a *LostError of this rank and cause, or their processes end with a message that contains them. It may
	// be called from any goroutine, and more than once.
	Abort(cause error)
	// Close leaves the group, on all ranks.
	Close() error
}

// Alone is a group of one rank.
type Alone struct{}

func (Alone) Rank() int      { return 0 }
func (Alone) Size() int      { return 1 }
func (Alone) Local() int     { return 0 }
func (Alone) LocalSize() int { return 1 }

func (Alone) Names() []string        { return []string{"this process"} }
func (Alone) Timeout() time.Duration { return 0 }

func (Alone) Sum([]float32, Wire) error           { return nil }
func (Alone) Wait() error                         { return nil }
func (Alone) Gather(own []byte) ([][]byte, error) { return [][]byte{own}, nil }
func (Alone) Broadcast([]byte) error              { return nil }
func (Alone) Abort(error)                         {}
func (Alone) Close() error                        { return nil }

// Of returns g, or Alone if g is nil.
func Of(g Group) Group {
	if g == nil {
		return Alone{}
	}
	return g
}

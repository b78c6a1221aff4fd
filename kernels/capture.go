package kernels

import (
	dense "gorgonia.org/tensor"

	"nmn/kernels/tensor"
	"nmn/kernels/update"
)

// Capturer is a Backend that can record the work of a step and do it again at once. A graphics card is
// one; ask by a type assertion.
type Capturer interface {
	// Captures reports whether recording is wanted: not where every launch is waited for.
	Captures() bool
	// Capture calls work, which enqueues operations on the backend, and records them instead of doing
	// them. They read and write the same memory whenever they are replayed. Every shape must have been
	// run once before; uploading, downloading and waiting fail within. What a call takes by value (Scale,
	// momentum, Accumulate) stays as it was; the seeds of dropout and the bounds of bags are what their
	// tensors hold when it is replayed; learning rates, decays and the constants of Adam are those of
	// PrepareUpdate.
	Capture(name string, work func() error) (Graph, error)
	// PrepareUpdate sets what a recorded update reads: the same tensors as recorded, with other rates and
	// decays, none of them a rate of 0 or all as recorded, and for Adam its constants. For SGD p is the
	// zero value.
	PrepareUpdate(entries []update.Entry, p update.AdamParams) error
}

// Graph is recorded work. It is valid until Close or until its backend is closed.
type Graph interface {
	// Launch enqueues the work.
	Launch() error
	Close() error
}

// Sectioned is a Backend that names stretches of the host's work to a profiler. A graphics card is one; ask
// by a type assertion.
type Sectioned interface {
	// Section ends the section before and begins another; an empty name begins none. Without a profiler
	// nothing happens.
	Section(name string)
}

// Feeder is a Backend that uploads beside its computing. A graphics card is one; ask by a type assertion.
type Feeder interface {
	NewFeed() (Feed, error)
}

// Feed brings batches to a device while it computes. Arrays are staged, one set at a time, and taken by
// the work that is enqueued next.
type Feed interface {
	// Alloc gives host memory that the device can read by itself. It may be called from any goroutine.
	Alloc(bytes int) ([]byte, error)
	// Free gives it back; what is not given back is freed with the feed.
	Free(memory []byte) error
	// Stage begins to upload host arrays. Those that begin where memory of Alloc does must not be changed until
	// Wait returns, or until work that follows Take has been waited for. The others are copied aside, and may be
	// changed when it returns.
	Stage(arrays []*dense.Dense) error
	// Wait waits until what was staged has left the host.
	Wait() error
	// Take enqueues moving what was staged to as many tensors of equal types and lengths, in their order.
	Take(to []*tensor.Tensor) error
	// Close waits for uploads and frees the feed's memory.
	Close() error
}

// Drainer is a Backend that takes results off the device while it goes on computing. A graphics card is one; ask by a
// type assertion.
type Drainer interface {
	NewDrain() (Drain, error)
}

// Drain brings results to the host, in the order in which they were begun, of which two may be on their way.
type Drain interface {
	// Begin enqueues copying a tensor of float32 behind the work so far. Work that follows may overwrite it.
	Begin(src *tensor.Tensor) error
	// Next waits for the oldest result, and for nothing behind it. The values hold until the next Begin.
	Next() ([]float32, error)
	// Close waits for results that are on their way, and frees the drain's memory.
	Close() error
}

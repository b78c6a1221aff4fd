package kernels

import (
	"time"

	dense "gorgonia.org/tensor"

	"nmn/cuda"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
)

// ErrOutOfMemory is wrapped by errors about device memory that is full.
var ErrOutOfMemory = cuda.ErrOutOfMemory

// Card is what a Backend on a graphics card has besides: it works while the host goes on, and has memory of its own.
// Ask by a type assertion.
type Card interface {
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

	// Section ends the section of the host's work before and begins another for a profiler; an empty name begins
	// none. Without a profiler nothing happens.
	Section(name string)

	// NewFeed makes a feed; nil if uploads are to wait for their turn.
	NewFeed() (Feed, error)
	// NewDrain makes a drain; nil if results are to be waited for.
	NewDrain() (Drain, error)

	// Mark notes, under a number from 0, the moment at which all work enqueued before will be done.
	// Marking the same number again moves it.
	Mark(number int) error
	// Between is the time from one mark to a later one. Both must have been reached: Sync before.
	Between(first, last int) (time.Duration, error)

	// MostBytes is the most device memory that was held at once since the backend was opened.
	MostBytes() int
	// FreeBytes is the device memory that no program holds.
	FreeBytes() (int, error)

	// ProductsBy counts the shapes of matrix products that each library computes, by its name: the faster one does.
	ProductsBy() map[string]int
}

// Graph is recorded work. It is valid until Close or until its backend is closed.
type Graph interface {
	// Launch enqueues the work.
	Launch() error
	Close() error
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

// Drain brings results to the host, in the order in which they were begun, of which two may be on their way.
type Drain interface {
	// Begin enqueues copying a tensor of float32 behind the work so far. Work that follows may overwrite it.
	Begin(src *tensor.Tensor) error
	// Next waits for the oldest result, and for nothing behind it. The values hold until the next Begin.
	Next() ([]float32, error)
	// Close waits for results that are on their way, and frees the drain's memory.
	Close() error
}

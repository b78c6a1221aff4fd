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

// Card has the additional methods of a Backend on a graphics card, which works while the host continues and
// has its own memory. Use a type assertion to get it.
type Card interface {
	// Captures reports whether recording is wanted. It is not if every launch is waited for.
	Captures() bool
	// Capture calls work, which enqueues operations on the backend, and records them instead of doing them.
	// Every replay reads and writes the same memory. Every shape must have been run once before. Uploading,
	// downloading and waiting fail inside work. Arguments passed by value (Scale, momentum, Accumulate) stay
	// as recorded. The seeds of dropout and the bounds of bags are read from their tensors at every replay.
	// Learning rates, decays and the constants of Adam come from PrepareUpdate.
	Capture(name string, work func() error) (Graph, error)
	// PrepareUpdate sets the inputs of a recorded update: the recorded tensors with new rates and decays.
	// Rates must be non-zero, or all as recorded. For Adam it also sets the constants. For SGD p is the zero
	// value.
	PrepareUpdate(entries []update.Entry, p update.AdamParams) error

	// Section ends the current section of the host's work and begins another for a profiler. An empty name
	// begins none. Without a profiler it does nothing.
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
	// Free frees memory from Alloc. Memory not freed is freed with the feed.
	Free(memory []byte) error
	// Stage begins to upload host arrays. Arrays that begin at memory from Alloc must not be changed until
	// Wait returns, or until work after Take has been waited for. The others are copied, and may be changed
	// when Stage returns.
	Stage(arrays []*dense.Dense) error
	// Wait waits until the staged arrays have left the host.
	Wait() error
	// Take enqueues moving the staged arrays to equally many tensors of equal types and lengths, in their
	// order.
	Take(to []*tensor.Tensor) error
	// Close waits for uploads and frees the feed's memory.
	Close() error
}

// Drain copies results to the host, in the order in which they were begun. Two may be under way.
type Drain interface {
	// Begin enqueues copying a float32 tensor after the work so far. Later work may overwrite the tensor.
	Begin(src *tensor.Tensor) error
	// Next waits for the oldest result, and for no later work. The values are valid until the next Begin.
	Next() ([]float32, error)
	// Close waits for results that are on their way, and frees the drain's memory.
	Close() error
}

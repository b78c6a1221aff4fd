package kernels

import "nmn/kernels/update"

// Capturer is a Backend that can record the work of a step and do it again at once. A graphics card is
// one; ask by a type assertion.
type Capturer interface {
	// Capture calls work, which enqueues operations on the backend, and records them instead of doing
	// them. They read and write the same memory whenever they are replayed. Every shape must have been
	// run once before; uploading, downloading and waiting fail within. What a call takes by value (Scale,
	// momentum, dropout seeds) stays as it was; learning rates, decays and the constants of Adam are
	// those of PrepareUpdate.
	Capture(name string, work func() error) (Graph, error)
	// PrepareUpdate sets what a recorded update reads: the same tensors as recorded, with other rates and
	// decays, and for Adam its constants. For SGD p is the zero value.
	PrepareUpdate(entries []update.Entry, p update.AdamParams) error
}

// Graph is recorded work. It is valid until Close or until its backend is closed.
type Graph interface {
	// Launch enqueues the work.
	Launch() error
	Close() error
}

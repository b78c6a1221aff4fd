package kernels

import (
	"time"

	"nmn/cuda"
)

// ErrOutOfMemory is wrapped by errors about device memory that is full.
var ErrOutOfMemory = cuda.ErrOutOfMemory

// Clock is a Backend whose device takes the time by itself, so that the host need not wait for each
// operation. A graphics card is one; ask by a type assertion.
type Clock interface {
	// Mark notes, under a number from 0, the moment at which all work enqueued before will be done.
	// Marking the same number again moves it.
	Mark(number int) error
	// Between is the time from one mark to a later one. Both must have been reached: Sync before.
	Between(first, last int) (time.Duration, error)
}

// Accountant is a Backend that knows all memory that it has taken, the scratch memory of its operations
// too. A graphics card is one; ask by a type assertion.
type Accountant interface {
	// MostBytes is the most device memory that was held at once since the backend was opened.
	MostBytes() int
	// FreeBytes is the device memory that no program holds.
	FreeBytes() (int, error)
}

// Multiplier is a Backend that computes matrix products by one of several libraries, whichever is faster. A graphics
// card is one; ask by a type assertion.
type Multiplier interface {
	// ProductsBy counts the shapes of products that each library computes, by its name.
	ProductsBy() map[string]int
}

// Package reduce sums the gradients of several ranks, in buckets, beside the computing that follows them.
package reduce

// Reducer sums over ranks the float32 tensors that it was made for, in buckets: lists of tensors. It serves one
// goroutine, and every rank makes the same calls. No call allocates.
type Reducer interface {
	// Begin begins to replace the tensors of a bucket by their sums over the ranks, as soon as what has been enqueued
	// on the backend until now is done. Buckets are summed in the order in which they were begun.
	Begin(bucket int) error
	// Wait has what is enqueued on the backend from now on wait for all sums that were begun. On a device that works
	// by itself the host does not wait.
	Wait() error
	// Close frees what the reducer holds, not the tensors.
	Close() error
}

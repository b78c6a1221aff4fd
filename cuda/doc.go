// Package cuda is for changes of how nmn drives a graphics card: memory, streams, events, kernels and graphs, on
// gorgonia.org/cu. It is built with the tag cuda (make cuda); in other builds only the errors exist.
//
// The driver is opened when the program runs, by Open or Available, so that one program serves hosts
// with and without a graphics card. Work is enqueued on a Stream and runs in its order; streams run
// beside each other and are ordered by events. A fault of a kernel surfaces at the next call that
// notices it, as a FaultError that names the launch; the device is then lost to this process.
//
// All methods may be called from any goroutine: each makes the device's context current on the thread
// that it runs on. A Stream and what belongs to it serve one goroutine at a time.
package cuda

// Package cuda drives a graphics card: memory, streams, events, kernels and graphs, on gorgonia.org/cu. It is
// built with the tag cuda (make cuda). In other builds only the errors exist.
//
// Open or Available opens the driver when the program runs, so that one program serves hosts with and without
// a graphics card. Work is enqueued on a Stream and runs in its order. Streams run in parallel and are
// ordered by events. The next call that notices a fault of a kernel returns it as a FaultError, which names
// the launch. The device is then lost to this process.
//
// All methods may be called from any goroutine: each makes the device's context current on the thread that it
// runs on. A Stream and its objects serve one goroutine at a time.
package cuda

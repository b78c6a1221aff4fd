//go:build cuda

package nccl

// #cgo noescape nmn_nccl_all_reduce
// #cgo nocallback nmn_nccl_all_reduce
// #include "layer.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
	"unsafe"

	"nmn/cuda"
)

// Type is a type of numbers, as in ncclDataType_t.
type Type int

// The types that are summed.
const (
	Float32  Type = 7
	BFloat16 Type = 9
)

// Span is a contiguous run of numbers in device memory.
type Span struct {
	At    cuda.Address
	Count int
}

// Options choose how long ranks wait for each other.
type Options struct {
	// Timeout ends a collective, or the joining of the ranks, that has not ended this long after it could
	// begin. DefaultTimeout if it is 0.
	Timeout time.Duration
	// Name names this rank in errors.
	Name string
	// Failed, if set, is called once when the Comm is given up, before collectives under way end with
	// undefined results. Agree with the other ranks after each collective: after Failed such an agreement
	// returns the error, and the results are not used.
	Failed func(cause error)
}

// Comm is a rank's place among the ranks, with its own stream. One goroutine enqueues collectives on that
// stream, in the same order on all ranks, and the host does not wait for them. A goroutine of the Comm looks
// for late errors and for collectives that do not end. It then gives the Comm up. The collectives end, and
// every later call returns the cause.
type Comm struct {
	device      *cuda.Device
	stream      *cuda.Stream
	rank, ranks int
	options     Options
	watch       watch

	mu     sync.Mutex // guards the fields below
	handle unsafe.Pointer
	failed error // why the Comm was given up
	closed bool
}

// Join joins the ranks of an id, each with a device. All ranks must call it: it waits for the others. If the
// library is missing, the error wraps ErrNoLibrary.
func Join(device *cuda.Device, id ID, rank, ranks int, o Options) (*Comm, error) {
	if err := Open(); err != nil {
		return nil, err
	}
	if ranks < 1 || rank < 0 || rank >= ranks {
		return nil, fmt.Errorf("nccl: rank %d of %d", rank, ranks)
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	c := &Comm{device: device, rank: rank, ranks: ranks, options: o}
	var err error
	if c.handle, err = join(device, id, rank, ranks, o.Timeout); err != nil {
		return nil, fmt.Errorf("%s: %w", c.who(), err)
	}
	if c.stream, err = device.NewStream("nccl"); err == nil {
		err = c.watch.open(c)
	}
	if err != nil {
		c.giveUp(err)
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// join waits for the other ranks on a separate thread. If they do not come in time, the thread stays: NCCL
// cannot cancel the call.
func join(device *cuda.Device, id ID, rank, ranks int, timeout time.Duration) (unsafe.Pointer, error) {
	type joined struct {
		handle unsafe.Pointer
		err    error
	}
	done := make(chan joined, 1)
	go func() {
		var j joined
		number := C.nmn_id{}
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&number)), len(id)), id[:])
		j.err = device.Do(func() error {
			return check("join the ranks", C.nmn_nccl_join(&j.handle, C.int(ranks), &number, C.int(rank)), nil)
		})
		done <- j
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case j := <-done:
		return j.handle, j.err
	case <-timer.C:
		return nil, fmt.Errorf("nccl: join the ranks: not all %d have come within %v: one has not started, has ended, or "+
			"cannot reach rank 0 (NCCL_SOCKET_IFNAME names the network to take): %w", ranks, timeout, ErrTimeout)
	}
}

// who names this rank.
func (c *Comm) who() string {
	if c.options.Name == "" {
		return fmt.Sprintf("rank %d of %d", c.rank, c.ranks)
	}
	return fmt.Sprintf("rank %d of %d (%s)", c.rank, c.ranks, c.options.Name)
}

// Rank is this rank's number, Ranks the number of all ranks.
func (c *Comm) Rank() int  { return c.rank }
func (c *Comm) Ranks() int { return c.ranks }

// Stream is the stream on which collectives are enqueued.
func (c *Comm) Stream() *cuda.Stream { return c.stream }

// AllReduce enqueues replacing the numbers of each span by their sums over the ranks, whose spans have equal
// lengths. All of them are one launch.
func (c *Comm) AllReduce(spans []Span, t Type) error {
	if len(spans) == 0 {
		return nil
	}
	return c.enqueue("all-reduce", func(handle unsafe.Pointer) C.int {
		first := (*C.nmn_span)(unsafe.Pointer(unsafe.SliceData(spans)))
		return C.nmn_nccl_all_reduce(handle, first, C.int(len(spans)), C.int(t), c.queue())
	})
}

// Broadcast enqueues replacing bytes by rank 0's bytes.
func (c *Comm) Broadcast(at cuda.Address, bytes int) error {
	return c.enqueue("broadcast", func(handle unsafe.Pointer) C.int {
		return C.nmn_nccl_broadcast(handle, C.uint64_t(at), C.size_t(bytes), c.queue())
	})
}

// AllGather enqueues copying the bytes of all ranks to a place, one after the other.
func (c *Comm) AllGather(to, from cuda.Address, bytes int) error {
	return c.enqueue("all-gather", func(handle unsafe.Pointer) C.int {
		return C.nmn_nccl_all_gather(handle, C.uint64_t(to), C.uint64_t(from), C.size_t(bytes), c.queue())
	})
}

func (c *Comm) queue() C.uintptr_t { return C.uintptr_t(c.stream.Handle()) }

// enqueue runs a call of the library with the device's context current, and marks the end of its work.
func (c *Comm) enqueue(operation string, call func(handle unsafe.Pointer) C.int) error {
	c.mu.Lock()
	handle, err := c.handle, c.failed
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if handle == nil {
		return fmt.Errorf("nccl: %s: after the communicator was closed: %w", operation, ErrAborted)
	}
	err = c.device.Do(func() error { return check(operation, call(handle), handle) })
	if err == nil {
		err = c.watch.mark(operation)
	}
	if err != nil {
		return c.giveUp(err)
	}
	return nil
}

// Err is the reason why the Comm was given up, nil while it works. It asks NCCL: after the host has waited
// for collectives, it shows whether their results are valid.
func (c *Comm) Err() error {
	if err := c.given(); err != nil {
		return err
	}
	if err := c.asyncError(); err != nil {
		return c.giveUp(err)
	}
	return nil
}

// given is the known reason why the Comm was given up.
func (c *Comm) given() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// Abort gives the Comm up: collectives under way end, with whatever in their results, and every later call returns the
// cause. It may be called from any goroutine, and more than once. Other ranks notice as far as NCCL does.
func (c *Comm) Abort(cause error) { c.giveUp(fmt.Errorf("%w: %w", ErrAborted, cause)) }

// giveUp returns why the Comm was given up first.
func (c *Comm) giveUp(cause error) error {
	c.mu.Lock()
	if c.failed != nil {
		defer c.mu.Unlock()
		return c.failed
	}
	failed := fmt.Errorf("%s: %w", c.who(), cause)
	handle := c.handle
	c.failed, c.handle = failed, nil
	c.mu.Unlock()
	if c.options.Failed != nil {
		c.options.Failed(failed)
	}
	if handle != nil {
		// Its error adds nothing to the first one.
		_ = c.device.Finish(func() error { return check("abort", C.nmn_nccl_abort(handle), nil) })
	}
	return failed
}

// Close waits for the stream's work and leaves the ranks. Closing twice is harmless. After a failure, which was
// reported before, it returns nil.
func (c *Comm) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	c.mu.Unlock()
	var err error
	if c.stream != nil && c.given() == nil {
		err = c.stream.Sync() // the watching goroutine ends collectives that hang
	}
	err = errors.Join(err, c.watch.close())
	c.mu.Lock()
	handle, failed := c.handle, c.failed
	c.handle = nil
	c.mu.Unlock()
	if handle != nil {
		left := c.device.Finish(func() error { return check("leave the ranks", C.nmn_nccl_destroy(handle), nil) })
		err = errors.Join(err, left)
	}
	if c.stream != nil {
		err = errors.Join(err, c.stream.Close())
	}
	if failed != nil {
		return nil
	}
	return err
}

// NewID makes an id. It needs no card.
func NewID() (ID, error) {
	if err := Open(); err != nil {
		return ID{}, err
	}
	var number C.nmn_id
	err := check("make an id", C.nmn_nccl_unique_id(&number), nil)
	var id ID
	copy(id[:], unsafe.Slice((*byte)(unsafe.Pointer(&number)), len(id)))
	return id, err
}

// At makes the id of ranks that share an address of rank 0's host, HOST:PORT. All ranks call it before any of
// them joins. It stores the address in addressVariable, which NCCL reads when rank 0 joins.
func At(address string) (ID, error) {
	if err := os.Setenv(addressVariable, address); err != nil {
		return ID{}, fmt.Errorf("nccl: %w", err)
	}
	return NewID()
}

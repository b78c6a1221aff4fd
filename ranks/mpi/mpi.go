//go:build cgo && (mpi || mpich)

package mpi

/*
#cgo mpi pkg-config: ompi
#cgo mpich pkg-config: mpich
#cgo CFLAGS: -std=gnu11 -O3
#cgo mpich CFLAGS: -Wno-stringop-overflow
#include <stdlib.h>
#include "engine.h"
*/
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"cogentcore.org/lab/base/mpi"

	"nmn/ranks"
)

// built reports whether this build has MPI.
const built = true

// piece is the number of values summed at once. Buffers of that size are touched, up to the size of the
// largest sum. If processors are shared, each further piece makes each rank wait for another that does not
// run at the time: 553 MB in pieces of 2^20 took 260 to 300 ms of a busy processor, in pieces of 2^24 140 to
// 170.
const piece = 1 << 24

// rank is this process's end of the group.
type rank struct {
	engine  *C.engine
	timeout time.Duration
	piece   int
	names   []string

	told     *os.File // a byte for each job that is answered
	tells    *os.File // its other end
	answer   [1]byte
	sums     int              // begun and not waited for
	pins     []runtime.Pinner // pins of the arrays of these sums
	gathered []byte
	parts    [][]byte
	over     error      // error that ended the group
	served   chan error // the engine's thread has ended

	ending sync.Mutex // prevents aborting while MPI is closed
	ended  bool
}

// Open joins the ranks that were started together. MPI can be opened once in the life of a process.
func Open(o Options) (ranks.Group, error) {
	if mpi.IsOn() {
		return nil, errors.New("MPI was opened before in this process")
	}
	told, tells, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r := &rank{timeout: o.Timeout, piece: cmp.Or(o.piece, piece), told: told, tells: tells, served: make(chan error, 1)}
	opened := make(chan error)
	go r.serve(opened)
	if err := <-opened; err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	all, err := r.Gather(fmt.Appendf(nil, "%s, process %d", host, os.Getpid()))
	if err != nil {
		return nil, err
	}
	for _, name := range all {
		r.names = append(r.names, string(name))
	}
	if o.soon > 0 {
		r.timeout, r.engine.timeout = o.soon, C.double(o.soon.Seconds())
	}
	return r, nil
}

// serve is the one goroutine that calls MPI. While the group is open it stays in a single call of C, so that
// it needs no processor of Go's scheduler.
func (r *rank) serve(opened chan<- error) {
	runtime.LockOSThread()
	if err := mpi.InitThreadSafe(); err != nil {
		opened <- err
		return
	}
	r.engine = C.engine_new(C.double(r.timeout.Seconds()), C.int(r.tells.Fd()), C.int64_t(r.piece))
	if r.engine == nil || C.engine_open(r.engine) == 0 {
		opened <- r.failure()
		return
	}
	opened <- nil
	C.engine_serve(r.engine)
	r.ending.Lock()
	defer r.ending.Unlock()
	r.ended = true
	err := r.failure()
	if err == nil {
		mpi.Finalize()
	}
	r.served <- err
}

func (r *rank) Rank() int              { return int(r.engine.rank) }
func (r *rank) Size() int              { return int(r.engine.size) }
func (r *rank) Local() int             { return int(r.engine.local) }
func (r *rank) LocalSize() int         { return int(r.engine.local_size) }
func (r *rank) Names() []string        { return r.names }
func (r *rank) Timeout() time.Duration { return r.timeout }

// failure is why the engine cannot go on, if so.
func (r *rank) failure() error {
	if r.engine == nil {
		return errors.New("group: no memory")
	}
	switch r.engine.end {
	case C.GOES_ON:
		return nil
	case C.LATE:
		return r.late()
	}
	return fmt.Errorf("group: %s", C.GoString(&r.engine.why[0]))
}

// late is about ranks that have not come in time: those whose processes do not answer, else those that compute still.
func (r *rank) late() error {
	call, limit := uint64(r.engine.call), r.timeout.Round(time.Millisecond)
	states := unsafe.Slice((*byte)(unsafe.Pointer(r.engine.came)), r.Size())
	var lost []error
	blame := func(i int, what string) {
		lost = append(lost, &ranks.LostError{Rank: i, Name: r.name(i),
			Cause: fmt.Errorf("%w (call %d, %v); its process %s", ranks.ErrTimeout, call, limit, what)})
	}
	for i, state := range states {
		if state == C.SILENT {
			blame(i, "does not answer")
		}
	}
	for i, state := range states {
		if state == C.RUNS && len(lost) == 0 && r.engine.moving == 0 {
			blame(i, "runs")
		}
	}
	if len(lost) == 0 {
		return fmt.Errorf("group: %w: all ranks have begun a call that has not ended (call %d, %v), though their processes "+
			"answer: the network may hang", ranks.ErrTimeout, call, limit)
	}
	return errors.Join(lost...)
}

func (r *rank) name(i int) string {
	if i < len(r.names) {
		return r.names[i]
	}
	return "not yet known"
}

// do has the engine do a job and waits for its answer.
func (r *rank) do(kind C.int, data unsafe.Pointer, n int) error {
	if r.over != nil {
		return r.over
	}
	if C.engine_post(r.engine, kind, 0, data, C.int64_t(n)) == 0 {
		return r.end(errors.New("group: no memory"))
	}
	if _, err := r.told.Read(r.answer[:]); err != nil {
		return r.end(err)
	}
	return r.end(r.failure())
}

// end stores the error that ended the group, if any. If a rank is late, it ends the job immediately: no rank
// could leave in order.
func (r *rank) end(err error) error {
	if r.over = err; errors.Is(err, ranks.ErrTimeout) {
		if r.LocalSize() < r.Size() {
			endLauncher(os.Getppid(), farewell)
		}
		r.Abort(err)
	}
	return err
}

func (r *rank) Sum(x []float32, wire ranks.Wire) error {
	if r.over != nil || r.Size() == 1 {
		return r.over
	}
	if r.sums == len(r.pins) {
		r.pins = append(r.pins, runtime.Pinner{})
	}
	data := unsafe.Pointer(unsafe.SliceData(x))
	if len(x) > 0 {
		r.pins[r.sums].Pin(data)
	}
	r.sums++
	if C.engine_post(r.engine, C.SUM, C.int(wire), data, C.int64_t(len(x))) == 0 {
		return r.end(errors.New("group: no memory"))
	}
	return nil
}

func (r *rank) Wait() error {
	if r.sums == 0 {
		return r.over
	}
	err := r.do(C.FLUSH, nil, 0)
	if err == nil { // else C may still write to them
		for i := range r.sums {
			r.pins[i].Unpin()
		}
		r.sums = 0
	}
	return err
}

func (r *rank) Gather(own []byte) ([][]byte, error) {
	if err := r.withPinned(C.GATHER, own); err != nil {
		return nil, err
	}
	heads := unsafe.Slice(r.engine.heads, r.Size())
	total := 0
	for _, h := range heads {
		total += int(h.n)
	}
	r.gathered = append(r.gathered[:0], unsafe.Slice((*byte)(unsafe.Pointer(r.engine.gathered)), total)...)
	r.parts = r.parts[:0]
	at := 0
	for _, h := range heads {
		r.parts = append(r.parts, r.gathered[at:at+int(h.n):at+int(h.n)])
		at += int(h.n)
	}
	return r.parts, nil
}

func (r *rank) Broadcast(data []byte) error { return r.withPinned(C.BROADCAST, data) }

// withPinned does a job whose bytes the engine's thread reads or writes.
func (r *rank) withPinned(kind C.int, data []byte) error {
	var pin runtime.Pinner
	if len(data) > 0 {
		pin.Pin(unsafe.SliceData(data))
	}
	err := r.do(kind, unsafe.Pointer(unsafe.SliceData(data)), len(data))
	if err == nil {
		pin.Unpin()
	}
	return err
}

// Abort prints to standard error why this rank cannot go on, or which other is to blame, and ends the job.
func (r *rank) Abort(cause error) {
	r.ending.Lock()
	defer r.ending.Unlock()
	if r.ended {
		return
	}
	r.ended = true
	var lost *ranks.LostError
	if !errors.As(cause, &lost) {
		cause = &ranks.LostError{Rank: r.Rank(), Name: r.name(r.Rank()), Cause: cause}
	}
	fmt.Fprintf(os.Stderr, "nmn: %s\n", strings.ReplaceAll(cause.Error(), "\n", "\nnmn: "))
	C.engine_abort(r.engine)
}

// Close leaves the group when all ranks do, and closes MPI. A group that has failed is left without a word: MPI would
// wait for ranks that are gone.
func (r *rank) Close() error {
	if r.over != nil {
		return nil
	}
	r.over = errors.New("group: it was closed")
	if C.engine_post(r.engine, C.CLOSE, 0, nil, 0) == 0 {
		return errors.New("group: no memory")
	}
	return errors.Join(<-r.served, r.told.Close(), r.tells.Close())
}

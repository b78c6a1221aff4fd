//go:build cuda

package nccl

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"
	"unsafe"

	"nmn/cuda"
	"nmn/ranks"
)

// pieceBytes is how much travels at once between the host's memory and the card.
const pieceBytes = 4 << 20

// lastWordsTime is how long a rank that aborts waits for the others to receive its reason.
const lastWordsTime = 5 * time.Second

// cardGroup is a group of ranks that are connected only by NCCL. They exchange data through a buffer on each
// card. Each call begins with a roll call, an all-gather of fixed size. It contains the kind of the call, and
// so finds ranks that are at different calls. In it a rank that ends also sends the reason to the others.
//
// NCCL does not report which rank is missing, so the error of a call that has timed out names none.
type cardGroup struct {
	comm   *Comm
	device *cuda.Device
	names  []string
	local  int
	locals int

	call     sync.Mutex // held during a call
	mu       sync.Mutex // guards over
	over     error      // error that ended the group
	calls    uint64
	host     *cuda.HostBuffer // of pieceBytes
	card     cuda.Address     // of pieceBytes, for data that is summed, broadcast or sent
	all      cuda.Address     // for gathered data
	roll     *cuda.HostBuffer // an entry for each rank
	done     *cuda.Event
	gathered [][]byte
}

var _ ranks.Group = (*cardGroup)(nil)

// OpenGroup opens the rank's card and joins the ranks, for which it waits. Errors as of cuda.Open and Join.
func OpenGroup(o GroupOptions) (ranks.Group, error) {
	cards, err := cuda.Available()
	if err != nil {
		return nil, err
	}
	device, err := cuda.Open(o.Card%cards, cuda.Options{})
	if err != nil {
		return nil, err
	}
	g := &cardGroup{device: device}
	if err := errors.Join(g.join(o), g.open(), g.meet()); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// whoami names this process.
func whoami() string {
	host, err := os.Hostname()
	if err != nil {
		host = "a host without a name"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}

func (g *cardGroup) join(o GroupOptions) (err error) {
	id := o.ID
	if id == nil {
		made, err := At(o.Address)
		if err != nil {
			return err
		}
		id = &made
		// Later communicators get ids of their own.
		defer os.Unsetenv(addressVariable)
	}
	g.comm, err = Join(g.device, *id, o.Rank, o.Ranks, Options{Timeout: o.Timeout, Name: whoami()})
	return err
}

// open makes the buffers.
func (g *cardGroup) open() (err error) {
	if g.comm == nil {
		return nil // joining has failed
	}
	if g.host, err = g.device.AllocHost(pieceBytes); err != nil {
		return err
	}
	if g.roll, err = g.device.AllocHost((g.comm.ranks + 1) * entryBytes); err != nil {
		return err
	}
	if g.card, err = g.device.Alloc(pieceBytes); err != nil {
		return err
	}
	if g.all, err = g.device.Alloc(max(pieceBytes, (g.comm.ranks+1)*entryBytes)); err != nil {
		return err
	}
	g.gathered = make([][]byte, g.comm.ranks)
	if g.done, err = g.device.NewWaitedEvent(); err != nil {
		return err
	}
	// Memory is zeroed on another stream.
	return g.device.Sync()
}

// meet exchanges the ranks' names.
func (g *cardGroup) meet() error {
	if g.done == nil {
		return nil
	}
	all, err := g.Gather([]byte(whoami()))
	if err != nil {
		return err
	}
	own, _, _ := strings.Cut(whoami(), ",")
	for rank, theirs := range all {
		name := string(theirs)
		if host, _, _ := strings.Cut(name, ","); host == own {
			if rank < g.comm.rank {
				g.local++
			}
			g.locals++
		}
		g.names = append(g.names, name)
	}
	return nil
}

func (g *cardGroup) Rank() int       { return g.comm.rank }
func (g *cardGroup) Size() int       { return g.comm.ranks }
func (g *cardGroup) Local() int      { return g.local }
func (g *cardGroup) LocalSize() int  { return g.locals }
func (g *cardGroup) Names() []string { return g.names }

func (g *cardGroup) Timeout() time.Duration {
	if limit := g.comm.options.Timeout; limit != Forever {
		return limit
	}
	return 0
}

// ended is the error that ended the group, nil while it works.
func (g *cardGroup) ended() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.over
}

// end ends the group, unless it was ended before, and returns why.
func (g *cardGroup) end(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over == nil {
		g.over = err
	}
	return g.over
}

// begin enters a call. If f fails, the group ends.
func (g *cardGroup) begin(f func() error) error {
	g.call.Lock()
	defer g.call.Unlock()
	if err := g.ended(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return g.end(err)
	}
	return nil
}

// wait waits for the stream's work, and returns an error if its results are invalid.
func (g *cardGroup) wait() error {
	if err := g.comm.stream.Record(g.done); err != nil {
		return err
	}
	if err := g.done.Sync(); err != nil {
		return err
	}
	return g.comm.Err()
}

// exchange sends the first bytes of host to card, does a collective, and brings its results to host.
func (g *cardGroup) exchange(bytes int, collective func() error, results cuda.Address, length int) error {
	if err := g.comm.stream.UploadPinned(g.card, g.host, bytes); err != nil {
		return err
	}
	if err := collective(); err != nil {
		return err
	}
	if err := g.comm.stream.DownloadPinned(g.host, results, length); err != nil {
		return err
	}
	return g.wait()
}

// Sum implements ranks.Group. It waits for the sum. Sums over bfloat16 are rounded here and
// travel as float32.
func (g *cardGroup) Sum(x []float32, wire ranks.Wire) error {
	return g.begin(func() error {
		if err := g.rollCall(entry{kind: "sum", wire: wire, length: len(x)}, nil); err != nil {
			return err
		}
		if g.Size() == 1 {
			return nil
		}
		if wire == ranks.BFloat16 {
			roundAll(x)
		}
		for rest := x; len(rest) > 0; {
			piece := rest[:min(len(rest), pieceBytes/4)]
			if err := g.sumPiece(piece); err != nil {
				return err
			}
			rest = rest[len(piece):]
		}
		if wire == ranks.BFloat16 {
			roundAll(x)
		}
		return nil
	})
}

func (g *cardGroup) sumPiece(piece []float32) error {
	bytes := bytesOf(piece)
	copy(g.host.Bytes(), bytes)
	err := g.exchange(len(bytes), func() error {
		return g.comm.AllReduce([]Span{{At: g.card, Count: len(piece)}}, Float32)
	}, g.card, len(bytes))
	if err == nil {
		copy(bytes, g.host.Bytes())
	}
	return err
}

func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// roundAll rounds numbers to the nearest bfloat16, ties to even. NaN stays NaN.
func roundAll(x []float32) {
	for i, v := range x {
		b := math.Float32bits(v)
		if v == v {
			x[i] = math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
		} else {
			x[i] = math.Float32frombits((b | 1<<22) &^ 0xffff)
		}
	}
}

func (g *cardGroup) Wait() error { return g.ended() }

// Gather implements ranks.Group. Data that fits into the roll call travels with it.
func (g *cardGroup) Gather(own []byte) ([][]byte, error) {
	err := g.begin(func() error {
		for i := range g.gathered {
			g.gathered[i] = g.gathered[i][:0]
		}
		if err := g.rollCall(entry{kind: "gather", length: len(own)}, own); err != nil {
			return err
		}
		most := 0
		for rank := range g.gathered {
			e, inline := g.entry(rank)
			g.gathered[rank] = append(g.gathered[rank], inline[:min(e.length, len(inline))]...)
			most = max(most, e.length)
		}
		lengths := make([]int, 0, 16)
		for rank := range g.gathered {
			e, _ := g.entry(rank)
			lengths = append(lengths, e.length)
		}
		for at := inlineBytes; at < most; {
			piece := min(most-at, pieceBytes/g.Size()/256*256)
			if err := g.gatherPiece(own, at, piece, lengths); err != nil {
				return err
			}
			at += piece
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return g.gathered, nil
}

// gatherPiece gathers piece bytes of each rank from a place on. Ranks that have fewer send arbitrary bytes in
// their place.
func (g *cardGroup) gatherPiece(own []byte, at, piece int, lengths []int) error {
	copy(g.host.Bytes(), own[min(at, len(own)):min(at+piece, len(own))])
	gather := func() error { return g.comm.AllGather(g.all, g.card, piece) }
	if err := g.exchange(piece, gather, g.all, piece*g.Size()); err != nil {
		return err
	}
	for rank, length := range lengths {
		theirs := g.host.Bytes()[rank*piece:]
		g.gathered[rank] = append(g.gathered[rank], theirs[:max(0, min(length-at, piece))]...)
	}
	return nil
}

func (g *cardGroup) Broadcast(data []byte) error {
	return g.begin(func() error {
		if err := g.rollCall(entry{kind: "broadcast", length: len(data)}, nil); err != nil {
			return err
		}
		for len(data) > 0 {
			piece := data[:min(len(data), pieceBytes)]
			copy(g.host.Bytes(), piece)
			broadcast := func() error { return g.comm.Broadcast(g.card, len(piece)) }
			if err := g.exchange(len(piece), broadcast, g.card, len(piece)); err != nil {
				return err
			}
			copy(piece, g.host.Bytes())
			data = data[len(piece):]
		}
		return nil
	})
}

// Abort implements ranks.Group. If this rank is in no call, the others receive the cause in their next roll
// call.
func (g *cardGroup) Abort(cause error) {
	lost := &ranks.LostError{Rank: g.Rank(), Name: g.names[g.Rank()], Cause: cause}
	if g.ended() != nil {
		return
	}
	if g.call.TryLock() {
		told := make(chan struct{})
		go func() {
			defer close(told)
			defer g.call.Unlock()
			if g.ended() == nil {
				_ = g.rollCall(entry{kind: "abort"}, []byte(cause.Error())) // the others may have gone
			}
		}()
		select {
		case <-told:
		case <-time.After(min(lastWordsTime, g.comm.options.Timeout)):
		}
	}
	_ = g.end(lost)
	g.comm.Abort(lost)
}

func (g *cardGroup) Close() error {
	_ = g.end(errors.New("nccl: the group was closed"))
	var err error
	if g.comm != nil {
		err = g.comm.Close()
	}
	return errors.Join(err, g.device.Close())
}

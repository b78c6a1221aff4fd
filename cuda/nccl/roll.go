//go:build cuda

package nccl

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nmn/ranks"
)

// Sizes of each rank's part of a roll call.
const (
	entryBytes  = 1024
	headBytes   = 48
	inlineBytes = entryBytes - headBytes
)

// entry is a rank's part of a roll call: the call it is at.
type entry struct {
	kind   string // of at most 16 bytes
	wire   ranks.Wire
	length int    // of the data it sends
	call   uint64 // its number
}

func (e entry) write(to []byte) {
	clear(to[:headBytes])
	copy(to[:16], e.kind)
	binary.LittleEndian.PutUint64(to[16:], uint64(e.wire))
	binary.LittleEndian.PutUint64(to[24:], uint64(e.length))
	binary.LittleEndian.PutUint64(to[32:], e.call)
}

func readEntry(from []byte) (e entry) {
	kind := from[:16]
	for len(kind) > 0 && kind[len(kind)-1] == 0 {
		kind = kind[:len(kind)-1]
	}
	e.kind = kindOf(kind)
	e.wire = ranks.Wire(binary.LittleEndian.Uint64(from[16:]))
	e.length = int(binary.LittleEndian.Uint64(from[24:]))
	e.call = binary.LittleEndian.Uint64(from[32:])
	return e
}

// kindOf is the name of a kind of call. It does not allocate for known kinds.
func kindOf(name []byte) string {
	for _, kind := range []string{"sum", "gather", "broadcast", "abort"} {
		if string(name) == kind {
			return kind
		}
	}
	return string(name)
}

// entry is a rank's entry in the last roll call, and the bytes that came with it.
func (g *cardGroup) entry(rank int) (entry, []byte) {
	at := g.roll.Bytes()[(rank+1)*entryBytes:]
	return readEntry(at), at[headBytes:entryBytes]
}

// rollCall sends all ranks this rank's call, with the first bytes of its data, and fails if the ranks are not
// all at the same call.
func (g *cardGroup) rollCall(own entry, inline []byte) error {
	own.call = g.calls
	g.calls++
	slot, ranks := g.roll.Bytes()[:entryBytes], g.Size()
	own.write(slot)
	n := copy(slot[headBytes:], inline)
	clear(slot[headBytes+n:])
	if own.kind == "abort" {
		binary.LittleEndian.PutUint64(slot[24:], uint64(n))
	}
	stream := g.comm.stream
	if err := stream.UploadPinned(g.all, g.roll, entryBytes); err != nil {
		return err
	}
	if err := g.comm.AllGather(g.all+entryBytes, g.all, entryBytes); err != nil {
		return err
	}
	if err := stream.DownloadPinned(g.roll, g.all, (ranks+1)*entryBytes); err != nil {
		return err
	}
	failed := g.wait()
	if err := g.lastWords(own.call); err != nil {
		return err // which a rank may have sent before it broke off
	}
	if failed != nil {
		return failed
	}
	first, _ := g.entry(0)
	for rank := range ranks {
		if e, _ := g.entry(rank); !e.fits(first) {
			return fmt.Errorf("nccl: the ranks do not fit together: rank 0 is at %v, rank %d at %v", first, rank, e)
		}
	}
	return nil
}

// lastWords returns the error of a rank that has ended the group in a roll call.
func (g *cardGroup) lastWords(call uint64) error {
	for rank := range g.Size() {
		e, inline := g.entry(rank)
		if e.kind != "abort" || e.call != call {
			continue
		}
		name := fmt.Sprint("rank ", rank)
		if rank < len(g.names) {
			name = g.names[rank]
		}
		return &ranks.LostError{Rank: rank, Name: name, Cause: errors.New(string(inline[:min(e.length, len(inline))]))}
	}
	return nil
}

// fits reports whether two ranks are at the same call. Gathered data may have any length.
func (e entry) fits(other entry) bool {
	return e.kind == other.kind && e.wire == other.wire && e.call == other.call &&
		(e.length == other.length || e.kind == "gather")
}

func (e entry) String() string {
	switch e.kind {
	case "sum":
		return fmt.Sprintf("call %d, a sum of %d numbers on wire %d", e.call, e.length, e.wire)
	case "broadcast":
		return fmt.Sprintf("call %d, a broadcast of %d bytes", e.call, e.length)
	}
	return fmt.Sprintf("call %d, a %s", e.call, e.kind)
}

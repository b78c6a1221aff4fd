// Package shm gives ranks that are processes of one host memory that all of them see. It needs Linux.
//
// The memory is that of a file without a name (memfd_create), which rank 0 makes and the others open by way of /proc.
// It is no part of /dev/shm, whose size containers limit, and the kernel takes it back when the last process has ended,
// however it has ended.
package shm

import (
	"errors"
	"fmt"
	"unsafe"

	"nmn/group"
)

// What a rank tells in front of what it has to say.
const (
	able   byte = '.'
	unable byte = 'e'
)

// maxTold bounds the text of an error that is told to the other ranks.
const maxTold = 4096

// Share is group.Sharer's for the ranks of g.
func Share(g group.Group, n int) (*group.Memory, error) {
	return share(g, n, newFile)
}

// file is memory that processes open by its name.
type file interface {
	// name is that by which others open it, and token what tells it from others of that name.
	name() []byte
	// reserve takes the pages [from, to), so that they are there when they are written to.
	reserve(from, to int64) error
	// see maps so many bytes.
	see(bytes int64) ([]byte, error)
	close() error
}

// opener makes a file of so many bytes, or opens the one that another rank has named.
type opener func(bytes int64, named []byte) (file, error)

func share(g group.Group, n int, open opener) (*group.Memory, error) {
	if g.LocalSize() != g.Size() {
		return nil, fmt.Errorf("group: %w: they are on several hosts", group.ErrNotShared)
	}
	starts, err := layout(g, n)
	if err != nil {
		return nil, err
	}
	all := starts[len(starts)-1]
	var own file
	var failure error
	if g.Rank() == 0 {
		own, failure = open(all, nil)
	}
	var name []byte
	if own != nil {
		name = own.name()
	}
	told, err := tell(g, name, failure)
	if err == nil && g.Rank() > 0 {
		own, failure = open(all, told[0])
	}
	var memory []byte
	if err == nil {
		if failure == nil {
			failure = own.reserve(starts[g.Rank()], starts[g.Rank()+1])
		}
		if failure == nil {
			memory, failure = own.see(all)
		}
		_, err = tell(g, nil, failure)
	}
	if own != nil { // what is mapped stays
		err = errors.Join(err, own.close())
	}
	if err != nil {
		if memory != nil {
			err = errors.Join(err, unsee(memory))
		}
		return nil, err
	}
	m := &group.Memory{Release: func() error { return unsee(memory) }}
	m.Forget = func(n int) error {
		return forget(memory[starts[g.Rank()]:][:4*int64(n)/int64(pageSize)*int64(pageSize)])
	}
	for rank := range g.Size() {
		room := memory[starts[rank]:starts[rank+1]]
		m.Ranks = append(m.Ranks, unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(room))), len(room)/4))
	}
	return m, nil
}

// layout is where the rooms of the ranks begin, each with a page, and where the last one ends.
func layout(g group.Group, n int) ([]int64, error) {
	all, err := g.Gather(group.AppendFloat64s(nil, float64(n)))
	if err != nil {
		return nil, err
	}
	starts := []int64{0}
	for _, theirs := range all {
		numbers, err := group.Float64s(theirs)
		if err != nil || len(numbers) != 1 {
			return nil, errors.New("group: the ranks do not all share memory")
		}
		page := int64(pageSize)
		starts = append(starts, starts[len(starts)-1]+(4*int64(numbers[0])+page-1)/page*page)
	}
	return starts, nil
}

// tell has all ranks hear what each says, unless one of them cannot go on: then all get an error that wraps
// group.ErrNotShared, with the first reason.
func tell(g group.Group, own []byte, failure error) ([][]byte, error) {
	told := append([]byte{able}, own...)
	if failure != nil {
		text := failure.Error()
		told = append([]byte{unable}, text[:min(len(text), maxTold)]...)
	}
	all, err := g.Gather(told)
	if err != nil {
		return nil, err
	}
	heard := make([][]byte, len(all))
	for rank, theirs := range all {
		switch {
		case len(theirs) > 0 && theirs[0] == able:
			heard[rank] = append([]byte(nil), theirs[1:]...)
		case len(theirs) > 0 && theirs[0] == unable:
			return nil, fmt.Errorf("group: %w: rank %d (%s): %s", group.ErrNotShared, rank, g.Names()[rank], theirs[1:])
		default:
			return nil, fmt.Errorf("group: rank %d (%s) shares no memory", rank, g.Names()[rank])
		}
	}
	return heard, nil
}

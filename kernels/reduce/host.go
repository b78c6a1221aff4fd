package reduce

import (
	"errors"
	"fmt"

	"nmn/kernels/tensor"
	"nmn/ranks"

	dense "gorgonia.org/tensor"
)

// Sizes of the sums that a group does at once, in float32.
const (
	smallest = 1 << 14 // tensors of fewer are packed together
	largest  = 6 << 20 // tensors of more are summed in pieces, of 25 MB
)

// host sums tensors by a group, in the host's memory: in place if that is their device, else in copies.
type host struct {
	group   ranks.Group
	device  tensor.Device
	wire    ranks.Wire
	buckets []hostBucket
	begun   []int
}

// hostBucket is a bucket as the group sums it.
type hostBucket struct {
	copies []hostCopy  // of tensors that are not summed in place
	packed []float32   // the small copies, in one piece
	sums   [][]float32 // the parts that the group sums, in order
}

// hostCopy is a tensor with its copy.
type hostCopy struct {
	of   *tensor.Tensor
	host *dense.Dense
}

func newHost(g ranks.Group, device tensor.Device, buckets [][]*tensor.Tensor, wire ranks.Wire) *host {
	h := &host{group: g, device: device, wire: wire, begun: make([]int, 0, len(buckets))}
	for _, tensors := range buckets {
		h.buckets = append(h.buckets, newHostBucket(tensors))
	}
	return h
}

func newHostBucket(tensors []*tensor.Tensor) (b hostBucket) {
	room := 0
	for _, t := range tensors {
		if t.Len() < smallest {
			room += t.Len()
		}
	}
	b.packed = make([]float32, room)
	if room > 0 {
		b.sums = append(b.sums, b.packed)
	}
	at := 0
	for _, t := range tensors {
		numbers := t.Float32s()
		switch {
		case t.Len() == 0:
			continue
		case t.Len() < smallest:
			numbers = b.packed[at : at+t.Len()]
			at += t.Len()
			b.copies = append(b.copies, hostCopy{t, tensor.HostArray(tensor.Float32, numbers)})
			continue
		case numbers == nil: // the memory of another device
			numbers = make([]float32, t.Len())
			b.copies = append(b.copies, hostCopy{t, tensor.HostArray(tensor.Float32, numbers)})
		}
		for ; len(numbers) > largest; numbers = numbers[largest:] {
			b.sums = append(b.sums, numbers[:largest])
		}
		b.sums = append(b.sums, numbers)
	}
	return b
}

func (h *host) Begin(bucket int) error {
	if bucket < 0 || bucket >= len(h.buckets) || len(h.begun) == cap(h.begun) {
		return fmt.Errorf("reduce: bucket %d of %d begins after %d others", bucket, len(h.buckets), len(h.begun))
	}
	b := &h.buckets[bucket]
	for _, c := range b.copies {
		if err := h.device.Download(c.host, c.of); err != nil {
			return err
		}
	}
	h.begun = append(h.begun, bucket)
	for _, numbers := range b.sums {
		if err := h.group.Sum(numbers, h.wire); err != nil {
			return err
		}
	}
	return nil
}

func (h *host) Wait() error {
	if err := h.group.Wait(); err != nil {
		return err
	}
	for _, bucket := range h.begun {
		for _, c := range h.buckets[bucket].copies {
			if err := h.device.Upload(c.of, c.host); err != nil {
				return err
			}
		}
	}
	h.begun = h.begun[:0]
	return nil
}

func (h *host) Close() error {
	if len(h.begun) > 0 {
		return errors.New("reduce: closed before its sums were waited for")
	}
	return nil
}

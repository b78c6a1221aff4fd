//go:build cuda

package kernels

import (
	"fmt"
	"time"

	"nmn/cuda"
	"nmn/kernels/update"
)

var _ Card = (*card)(nil)

// recording is a graph with the stream that it belongs to.
type recording struct {
	*cuda.Graph
	stream *cuda.Stream
}

func (r recording) Launch() error { return r.Graph.Launch(r.stream) }

func (b *card) Captures() bool { return !b.unrecorded && !b.Device.Options().SyncLaunches }

func (b *card) Section(name string) { b.sections.Begin(name) }

func (b *card) NewFeed() (Feed, error) {
	feed, err := b.cardMemory.NewFeed()
	if err != nil {
		return nil, err
	}
	return feed, nil
}

func (b *card) NewDrain() (Drain, error) {
	drain, err := b.cardMemory.NewDrain()
	if err != nil {
		return nil, err
	}
	return drain, nil
}

func (b *card) Capture(name string, work func() error) (Graph, error) {
	graph, err := b.Stream.Capture(name, work)
	if err != nil {
		return nil, err
	}
	return recording{graph, b.Stream}, nil
}

func (b *card) PrepareUpdate(entries []update.Entry, p update.AdamParams) error {
	return b.cardUpdates.Prepare(entries, p)
}

func (b *card) Mark(number int) error {
	for len(b.marks) <= number {
		event, err := b.Device.NewEvent(true)
		if err != nil {
			return err
		}
		b.marks = append(b.marks, event)
	}
	return b.Stream.Record(b.marks[number])
}

func (b *card) Between(first, last int) (time.Duration, error) {
	if first < 0 || last < first || last >= len(b.marks) {
		return 0, fmt.Errorf("cuda: time between marks %d and %d of %d", first, last, len(b.marks))
	}
	return b.marks[first].Elapsed(b.marks[last])
}

func (b *card) FreeBytes() (int, error) {
	free, _, err := b.Device.MemInfo()
	return free, err
}

func (b *card) MostBytes() int { return b.Device.MostHeld() }

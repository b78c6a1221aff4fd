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

// Launch implements Graph.
func (r recording) Launch() error { return r.Graph.Launch(r.stream) }

// Captures implements Card.
func (b *card) Captures() bool { return !b.unrecorded && !b.Device.Options().SyncLaunches }

// Section implements Card.
func (b *card) Section(name string) { b.sections.Begin(name) }

// NewFeed implements Card.
func (b *card) NewFeed() (Feed, error) {
	feed, err := b.cardMemory.NewFeed()
	if err != nil {
		return nil, err
	}
	return feed, nil
}

// NewDrain implements Card.
func (b *card) NewDrain() (Drain, error) {
	drain, err := b.cardMemory.NewDrain()
	if err != nil {
		return nil, err
	}
	return drain, nil
}

// Capture implements Card.
func (b *card) Capture(name string, work func() error) (Graph, error) {
	graph, err := b.Stream.Capture(name, work)
	if err != nil {
		return nil, err
	}
	return recording{graph, b.Stream}, nil
}

// PrepareUpdate implements Card.
func (b *card) PrepareUpdate(entries []update.Entry, p update.AdamParams) error {
	return b.cardUpdates.Prepare(entries, p)
}

// Mark implements Card.
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

// Between implements Card.
func (b *card) Between(first, last int) (time.Duration, error) {
	if first < 0 || last < first || last >= len(b.marks) {
		return 0, fmt.Errorf("cuda: time between marks %d and %d of %d", first, last, len(b.marks))
	}
	return b.marks[first].Elapsed(b.marks[last])
}

// FreeBytes implements Card.
func (b *card) FreeBytes() (int, error) {
	free, _, err := b.Device.MemInfo()
	return free, err
}

// MostBytes implements Card.
func (b *card) MostBytes() int { return b.Device.MostHeld() }

//go:build cuda

package kernels

import (
	"nmn/cuda"
	"nmn/kernels/update"
)

var (
	_ Capturer  = (*card)(nil)
	_ Feeder    = (*card)(nil)
	_ Drainer   = (*card)(nil)
	_ Sectioned = (*card)(nil)
)

// recording is a graph with the stream that it belongs to.
type recording struct {
	*cuda.Graph
	stream *cuda.Stream
}

// Launch implements Graph.
func (r recording) Launch() error { return r.Graph.Launch(r.stream) }

// Captures implements Capturer.
func (b *card) Captures() bool { return !b.unrecorded && !b.Device.Options().SyncLaunches }

// Section implements Sectioned.
func (b *card) Section(name string) { b.sections.Begin(name) }

// NewFeed implements Feeder.
func (b *card) NewFeed() (Feed, error) {
	feed, err := b.cardMemory.NewFeed()
	if err != nil {
		return nil, err
	}
	return feed, nil
}

// NewDrain implements Drainer.
func (b *card) NewDrain() (Drain, error) {
	drain, err := b.cardMemory.NewDrain()
	if err != nil {
		return nil, err
	}
	return drain, nil
}

// Capture implements Capturer.
func (b *card) Capture(name string, work func() error) (Graph, error) {
	graph, err := b.Stream.Capture(name, work)
	if err != nil {
		return nil, err
	}
	return recording{graph, b.Stream}, nil
}

// PrepareUpdate implements Capturer.
func (b *card) PrepareUpdate(entries []update.Entry, p update.AdamParams) error {
	return b.cardUpdates.Prepare(entries, p)
}

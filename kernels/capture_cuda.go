//go:build cuda

package kernels

import (
	"nmn/cuda"
	"nmn/kernels/update"
)

var _ Capturer = (*card)(nil)

// recording is a graph with the stream that it belongs to.
type recording struct {
	*cuda.Graph
	stream *cuda.Stream
}

// Launch implements Graph.
func (r recording) Launch() error { return r.Graph.Launch(r.stream) }

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

//go:build cuda

package cuda

// #include "layer.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// Graph is work of a stream that is launched at once.
type Graph struct {
	device   *Device
	name     string
	launches []string // names of its launches
	text     string   // that String gives
	handle   unsafe.Pointer
}

// Capture calls work, which enqueues the graph's content on the stream. Nothing runs until the graph is
// launched. The memory it uses must stay. Allocating, uploading, downloading and waiting fail inside work.
// work must not leave its goroutine.
func (s *Stream) Capture(name string, work func() error) (*Graph, error) {
	runtime.LockOSThread() // a capture belongs to its thread
	defer runtime.UnlockOSThread()
	if s.capturing != nil {
		return nil, fmt.Errorf("cuda: capture %s: the stream %s is capturing %s", name, s.name, s.capturing.name)
	}
	raw := rawOf(&s.stream)
	if err := s.device.call("begin to capture", name, func() error {
		return result(C.nmn_capture_begin(raw))
	}); err != nil {
		return nil, err
	}
	g := &Graph{device: s.device, name: name}
	s.capturing = g
	failed := work()
	s.capturing = nil
	g.text = g.describe()
	var captured unsafe.Pointer
	ended := s.device.finish("capture", name, func() error { return result(C.nmn_capture_end(raw, &captured)) })
	if failed == nil {
		failed = ended
	}
	return s.device.instantiate(g, captured, failed)
}

// instantiate makes a captured graph executable, or discards it if the capture has failed.
func (d *Device) instantiate(g *Graph, captured unsafe.Pointer, failed error) (*Graph, error) {
	if failed != nil {
		if captured != nil {
			failed = errors.Join(failed, d.finish("discard the capture", g.name, func() error {
				return result(C.nmn_captured_destroy(captured))
			}))
		}
		return nil, fmt.Errorf("cuda: capture %s: %w", g.name, failed)
	}
	err := d.finish("make the graph", g.name, func() error {
		return result(C.nmn_graph_instantiate(&g.handle, captured))
	})
	if g.handle != nil {
		d.own(g)
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// Launch enqueues the graph. A graph does not run in parallel with itself.
func (g *Graph) Launch(s *Stream) error {
	err := s.device.call("launch the graph", g.name, func() error {
		return result(C.nmn_graph_launch(g.handle, rawOf(&s.stream)))
	})
	if err != nil {
		return err
	}
	return s.Launched(g.text)
}

// String names the graph and, in short, its content.
func (g *Graph) String() string { return g.text }

func (g *Graph) describe() string {
	const shown = 3
	list := strings.Join(g.launches[:min(shown, len(g.launches))], ", ")
	if len(g.launches) > shown {
		list += fmt.Sprintf(" and %d more", len(g.launches)-shown)
	}
	return "graph " + g.name + " (" + list + ")"
}

// Launches are the names of the graph's launches, in order.
func (g *Graph) Launches() []string { return g.launches }

// Close destroys the graph.
func (g *Graph) Close() error { return g.device.discard("destroy the graph", g.name, g) }

func (g *Graph) release() error { return result(C.nmn_graph_destroy(g.handle)) }

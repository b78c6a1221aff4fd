//go:build cuda

package cudnn

// #include "layer.h"
import "C"

import (
	"bytes"
	"fmt"
	"slices"
)

// text is a plan as written by cuDNN, with its compiled code. planOf makes the plan again from it, within a
// millisecond or two.
func (g *graph) text(plan descriptor) ([]byte, error) {
	for room := 1 << 16; room <= maxPlanBytes; room *= 8 {
		text := make([]byte, room)
		n, err := get("a plan as text", plan, C.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, C.CUDNN_TYPE_CHAR, text)
		if err != nil && room*8 > maxPlanBytes {
			return nil, err
		}
		if text = bytes.TrimRight(text[:n], "\x00"); err == nil && len(text) > 0 && len(text) < room-1 {
			return slices.Clip(text), nil
		}
	}
	return nil, fmt.Errorf("cudnn: a plan as text has no bytes, or more than %d", maxPlanBytes)
}

// planOf makes a plan of its text, for the target of the graph.
func (g *graph) planOf(text []byte) (plan descriptor, workspace int, err error) {
	var b builder // a separate builder, as for finish
	plan = b.create("a plan", C.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
	g.at.bind(&b, plan)
	ended := append(text[:len(text):len(text)], 0)
	set(&b, plan, C.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, C.CUDNN_TYPE_CHAR, ended...)
	b.finalize("a plan from its text", plan)
	if workspace = b.workspaceOf(plan); b.err != nil {
		b.close()
		return nil, 0, b.err
	}
	g.made = append(g.made, b.made...)
	return plan, workspace, nil
}

// bind sets the device of a plan.
func (t target) bind(b *builder, plan descriptor) {
	if t.handle != nil {
		set(b, plan, C.CUDNN_ATTR_EXECUTION_PLAN_HANDLE, C.CUDNN_TYPE_HANDLE, t.handle)
	} else {
		b.descriptors(plan, C.CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, t.properties)
	}
}

// workspaceOf is the scratch memory that a plan needs, in bytes.
func (b *builder) workspaceOf(plan descriptor) int {
	var bytes int64
	if b.err == nil {
		bytes, b.err = one[int64]("the workspace of a plan", plan, C.CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
			C.CUDNN_TYPE_INT64)
	}
	return int(bytes)
}

// compiles reports whether cuDNN compiles the code of an engine when its plan is built. That takes a second
// or less, and other plans take microseconds. An engine that does not report it is treated as ready.
func (g *graph) compiles(c *candidate) bool {
	engine, err := g.engineOf(c.config)
	if err != nil {
		return false
	}
	notes := make([]C.cudnnBackendBehaviorNote_t, C.CUDNN_BEHAVIOR_NOTE_TYPE_COUNT)
	n, err := get("the behaviour of an engine", engine, C.CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, C.CUDNN_TYPE_BEHAVIOR_NOTE,
		notes)
	return err == nil && slices.Contains(notes[:n], C.CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION)
}

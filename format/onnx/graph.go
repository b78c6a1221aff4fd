package onnx

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Graph collects operations in the order in which they run. The zero value is an empty graph.
type Graph struct {
	Name     string
	Inputs   []Value
	Outputs  []Value
	Metadata []Entry // free text that goes with the model, in this order

	nodes   []node
	tensors []Tensor
	named   map[string]int // how often a name was made
}

// Value is an input or output: float32 with dimensions that are numbers or, if they vary, names.
type Value struct {
	Name string
	Dims []Dim
}

// Dim is a dimension: Size, or Name if the size varies.
type Dim struct {
	Size int
	Name string
}

// Entry is a line of metadata.
type Entry struct{ Key, Text string }

// Tensor is a constant of the graph, float32 unless Int64 is set.
type Tensor struct {
	Name  string
	Shape []int
	Int64 bool
	// Data writes exactly the little-endian bytes of the elements, row-major.
	Data func(io.Writer) error
}

// Attribute is a named setting of an operation: Ints, or Int if there is no list.
type Attribute struct {
	Name string
	Int  int
	Ints []int
}

type node struct {
	op         string
	outputs    []string
	inputs     []string
	attributes []Attribute
}

// Op appends an operation and returns the name of its output, which is made of the operation's.
func (g *Graph) Op(op string, inputs []string, attributes ...Attribute) string {
	name := g.fresh(op)
	g.Named(name, op, inputs, attributes...)
	return name
}

// Named appends an operation whose output has a given name.
func (g *Graph) Named(output, op string, inputs []string, attributes ...Attribute) {
	g.nodes = append(g.nodes, node{op: op, outputs: []string{output}, inputs: inputs, attributes: attributes})
}

// Split appends an operation with several outputs.
func (g *Graph) Split(op string, inputs []string, outputs int, attributes ...Attribute) []string {
	names := make([]string, outputs)
	for i := range names {
		names[i] = g.fresh(op)
	}
	g.nodes = append(g.nodes, node{op: op, outputs: names, inputs: inputs, attributes: attributes})
	return names
}

func (g *Graph) fresh(op string) string {
	if g.named == nil {
		g.named = map[string]int{}
	}
	g.named[op]++
	return fmt.Sprintf("%s_%d", op, g.named[op])
}

// Constant adds a tensor and returns its name.
func (g *Graph) Constant(t Tensor) string {
	g.tensors = append(g.tensors, t)
	return t.Name
}

// Floats adds a small tensor of numbers.
func (g *Graph) Floats(name string, values []float32, shape ...int) string {
	return g.Constant(Tensor{Name: name, Shape: shape, Data: func(w io.Writer) error {
		b := make([]byte, 0, 4*len(values))
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		_, err := w.Write(b)
		return err
	}})
}

// Axes adds a list of integers, which some operations take as an input.
func (g *Graph) Axes(name string, values ...int) string {
	return g.Constant(Tensor{Name: name, Shape: []int{len(values)}, Int64: true, Data: func(w io.Writer) error {
		b := make([]byte, 0, 8*len(values))
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
		_, err := w.Write(b)
		return err
	}})
}

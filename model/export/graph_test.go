package export

import (
	"encoding/binary"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// graph is an .onnx file, read back: its operations in their order, its constants and its metadata.
type graph struct {
	nodes           []node
	constants       map[string]array
	inputs, outputs []string
	metadata        map[string]string
}

// node is an operation with its attributes. One integer is a list of one.
type node struct {
	op              string
	inputs, outputs []string
	attributes      map[string][]int
}

// attribute is the first integer of an attribute, or ONNX's default if the attribute is left out.
func (n *node) attribute(name string, otherwise int) int {
	if values, given := n.attributes[name]; given {
		return values[0]
	}
	return otherwise
}

// field is a field of a protobuf message: a number, or bytes.
type field struct {
	key     protowire.Number
	integer int
	content []byte
}

func fields(t *testing.T, message []byte) (all []field) {
	t.Helper()
	for len(message) > 0 {
		key, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		message = message[size:]
		f := field{key: key}
		switch kind {
		case protowire.VarintType:
			var v uint64
			v, size = protowire.ConsumeVarint(message)
			f.integer = int(v)
		case protowire.BytesType:
			f.content, size = protowire.ConsumeBytes(message)
		default:
			t.Fatalf("field %d is of kind %d", key, kind)
		}
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		all, message = append(all, f), message[size:]
	}
	return all
}

// readGraph parses a model. The numbers of fields come from onnx.proto3.
func readGraph(t *testing.T, model []byte) *graph {
	t.Helper()
	g := &graph{constants: map[string]array{}, metadata: map[string]string{}}
	for _, part := range fields(t, model) {
		switch part.key {
		case 7: // the graph
			for _, f := range fields(t, part.content) {
				switch f.key {
				case 1:
					g.nodes = append(g.nodes, readNode(t, f.content))
				case 5:
					name, values := readTensor(t, f.content)
					g.constants[name] = values
				case 11:
					g.inputs = append(g.inputs, string(fields(t, f.content)[0].content))
				case 12:
					g.outputs = append(g.outputs, string(fields(t, f.content)[0].content))
				}
			}
		case 14: // an entry of the metadata
			entry := fields(t, part.content)
			g.metadata[string(entry[0].content)] = string(entry[1].content)
		}
	}
	return g
}

func readNode(t *testing.T, message []byte) node {
	t.Helper()
	n := node{attributes: map[string][]int{}}
	for _, f := range fields(t, message) {
		switch f.key {
		case 1:
			n.inputs = append(n.inputs, string(f.content))
		case 2:
			n.outputs = append(n.outputs, string(f.content))
		case 4:
			n.op = string(f.content)
		case 5:
			var name string
			var values []int
			for _, a := range fields(t, f.content) {
				switch a.key {
				case 1:
					name = string(a.content)
				case 3, 8: // an integer, an element of a list
					values = append(values, a.integer)
				}
			}
			n.attributes[name] = values
		}
	}
	return n
}

func readTensor(t *testing.T, message []byte) (name string, a array) {
	t.Helper()
	const float, int64s = 1, 7
	var kind int
	for _, f := range fields(t, message) {
		switch f.key {
		case 1:
			a.shape = append(a.shape, f.integer)
		case 2:
			kind = f.integer
		case 8:
			name = string(f.content)
		case 9:
			switch raw := f.content; kind {
			case float:
				for ; len(raw) > 0; raw = raw[4:] {
					a.data = append(a.data, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
				}
			case int64s:
				for ; len(raw) > 0; raw = raw[8:] {
					a.data = append(a.data, float64(int64(binary.LittleEndian.Uint64(raw))))
				}
			default:
				t.Fatalf("tensor %s is of type %d", name, kind)
			}
		}
	}
	return name, a
}

// run computes the outputs of a graph from a value for each input. The result of each operation is rounded to
// float32, as runtimes do.
func (g *graph) run(t *testing.T, inputs map[string]array) map[string]array {
	t.Helper()
	values := map[string]array{}
	for name, a := range g.constants {
		values[name] = a
	}
	for _, name := range g.inputs {
		a, given := inputs[name]
		if !given {
			t.Fatalf("the graph takes an input %q", name)
		}
		values[name] = a
	}
	for _, n := range g.nodes {
		operate, known := operators[n.op]
		if !known {
			t.Fatalf("this test has no operation %s: add it to operators", n.op)
		}
		var operands []array
		for _, name := range n.inputs {
			a, computed := values[name]
			if !computed {
				t.Fatalf("%s takes %q, which no operation before it computes", n.op, name)
			}
			operands = append(operands, a)
		}
		for i, a := range operate(&n, operands) {
			for j, v := range a.data {
				a.data[j] = float64(float32(v))
			}
			values[n.outputs[i]] = a
		}
	}
	outputs := map[string]array{}
	for _, name := range g.outputs {
		outputs[name] = values[name]
	}
	return outputs
}

package onnx

import (
	stdbytes "bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// fields takes a message apart: the contents of each field, and the numbers, in their order.
func fields(t *testing.T, b []byte) (contents map[int][][]byte, numbers map[int][]uint64) {
	t.Helper()
	contents, numbers = map[int][][]byte{}, map[int][]uint64{}
	for len(b) > 0 {
		n, kind, length := protowire.ConsumeTag(b)
		if length < 0 {
			t.Fatal(protowire.ParseError(length))
		}
		b = b[length:]
		if kind == protowire.VarintType {
			v, length := protowire.ConsumeVarint(b)
			numbers[int(n)], b = append(numbers[int(n)], v), b[length:]
			continue
		}
		content, length := protowire.ConsumeBytes(b)
		if length < 0 {
			t.Fatalf("field %d: %v", n, protowire.ParseError(length))
		}
		contents[int(n)], b = append(contents[int(n)], content), b[length:]
	}
	return contents, numbers
}

func small() *Graph {
	g := &Graph{Name: "small", Inputs: []Value{{"x", []Dim{{Name: "batch"}, {Size: 2}}}},
		Outputs:  []Value{{"y", []Dim{{Name: "batch"}, {Size: 3}}}},
		Metadata: []Entry{{"key", "text"}}}
	w := g.Floats("w", []float32{1, 2, 3, 4, 5, -6}, 3, 2)
	g.Named("y", "Gemm", []string{"x", w}, Attribute{Name: "transB", Int: 1}, Attribute{Name: "axes", Ints: []int{2, -1}})
	g.Axes("axes", 2, -3)
	return g
}

func TestWrite_FieldsOfTheFormat(t *testing.T) {
	var b stdbytes.Buffer
	if err := Write(&b, small(), "nmn", "v1"); err != nil {
		t.Fatal(err)
	}
	model, numbers := fields(t, b.Bytes())
	if numbers[1][0] != 8 || string(model[2][0]) != "nmn" || string(model[3][0]) != "v1" || len(model[7]) != 1 {
		t.Fatalf("model %v %v", model, numbers)
	}
	if _, versions := fields(t, model[8][0]); versions[2][0] != 17 {
		t.Errorf("opset %v", versions)
	}
	if entry, _ := fields(t, model[14][0]); string(entry[1][0]) != "key" || string(entry[2][0]) != "text" {
		t.Errorf("metadata %v", entry)
	}
	graph, _ := fields(t, model[7][0])
	node, _ := fields(t, graph[1][0])
	if string(node[1][1]) != "w" || string(node[2][0]) != "y" || string(node[4][0]) != "Gemm" || len(node[5]) != 2 {
		t.Errorf("node %v", node)
	}
	if _, attribute := fields(t, node[5][0]); attribute[3][0] != 1 || attribute[20][0] != 2 {
		t.Errorf("attribute %v, want the integer 1", attribute)
	}
	if _, attribute := fields(t, node[5][1]); !slices.Equal(attribute[8], []uint64{2, math.MaxUint64}) ||
		attribute[20][0] != 7 {
		t.Errorf("attribute %v, want the integers 2 and -1", attribute)
	}
	tensor, header := fields(t, graph[5][0])
	if !slices.Equal(header[1], []uint64{3, 2}) || header[2][0] != 1 || string(tensor[8][0]) != "w" ||
		len(tensor[9][0]) != 24 || tensor[9][0][23] != 0xc0 {
		t.Errorf("tensor %v %v", header, tensor)
	}
	if axes, header := fields(t, graph[5][1]); header[2][0] != 7 ||
		!slices.Equal(axes[9][0], append([]byte{2, 0, 0, 0, 0, 0, 0, 0, 0xfd}, slices.Repeat([]byte{0xff}, 7)...)) {
		t.Errorf("axes %v %v", header, axes)
	}
	input, _ := fields(t, graph[11][0])
	kind, _ := fields(t, input[2][0])
	tensorType, element := fields(t, kind[1][0])
	shape, _ := fields(t, tensorType[2][0])
	batch, _ := fields(t, shape[1][0])
	_, width := fields(t, shape[1][1])
	if string(input[1][0]) != "x" || element[1][0] != 1 || string(batch[2][0]) != "batch" || width[1][0] != 2 {
		t.Errorf("input %v, shape %v %v", input, batch, width)
	}
}

func TestWrite_Refuses(t *testing.T) {
	write := func(change func(*Graph)) error {
		g := small()
		change(g)
		return Write(io.Discard, g, "nmn", "v1")
	}
	broken := errors.New("broken")
	for says, change := range map[string]func(*Graph){
		"there twice":          func(g *Graph) { g.Floats("w", []float32{1}) },
		"its function wrote 4": func(g *Graph) { g.Floats("short", []float32{1}, 2) },
		"more than the":        func(g *Graph) { g.Floats("huge", nil, 1<<15, 1<<15) },
		`tensor "t": broken`: func(g *Graph) {
			g.Constant(Tensor{Name: "t", Data: func(io.Writer) error { return broken }})
		},
	} {
		if err := write(change); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q in it", err, says)
		}
	}
}

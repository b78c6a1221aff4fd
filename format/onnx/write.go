package onnx

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// Write writes the model of a graph. producer and version name the program that made it.
func Write(w io.Writer, g *Graph, producer, version string) error {
	parts, size, err := g.parts()
	if err != nil {
		return err
	}
	head := number(nil, modelIR, irVersion)
	head = text(head, modelProducer, producer)
	head = text(head, modelProducerVersion, version)
	head = bytes(head, modelOpset, number(nil, opsetVersion, opset))
	for _, e := range g.Metadata {
		head = bytes(head, modelMetadata, text(text(nil, entryKey, e.Key), entryText, e.Text))
	}
	head = protowire.AppendVarint(protowire.AppendTag(head, modelGraph, protowire.BytesType), uint64(size))
	if total := size + int64(len(head)); total > maxBytes {
		return fmt.Errorf("onnx: the model has %d bytes, more than the %d that the format can hold in one file",
			total, maxBytes)
	}
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("onnx: cannot write: %w", err)
	}
	for _, p := range parts {
		if err := p.write(w); err != nil {
			return err
		}
	}
	return nil
}

// part is a piece of the graph's message: bytes, followed by the data of a tensor if there is one.
type part struct {
	head   []byte
	tensor *Tensor
	size   int64 // of the data
}

// parts takes the graph apart and counts its bytes.
func (g *Graph) parts() (all []part, size int64, err error) {
	var head []byte
	for _, n := range g.nodes {
		head = bytes(head, graphNode, n.message())
	}
	head = text(head, graphName, g.Name)
	for _, v := range g.Inputs {
		head = bytes(head, graphInput, v.message())
	}
	for _, v := range g.Outputs {
		head = bytes(head, graphOutput, v.message())
	}
	all = append(all, part{head: head})
	size = int64(len(head))
	seen := map[string]bool{}
	for i := range g.tensors {
		t := &g.tensors[i]
		if seen[t.Name] {
			return nil, 0, fmt.Errorf("onnx: tensor %q is there twice", t.Name)
		}
		seen[t.Name] = true
		p := t.part()
		all = append(all, p)
		size += int64(len(p.head)) + p.size
	}
	return all, size, nil
}

// part is the tensor as a field of the graph: the message up to its data, which comes last.
func (t *Tensor) part() part {
	size, kind := int64(4), typeFloat
	if t.Int64 {
		size, kind = 8, typeInt64
	}
	var message []byte
	for _, d := range t.Shape {
		message = number(message, tensorDims, d)
		size *= int64(d)
	}
	message = number(message, tensorType, kind)
	message = text(message, tensorName, t.Name)
	message = protowire.AppendVarint(protowire.AppendTag(message, tensorRaw, protowire.BytesType), uint64(size))
	head := protowire.AppendTag(nil, graphInitializer, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(int64(len(message))+size))
	return part{append(head, message...), t, size}
}

func (p *part) write(w io.Writer) error {
	if _, err := w.Write(p.head); err != nil {
		return fmt.Errorf("onnx: cannot write: %w", err)
	}
	if p.tensor == nil {
		return nil
	}
	counted := &counter{w: w}
	if err := p.tensor.Data(counted); err != nil {
		return fmt.Errorf("onnx: cannot write tensor %q: %w", p.tensor.Name, err)
	}
	if counted.n != p.size {
		return fmt.Errorf("onnx: tensor %q %v needs %d bytes, its function wrote %d",
			p.tensor.Name, p.tensor.Shape, p.size, counted.n)
	}
	return nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

func (n *node) message() (b []byte) {
	for _, name := range n.inputs {
		b = text(b, nodeInput, name)
	}
	for _, name := range n.outputs {
		b = text(b, nodeOutput, name)
	}
	b = text(b, nodeName, "node_"+n.outputs[0])
	b = text(b, nodeOp, n.op)
	for _, a := range n.attributes {
		b = bytes(b, nodeAttribute, a.message())
	}
	return b
}

func (a *Attribute) message() []byte {
	b := text(nil, attributeName, a.Name)
	if a.Ints == nil {
		return number(number(b, attributeInt, a.Int), attributeType, kindInt)
	}
	for _, v := range a.Ints {
		b = number(b, attributeInts, v)
	}
	return number(b, attributeType, kindInts)
}

func (v *Value) message() []byte {
	var shape []byte
	for _, d := range v.Dims {
		dim := number(nil, dimValue, d.Size)
		if d.Name != "" {
			dim = text(nil, dimParam, d.Name)
		}
		shape = bytes(shape, shapeDim, dim)
	}
	tensor := bytes(number(nil, tensorTypeElement, typeFloat), tensorTypeShape, shape)
	return bytes(text(nil, valueName, v.Name), valueType, bytes(nil, typeTensor, tensor))
}

// number, text and bytes append a field.
func number(b []byte, field protowire.Number, v int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

func text(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func bytes(b []byte, field protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), content)
}

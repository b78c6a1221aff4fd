//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"testing"

	"nmn/format/npy"
)

func TestWhole_ArraysAndTablesOfNumPy(t *testing.T) {
	var table bytes.Buffer
	fields := []npy.Field{{Name: "row", Type: "<i8"}, {Name: "given", Type: "|u1"}, {Name: "p_wrong", Type: "<f4"}}
	if err := npy.WriteTable(&table, fields, 3, func(b []byte, i int) []byte {
		return append(b, make([]byte, 13)...)
	}); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"matrix": append(npy.Float32Header(2, 3), make([]byte, 24)...),
		"bytes":  append(npy.Int8Header(5, 1), make([]byte, 5)...),
		"vector": append(npy.Int64Header(2), make([]byte, 16)...),
		"table":  table.Bytes(),
	} {
		if err := whole("x.npy", content, false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, damaged := range [][]byte{content[:len(content)-1], append(content[:len(content):len(content)], 0),
			content[:40], {}} {
			if whole("x.npy", damaged, false) == nil {
				t.Errorf("%s: %d bytes of %d are taken for whole", name, len(damaged), len(content))
			}
		}
	}
}

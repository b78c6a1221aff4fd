package conform

import (
	"bytes"
	"testing"

	"nmn/format/safetensors"
)

func FuzzParseFixture(f *testing.F) {
	f.Add(
		[]byte(
			`{"name":"a","meta":{"p":1},"inputs":{"x":{"shape":[1,2,1,1],"dtype":"float","data":[1,null]}},"expected":{"g":{"y":{"shape":[],"dtype":"int","data":[3]}},"loss":2,"rows":[[1,null]]},"tolerance":{"*":{"atol":1e-6}}}`))
	f.Add([]byte(`{"name":"a","inputs":{"x":{"shape":[-1,9e99],"data":[]}},"tolerance":{}}`))
	var b bytes.Buffer
	meta := map[string]string{"fixture": `{"name":"s","tolerance":{"y":{"rtol":1e-3}},"scalars":{"expected.loss":1}}`}
	if err := safetensors.Write(&b, meta, []safetensors.Tensor{{Name: "expected.y", Shape: []int{2},
		Data: []float32{1, 2}}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, parse := range []func([]byte) (*Fixture, error){parseJSON, parseSafetensors} {
			fixture, err := parse(data)
			if err != nil {
				continue
			}
			for path, a := range fixture.arrays {
				size := 1
				for _, d := range a.Shape {
					size *= d
				}
				if size != len(a.Data) {
					t.Fatalf("%s: %d values for shape %v", path, len(a.Data), a.Shape)
				}
				if moved := a.NHWC(); len(moved.Data) != len(a.Data) {
					t.Fatalf("%s: moving channels of %v lost values", path, a.Shape)
				}
				_ = a.compare(a.Float32s()) // must not panic, whatever the tolerance
			}
		}
	})
}

package train

import (
	"encoding/json"
	"testing"

	"nmn/internal/expect"
	"nmn/model"
)

func TestExportMetadata_IsThatOfACheckpoint(t *testing.T) {
	path := trained(t, short())
	want, err := ReadCheckpoint(path)
	expect.OK(t, err)
	for _, noise := range []bool{true, false} {
		meta, err := ExportMetadata(path, noise)
		expect.OK(t, err)
		var got Checkpoint
		expect.OK(t, json.Unmarshal([]byte(meta["nmn.checkpoint"]), &got))
		kept := want.Model.Noise
		if !noise {
			kept = model.NoNoise
		}
		if got.Model.Noise != kept || len(got.Words) != len(want.Words) || got.Position != want.Position {
			t.Errorf("noise %v: %+v, want that of %+v", noise, got, want)
		}
		var words []string
		if err := json.Unmarshal([]byte(meta["classes"]), &words); err != nil || len(words) != len(want.Words) ||
			words[0] != want.Words[0].Text {
			t.Errorf("classes %q, %v", words, err)
		}
	}
	if _, err := ExportMetadata(path+".none", true); err == nil {
		t.Error("a checkpoint that is not there has metadata")
	}
}

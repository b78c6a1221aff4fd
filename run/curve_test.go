package run

import (
	"os"
	"path/filepath"
	"testing"

	"nmn/eval"
	"nmn/report"
)

// The curve of stage 2 goes on where that of stage 1 ends, each with its own name.
func TestAfterStage1_StepsGoOn(t *testing.T) {
	dir := t.TempDir()
	second := []report.Point{{Step: 1, Stage: "held-rates", Loss: 2, AP: eval.Undefined()}}
	if got := afterStage1(dir, second); len(got) != 1 || got[0].Step != 1 {
		t.Errorf("without a log of stage 1: %+v", got)
	}
	log := `{"msg":"step","step":1,"loss":5}` + "\n" + `{"msg":"step","step":7,"loss":3}` + "\n" +
		`{"msg":"evaluation","step":7,"map":0.5}` + "\n"
	must(t, os.WriteFile(filepath.Join(dir, LogFile), []byte(log), 0o644))
	got := afterStage1(dir, second)
	if len(got) != 4 || got[0].Stage != "stage1" || got[1].Step != 7 || got[2].AP != .5 || got[3].Step != 8 ||
		got[3].Stage != "held-rates" {
		t.Errorf("both stages: %+v", got)
	}
}

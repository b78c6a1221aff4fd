package tensorboard

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// written returns a folder with a run that was interrupted after step 2 and went on from step 1.
func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	first, err := Create(dir, -1)
	must(t, err)
	first.Scalar("train/loss", 1, 4)
	first.Scalar("train/loss", 2, 99)
	first.Scalar("train/loss", 2, math.NaN())
	must(t, first.Close())
	second, err := Create(dir, 1)
	must(t, err)
	second.Scalar("train/loss", 2, 3.5)
	second.PRCurve("pr", 2, NewCurve(3, []float32{0, .4, .5, 1}, []uint8{0, 1, 0, 1}))
	second.Image("mistake", 2, 4, 3, []byte("no picture"))
	must(t, second.Close())
	return dir
}

func TestNewCurve_CountsWhatReachesAThreshold(t *testing.T) {
	c := NewCurve(3, []float32{0, .4, .5, 1}, []uint8{0, 1, 0, 1})
	for name, pair := range map[string][2][]float64{
		"true positive": {c.TruePositive, {2, 1, 1}}, "false positive": {c.FalsePositive, {2, 1, 0}},
		"true negative": {c.TrueNegative, {0, 1, 2}}, "false negative": {c.FalseNegative, {0, 1, 1}},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
}

// Every record has two checksums, which a reader of TensorFlow's records checks; the first event names
// the version.
func TestWriter_RecordsAreFramed(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(written(t), "events.out.tfevents.*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	must(t, err)
	records := 0
	for ; len(content) > 0; records++ {
		n := int(binary.LittleEndian.Uint64(content))
		if binary.LittleEndian.Uint32(content[8:]) != checksum(content[:8]) ||
			binary.LittleEndian.Uint32(content[12+n:]) != checksum(content[12:12+n]) {
			t.Fatalf("record %d: checksums differ", records)
		}
		if records == 0 {
			_, _, used := protowire.ConsumeField(content[12:])
			_, _, more := protowire.ConsumeField(content[12+used:])
			number, _, tag := protowire.ConsumeTag(content[12+used+more:])
			version, _ := protowire.ConsumeBytes(content[12+used+more+tag:])
			if number != fileVersion || string(version) != "brain.Event:2" {
				t.Errorf("field %d, version %q", number, version)
			}
		}
		content = content[16+n:]
	}
	if records != 3 {
		t.Errorf("%d records, want the version and two losses: one that is not finite has no place", records)
	}
}

// CRC-32C's check value is 0xe3069283.
func TestChecksum_IsMasked(t *testing.T) {
	crc, mask := uint32(0xe3069283), uint32(0xa282ead8)
	if got, want := checksum([]byte("123456789")), bits.RotateLeft32(crc, -15)+mask; got != want {
		t.Errorf("checksum %#x, want %#x", got, want)
	}
}

// TensorBoard's own reader finds what was written, and of a step that was made twice the second time.
func TestWriter_TensorBoardReadsIt(t *testing.T) {
	python := os.Getenv("NMN_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import tensorboard").Run(); err != nil {
		t.Skip("no Python with tensorboard (NMN_PYTHON names one)")
	}
	out, err := exec.Command(python, "testdata/read.py", written(t)).Output()
	must(t, err)
	var got struct {
		Scalars map[string]map[string]float64
		Images  map[string]map[string][3]int
		Curves  map[string]struct {
			Thresholds int
			Steps      map[string][][]float64
		}
	}
	must(t, json.Unmarshal(out, &got))
	if loss := got.Scalars["train/loss"]; len(loss) != 2 || loss["1"] != 4 || loss["2"] != 3.5 {
		t.Errorf("losses %v, want 4 and the second 3.5", loss)
	}
	if got.Images["mistake"]["2"] != [3]int{4, 3, 10} {
		t.Errorf("pictures %v", got.Images)
	}
	curve := got.Curves["pr"]
	if curve.Thresholds != 3 || len(curve.Steps["2"]) != 6 ||
		!slices.Equal(curve.Steps["2"][4], []float64{.5, .5, 1}) ||
		!slices.Equal(curve.Steps["2"][5], []float64{1, .5, .5}) {
		t.Errorf("curve %+v", curve)
	}
}

package tensorboard

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"nmn/internal/expect"
)

// written returns a folder with a run that was interrupted after step 2 and went on from step 1.
func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	first, err := Create(dir, -1)
	expect.OK(t, err)
	first.Scalar("train/loss", 1, 4)
	first.Scalar("train/loss", 2, 99)
	first.Scalar("train/loss", 2, math.NaN())
	expect.OK(t, first.Close())
	second, err := Create(dir, 1)
	expect.OK(t, err)
	second.Scalar("train/loss", 2, 3.5)
	second.PRCurve("pr", 2, NewCurve(3, []float32{0, .4, .5, 1}, []uint8{0, 1, 0, 1}))
	second.Image("mistake", 2, 4, 3, []byte("no picture"))
	expect.OK(t, second.Close())
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

// Every record has two checksums, which a reader of TensorFlow's records checks; the first event names the version.
func TestWriter_RecordsAreFramed(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(written(t), "events.out.tfevents.*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	expect.OK(t, err)
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
	expect.OK(t, err)
	var got struct {
		Scalars map[string]map[string]float64
		Images  map[string]map[string][3]int
		Curves  map[string]struct {
			Thresholds int
			Steps      map[string][][]float64
		}
	}
	expect.OK(t, json.Unmarshal(out, &got))
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

// message has the fields of a message of protobuf by their number; a field may come again.
type message map[protowire.Number][][]byte

// decode reads a message without knowing what it means. Numbers are 8 bytes, little-endian, as they are or widened.
func decode(t *testing.T, b []byte) message {
	t.Helper()
	m := message{}
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatalf("no tag at %x", b)
		}
		b = b[n:]
		var content []byte
		switch kind {
		case protowire.BytesType:
			content, n = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			var v uint64
			v, n = protowire.ConsumeVarint(b)
			content = binary.LittleEndian.AppendUint64(nil, v)
		default:
			n = protowire.ConsumeFieldValue(field, kind, b)
			content = b[:max(n, 0)]
		}
		if n < 0 {
			t.Fatalf("field %d has no value at %x", field, b)
		}
		m[field] = append(m[field], content)
		b = b[n:]
	}
	return m
}

// at follows fields down, the first of each, and returns what is there, nil for nothing.
func (m message) at(t *testing.T, path ...protowire.Number) []byte {
	t.Helper()
	for i, field := range path {
		if len(m[field]) == 0 {
			return nil
		}
		if i == len(path)-1 {
			return m[field][0]
		}
		m = decode(t, m[field][0])
	}
	return nil
}

func (m message) number(t *testing.T, path ...protowire.Number) int {
	t.Helper()
	b := m.at(t, path...)
	if len(b) != 8 {
		return -1
	}
	return int(binary.LittleEndian.Uint64(b))
}

// events reads a file of records.
func events(t *testing.T, path string) (all []message) {
	t.Helper()
	content, err := os.ReadFile(path)
	expect.OK(t, err)
	for len(content) > 0 {
		n := int(binary.LittleEndian.Uint64(content))
		all = append(all, decode(t, content[12:12+n]))
		content = content[16+n:]
	}
	return all
}

// The written bytes follow event.proto, summary.proto and tensor.proto of TensorFlow.
func TestWriter_MeansWhatTensorFlowDefines(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(written(t), "events.out.tfevents.*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	first, second := events(t, files[0]), events(t, files[1])
	if len(first) != 3 || len(second) != 5 {
		t.Fatalf("%d and %d events, want 3 and 5", len(first), len(second))
	}
	for i, e := range append(first, second...) {
		if wall := math.Float64frombits(binary.LittleEndian.Uint64(e.at(t, wallTime))); wall < 1.7e9 {
			t.Errorf("event %d was written at %g s", i, wall)
		}
	}
	if got := first[0].number(t, eventStep); got != 0 || len(first[0][sessionLog]) != 0 {
		t.Errorf("the first event is of step %d, with a session %v", got, first[0][sessionLog])
	}
	// A run that goes on from step 1 takes back what is from step 2 on.
	if step, status := second[1].number(t, eventStep), second[1].number(t, sessionLog, 1); step != 2 || status != 1 {
		t.Errorf("the session starts at step %d with status %d, want 2 and 1", step, status)
	}
	scalar := func(e message) (tag string, step int, v float32) {
		v = math.Float32frombits(binary.LittleEndian.Uint32(append(e.at(t, summary, 1, valueScalar), 0, 0, 0, 0)))
		return string(e.at(t, summary, 1, valueTag)), e.number(t, eventStep), v
	}
	for i, want := range []struct {
		step int
		loss float32
	}{{1, 4}, {2, 99}, {2, 3.5}} {
		if tag, step, v := scalar([]message{first[1], first[2], second[2]}[i]); tag != "train/loss" ||
			step != want.step || v != want.loss {
			t.Errorf("%q of step %d is %g, want %+v", tag, step, v, want)
		}
	}
	curve := second[3]
	if tag, step := string(curve.at(t, summary, 1, valueTag)), curve.number(t, eventStep); tag != "pr" || step != 2 {
		t.Errorf("a curve %q of step %d", tag, step)
	}
	if plugin := string(curve.at(t, summary, 1, valueMetadata, 1, 1)); plugin != "pr_curves" {
		t.Errorf("plugin %q", plugin)
	}
	if n := curve.number(t, summary, 1, valueMetadata, 1, 2, 2); n != 3 {
		t.Errorf("%d thresholds, want 3", n)
	}
	wantTensor(t, curve, []float32{2, 1, 1, 2, 1, 0, 0, 1, 2, 0, 1, 1, .5, .5, 1, 1, .5, .5})
	picture := second[4]
	if step, tag := picture.number(t, eventStep), string(picture.at(t, summary, 1, valueTag)); step != 2 ||
		tag != "mistake" {
		t.Errorf("a picture %q of step %d", tag, step)
	}
	for field, want := range map[protowire.Number]int{1: 3, 2: 4, 3: 3} { // height, width, RGB
		if got := picture.number(t, summary, 1, valueImage, field); got != want {
			t.Errorf("field %d of the picture is %d, want %d", field, got, want)
		}
	}
	if got := string(picture.at(t, summary, 1, valueImage, 4)); got != "no picture" {
		t.Errorf("the picture is %q", got)
	}
}

// wantTensor looks for a matrix of six rows of 32-bit floats.
func wantTensor(t *testing.T, e message, want []float32) {
	t.Helper()
	if kind := e.number(t, summary, 1, valueTensor, 1); kind != 1 {
		t.Errorf("the elements have the type %d, want 1 for floats", kind)
	}
	shape := decode(t, e.at(t, summary, 1, valueTensor, 2))
	if len(shape[2]) != 2 || decode(t, shape[2][0]).number(t, 1) != 6 || decode(t, shape[2][1]).number(t, 1) != 3 {
		t.Errorf("shape %x, want 6 and 3", shape[2])
	}
	var got []float32
	for b := e.at(t, summary, 1, valueTensor, 5); len(b) >= 4; b = b[4:] {
		got = append(got, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("elements %g, want %g", got, want)
	}
}

// Only values that TensorBoard's floats cannot show are left out.
func TestScalar_LeavesOutWhatIsNotFinite(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, -1)
	expect.OK(t, err)
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -2} {
		w.Scalar("x", 1, v)
	}
	expect.OK(t, w.Close())
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 || len(events(t, files[0])) != 3 {
		t.Errorf("%v, %v: want the version and two numbers", files, err)
	}
}

func TestWriter_ReportsWhatCannotBeWritten(t *testing.T) {
	w, err := Create(t.TempDir(), -1)
	expect.OK(t, err)
	expect.OK(t, w.Close())
	if err := w.Close(); !errors.Is(err, os.ErrClosed) || !strings.HasPrefix(err.Error(), "TensorBoard events: ") {
		t.Errorf("of a file that is closed: %v", err)
	}
	path := filepath.Join(t.TempDir(), "file")
	expect.OK(t, os.WriteFile(path, nil, 0o600))
	if w, err := Create(filepath.Join(path, "board"), -1); w != nil || err == nil {
		t.Errorf("a folder in a file: %v", err)
	}
	if f, err := create(filepath.Join(path, "board"), "events"); f != nil || err == nil {
		t.Errorf("a file in a file: %v", err)
	}
}

// A run may be resumed within a second: each time has a file of its own.
func TestCreate_NeverWritesIntoAnotherFile(t *testing.T) {
	dir := t.TempDir()
	for range 3 {
		f, err := create(dir, "events")
		expect.OK(t, err)
		expect.OK(t, f.Close())
	}
	var names []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if err != nil || !slices.Equal(names, []string{"events.0", "events.1", "events.2"}) {
		t.Errorf("files %q, %v", names, err)
	}
}

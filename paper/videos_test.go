package paper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/loader/shard"
	"nmn/paper/claims"
	"nmn/report"
	"nmn/run"
)

// clipsAndFrames is a folder of the shape of MSR-VTT with few clips, of as many frames each as the paper takes.
// Colours of frames go with a word of the captions.
func clipsAndFrames(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "msrvtt")
	const train, validate, frames = 12, 4, 3
	things := []string{"dog", "car", "ball"}
	putClips(t, dir, train, validate, func(clip, number int) string {
		return fmt.Sprintf("a %s runs on the %s", things[clip%3], []string{"road", "grass"}[number%2])
	})
	w := expect.Value(shard.Create(filepath.Join(dir, "frames"), shard.DefaultConfig()))(t)
	for i := range train + validate {
		pictures, of := make([][]byte, frames-i%2), shard.Record{Clip: fmt.Sprintf("TrainValVideo/video%d.mp4", i),
			Width: 16, Height: 16, PictureWidth: 16, PictureHeight: 16, Decoded: frames, SourceBytes: 9}
		for f := range pictures {
			pictures[f] = frame(t, i, f)
			of.Frames = append(of.Frames, shard.Frame{Number: f})
		}
		expect.OK(t, w.Add(&of, pictures))
	}
	expect.OK(t, errors.Join(w.Finish(), w.Close()))
	put(t, "ball, NN, 9\ncar, NN, 9\ndog, NN, 9\n", dir, "words.txt")
	return dir
}

func frame(t *testing.T, clip, number int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 16, 16))
	for i := range img.Pix {
		img.Pix[i] = uint8(80*(clip%3) + 7*number + i%5)
	}
	img.Set(clip%16, number, color.White)
	var b bytes.Buffer
	expect.OK(t, jpeg.Encode(&b, img, nil))
	return b.Bytes()
}

// videoPlan plans Table 4 on MSR-VTT in miniature: the protocol of the paper with small nets.
func videoPlan(t *testing.T, msrvtt string, dir string, more ...Part) *Plan {
	t.Helper()
	s := Defaults(dir)
	s.MSRVTT, s.Size, s.Seeds, s.Only = msrvtt, Smoke, []uint64{1}, append([]Part{Table4, Figure3}, more...)
	s.Run.Device, s.Run.Threads = "cpu", 1
	p := expect.Value(New(s))(t)
	for i := range p.Units {
		grid := p.Units[i].Grid
		if e := p.Units[i].Captions; e != nil {
			grid, e.Captioner.Data.ValidationShare = e.Videos, .25
		}
		c := &grid.Config
		c.Net.Arch, c.Net.Width = run.NetScenes, .5
		c.Data.Vocabulary = filepath.Join(msrvtt, "words.txt") // else every session reads the tagger of parts of speech
		c.Train.Stage1Epochs, c.Train.Stage2Epochs = 1, 1
	}
	return p
}

func TestTasks_Table4OnVideosComesBehindTable3(t *testing.T) {
	msrvtt := clipsAndFrames(t)
	p := videoPlan(t, msrvtt, filepath.Join(t.TempDir(), "r"), Table3)
	p.Units = append(p.Units, planOf(t, tiny(t, Observed)).Units...)
	tasks, err := p.Tasks()
	if err != nil || len(tasks) != 8+6+4 { // both tables have the same nets
		t.Fatalf("tasks %+v (%v)", tasks, err)
	}
	for _, task := range tasks[8:14] {
		before := tasks[task.After]
		if task.piece.Captioner != (task.After == task.Number-1) || !task.piece.Captioner &&
			!strings.HasSuffix(before.Folder, string(task.piece.Arm)+"-mil") {
			t.Errorf("%v comes after %v", &task, &before)
		}
	}
}

// Frames can be read while a session is open, and no longer.
func TestWithSession_ClosesTheData(t *testing.T) {
	msrvtt := clipsAndFrames(t)
	p := videoPlan(t, msrvtt, filepath.Join(t.TempDir(), "r"))
	var frames loader.Source
	read := func() error { return frames.Read(t.Context(), 0, 0, &picture.Picture{}) }
	_, err := p.withSession(t.Context(), &Options{}, p.Units[0].Grid, func(s *run.Session) ([]report.Run, int, error) {
		frames = s.Data.Train.Source
		return nil, 0, read()
	})
	if err != nil || read() == nil {
		t.Errorf("open: %v; frames are read after it", err)
	}
}

// TestRun_Table4OnVideos holds what tasks, and a reproduction that is interrupted, leave to that of one in one piece.
func TestRun_Table4OnVideos(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: trains many runs")
	}
	msrvtt := clipsAndFrames(t)
	whole := filepath.Join(t.TempDir(), "whole")
	out := expect.Value(videoPlan(t, msrvtt, whole).Run(t.Context(), Options{}))(t)
	if !slices.ContainsFunc(out.Verdicts, func(v claims.Verdict) bool { return v.ID == "captions" }) {
		t.Errorf("verdicts %+v", out.Verdicts)
	}
	t.Run("tasks", func(t *testing.T) { videosByTasks(t, msrvtt, whole) })
	t.Run("interrupted", func(t *testing.T) { videosInterrupted(t, msrvtt, whole) })
}

func videosByTasks(t *testing.T, msrvtt string, whole string) {
	tasked := filepath.Join(t.TempDir(), "tasked")
	for _, number := range []int{9, 4, 7} { // captioners do the nets and concepts that they need
		if _, reused, err := videoPlan(t, msrvtt, tasked).RunTask(t.Context(), Options{}, number); err != nil ||
			reused {
			t.Fatalf("task %d: reused %t (%v)", number, reused, err)
		}
	}
	var missing *MissingError
	if _, err := videoPlan(t, msrvtt, tasked).Collect(t.Context(), Options{}, false); !errors.As(err, &missing) ||
		len(missing.Tasks) != 1 || missing.Tasks[0].Number != 5 {
		t.Errorf("collected without a captioner: %v", err)
	}
	var all sync.WaitGroup
	trained := make([]bool, 2)
	for i := range trained { // who comes second waits, and finds it complete
		all.Go(func() {
			_, reused, err := videoPlan(t, msrvtt, tasked).RunTask(t.Context(), Options{}, 5)
			if trained[i] = !reused; err != nil {
				t.Errorf("the last captioner: %v", err)
			}
		})
	}
	all.Wait()
	if trained[0] == trained[1] {
		t.Errorf("two jobs at once: trained %v, want one of them to", trained)
	}
	if _, reused, err := videoPlan(t, msrvtt, tasked).RunTask(t.Context(), Options{}, 8); err != nil ||
		!reused {
		t.Errorf("concepts again: reused %t (%v)", reused, err)
	}
	expect.OK(t, expect.ErrorOf(videoPlan(t, msrvtt, tasked).Collect(t.Context(), Options{}, false)))
	got := written(t, tasked)
	sameBytes(t, got, written(t, whole))
	videosDamaged(t, videoPlan(t, msrvtt, tasked))
	if left, _ := filepath.Glob(filepath.Join(tasked, "msrvtt-captions", "*", "*", "*.lock")); len(left) > 0 {
		t.Errorf("locks are left: %v", left)
	}
	has(t, got[MarkdownFile], "Captions of 4 validation clips of MSR-VTT", "NMN-FD + MIL", "Published: Table 4")
}

// videosDamaged finds what is wrong in a complete folder, wherever it is.
func videosDamaged(t *testing.T, p *Plan) {
	t.Helper()
	u := &p.Units[1]
	for _, captioner := range []string{"nmn-fd", "baseline"} { // the last and the first
		file := filepath.Join(p.folder(u), "captioners", "seed-1", captioner, "scores.json")
		scores := expect.Value(os.ReadFile(file))(t)
		put(t, "{", file)
		_, reading := p.readCaptions(u)
		_, _, doing := p.RunTask(t.Context(), Options{}, 9)
		_, estimating := p.Estimate(t.Context(), Options{})
		for name, err := range map[string]error{"reading": reading, "doing a task": doing, "estimating": estimating} {
			if err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("%s where scores of %s are damaged: %v", name, captioner, err)
			}
		}
		put(t, string(scores), file)
	}
	for i, arm := range []string{"baseline", "nmn-fi"} {
		remove(t, p.folder(u), "captioners", "seed-1", arm)
		if unit, err := p.readCaptions(u); err != nil || unit.missing != i+1 {
			t.Errorf("without the captioner of %s: %+v (%v)", arm, unit, err)
		}
	}
	last := put(t, "{", p.folder(u), "captioners", "seed-1", "nmn-fd", "scores.json")
	expect.Refusal(t, expect.ErrorOf(p.readCaptions(u)), last)
	remove(t, p.folder(u), "captioners") // by which the folder is known as ours
	if _, _, err := p.RunTask(t.Context(), Options{}, 9); err == nil ||
		!strings.Contains(err.Error(), "would be overwritten") {
		t.Errorf("a task in a folder of somebody's: %v", err)
	}
}

// videosInterrupted ends the extraction of concepts, twice.
func videosInterrupted(t *testing.T, msrvtt string, whole string) {
	broken := filepath.Join(t.TempDir(), "broken")
	for _, at := range []int{3, 40} { // among the frames of the training clips, and of those that are judged
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		_, err := videoPlan(t, msrvtt, broken).Run(ctx, Options{Extracted: func(int, int) {
			if seen++; seen == at {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, run.ErrInterrupted) {
			t.Fatalf("after %d frames: %v", at, err)
		}
	}
	expect.OK(t, expect.ErrorOf(videoPlan(t, msrvtt, broken).Run(t.Context(), Options{})))
	sameBytes(t, written(t, broken), written(t, whole))
	for _, name := range []string{"features/seed-1/baseline/train.npy", "features/seed-1/nmn-fd/test.csv",
		"captioners/seed-1/nmn-fi/generated.json"} {
		a, errA := os.ReadFile(filepath.Join(whole, "msrvtt-captions", name))
		b, errB := os.ReadFile(filepath.Join(broken, "msrvtt-captions", name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs (%v, %v)", name, errA, errB)
		}
	}
}

// The plan of Table 4 on MSR-VTT has the concepts and captioners of its three nets, and reads the folder.
func TestEstimate_OfTable4OnVideos(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: measures every part")
	}
	t.Parallel()
	msrvtt := clipsAndFrames(t)
	p := videoPlan(t, msrvtt, filepath.Join(t.TempDir(), "r"), Table3)
	e := expect.Value(p.Estimate(t.Context(), Options{}))(t)
	captioners := e.Units[len(e.Units)-1]
	if len(e.Units) != 2 || captioners.Tasks != 6 || captioners.Complete != 0 || captioners.Time < time.Hour ||
		captioners.Disk < 3<<30 || !slices.ContainsFunc(captioners.Reads, func(path string) bool {
		return path == filepath.Join(msrvtt, "frames")
	}) {
		t.Errorf("estimate %+v", e)
	}
}

// The published annotations of MSR-VTT, which NMN_DATA has, and frames for all of their clips are what Tables 3 and 4
// need.
func TestNew_OnThePublishedAnnotationsOfMSRVTT(t *testing.T) {
	data := os.Getenv("NMN_DATA")
	if data == "" {
		t.Skip("NMN_DATA names no folder with data")
	}
	archive := filepath.Join(data, "msrvtt", "train_val_annotation.zip")
	if !durable.Exists(archive) {
		t.Skip("there is no ", archive)
	}
	dir := t.TempDir()
	if err := os.Symlink(archive, filepath.Join(dir, filepath.Base(archive))); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	w := expect.Value(shard.Create(filepath.Join(dir, "frames"), shard.DefaultConfig()))(t)
	for i := range msrvttClips {
		of := shard.Record{Clip: fmt.Sprintf("TrainValVideo/video%d.mp4", i), Width: 2, Height: 2, PictureWidth: 2,
			PictureHeight: 2, Decoded: 1, SourceBytes: 9, Frames: []shard.Frame{{}}}
		expect.OK(t, w.Add(&of, [][]byte{{1}}))
	}
	expect.OK(t, errors.Join(w.Finish(), w.Close()))
	s := Defaults(filepath.Join(dir, "reproduction"))
	s.MSRVTT, s.Run.Device = dir, "cpu"
	p := planOf(t, s)
	for _, part := range p.Parts {
		if made := slices.Contains([]Part{Table3, Table4, Figure3}, part.Name); made != (part.Skip == "") {
			t.Errorf("%s is skipped: %q", part.Name, part.Skip)
		}
	}
	if tasks, err := p.Tasks(); err != nil || len(tasks) != 3*(8+6) {
		t.Errorf("%d tasks (%v)", len(tasks), err)
	}
}

package loader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/picture"
	"nmn/loader/shard"
)

// greyJPEG is a picture of one grey.
func greyJPEG(t testing.TB, width, height int, grey uint8) []byte {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, width, height))
	for i := range picture.Pix {
		picture.Pix[i] = grey
	}
	var b bytes.Buffer
	expect.OK(t, jpeg.Encode(&b, picture, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

// greyOf returns the grey of a bag and frame, different enough from others for JPEG.
func greyOf(clip, frame int) uint8 { return uint8(20*clip + 4*frame) }

// writeClips writes a folder of clips "in/video<i>.mp4" with the given numbers of frames, of 16×8 pixels.
func writeClips(t testing.TB, frames ...int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "frames")
	w, err := shard.Create(dir, shard.Config{ShardBytes: 16 << 10})
	expect.OK(t, err)
	defer w.Close()
	for i, n := range frames {
		record := &shard.Record{Clip: fmt.Sprintf("in/video%d.mp4", i), Width: 32, Height: 16, PictureWidth: 16,
			PictureHeight: 8, Decoded: n}
		var pictures [][]byte
		for f := range n {
			record.Frames = append(record.Frames, shard.Frame{Number: f})
			pictures = append(pictures, greyJPEG(t, 16, 8, greyOf(i, f)))
		}
		expect.OK(t, w.Add(record, pictures))
	}
	expect.OK(t, w.Finish())
	return dir
}

// raggedFrames are the frames of the clips of most tests; they fill two shards.
var raggedFrames = []int{3, 1, 5, 2, 4}

func mustOpenClips(t testing.TB, dir string) *Clips {
	t.Helper()
	clips, err := OpenClips(dir)
	expect.OK(t, err)
	t.Cleanup(func() { _ = clips.Close() })
	return clips
}

// videoSet is a set of the clips of a folder in the order of ids.
func videoSet(t testing.TB, dir string, ids ...string) *Set {
	t.Helper()
	table, err := mustOpenClips(t, dir).Table()
	expect.OK(t, err)
	set := clipSet(t, &clips{frames: make([]int, len(ids))})
	set.IDs = ids
	source, err := table.Source(ids)
	expect.OK(t, err)
	set.Source = source
	return set
}

func TestClips_WholeBagsInOrder(t *testing.T) {
	order := []int{4, 0, 2, 1} // other than the order of the files, and without clip 3
	var ids []string
	for _, clip := range order {
		ids = append(ids, fmt.Sprintf("video%d", clip))
	}
	config := clipConfig()
	config.Size, config.Shuffle, config.Flip = 16, false, false
	set := videoSet(t, writeClips(t, raggedFrames...), ids...)
	var first []batchCopy
	for _, workers := range []int{1, 3} {
		config.Workers = workers
		all := mustReadEpoch(t, mustLoader(t, set, config), 0, 0)
		if first == nil {
			first = all
		}
		if !reflect.DeepEqual(all, first) {
			t.Errorf("%d workers give other batches", workers)
		}
	}
	bag := 0
	for _, b := range first {
		for n := range b.N {
			clip := order[bag]
			if frames := int(b.Offsets[n+1] - b.Offsets[n]); b.IDs[n] != ids[bag] || frames != raggedFrames[clip] {
				t.Errorf("bag %d is %s with %d frames, want %s with %d", bag, b.IDs[n], frames, ids[bag], raggedFrames[clip])
			}
			for f := b.Offsets[n]; f < b.Offsets[n+1]; f++ {
				got, want := b.Pixels[int(f)*16*16*3], greyOf(clip, int(f-b.Offsets[n]))
				if got+1 < want || got > want+1 {
					t.Errorf("bag %d frame %d has grey %d, want %d", bag, f-b.Offsets[n], got, want)
				}
			}
			bag++
		}
	}
	if bag != len(ids) {
		t.Errorf("%d bags, want %d", bag, len(ids))
	}
}

// TestClips_DamageCostsTheClipsThatHaveIt cuts shards and pictures, and lets the index lie.
func TestClips_DamageCostsTheClipsThatHaveIt(t *testing.T) {
	edit := func(file, from, to string) func(testing.TB, string) {
		return func(t testing.TB, dir string) {
			content, err := os.ReadFile(filepath.Join(dir, file))
			expect.OK(t, err)
			if !bytes.Contains(content, []byte(from)) || len(from) != len(to) {
				t.Fatalf("%q cannot become %q in %s", from, to, file)
			}
			write(t, filepath.Join(dir, file), bytes.Replace(content, []byte(from), []byte(to), 1))
		}
	}
	for name, c := range map[string]struct {
		damage func(testing.TB, string)
		bad    []string
		says   []string
	}{
		"a shard cut in the middle": {func(t testing.TB, dir string) {
			expect.OK(t, os.Truncate(filepath.Join(dir, "frames-000000.tar"), 1700))
		}, []string{"video0", "video1"}, []string{"frames-000000.tar", `"in/video0.mp4"`, "picture 1", "cut short"}},
		"index and shard disagree": {edit("index.jsonl", `"offset":1536,`, `"offset":2048,`), []string{"video0"},
			[]string{"frames-000000.tar, byte 2048", `picture 1 of the clip "in/video0.mp4"`, "the index is not of this shard"}},
		"pictures of another size": {edit("index.jsonl", `"picture_width":16`, `"picture_width":17`),
			[]string{"video0"},
			[]string{"frames-000000.tar", `frame 0 of the clip "in/video0.mp4"`, "16×8 pixels, the index says 17×8"}},
		"a picture that is none": {edit("frames-000000.tar", "\xff\xd8\xff", "\xff\xd9\xff"), []string{"video0"},
			[]string{`frame 0 of the clip "in/video0.mp4"`, "frames-000000.tar, byte 512", "no picture of a known format"}},
		"another member there": {edit("frames-000000.tar", "in%2Fvideo0%2Emp4.01.jpg", "in%2Fvideo0%2Emp4.02.jpg"),
			[]string{"video0"},
			[]string{"picture 1", "the index is not of this shard"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeClips(t, raggedFrames...)
			c.damage(t, dir)
			ids := []string{"video0", "video1", "video2", "video3", "video4"}
			config := clipConfig()
			config.Size, config.Shuffle, config.MaxBadSamples = 16, false, len(c.bad)
			l := mustLoader(t, videoSet(t, dir, ids...), config)
			var read []string
			for _, b := range mustReadEpoch(t, l, 0, 0) {
				read = append(read, b.IDs...)
			}
			var bad []string
			for _, sample := range l.Bad(0) {
				bad = append(bad, sample.ID)
			}
			if !slices.Equal(bad, c.bad) || len(read)+len(bad) != len(ids) {
				t.Fatalf("left out %v, read %v; want %v left out", bad, read, c.bad)
			}
			for _, word := range c.says {
				if err := l.Bad(0)[0].Err; !strings.Contains(err.Error(), word) || !errors.Is(err, ErrCorrupt) {
					t.Errorf("error %v, want one with %q", err, word)
				}
			}
			config.MaxBadSamples--
			if _, err := readEpoch(t, mustLoader(t, videoSet(t, dir, ids...), config), 0, 0); err == nil ||
				!strings.Contains(err.Error(), "`data.max_bad_samples`") {
				t.Errorf("one more than allowed: %v", err)
			}
		})
	}
}

func TestClips_TableNamesWhatCannotBeUsed(t *testing.T) {
	dir := writeClips(t, raggedFrames...)
	table, err := mustOpenClips(t, dir).Table()
	expect.OK(t, err)
	if err := table.Has("video2"); err != nil {
		t.Errorf("video2: %v", err)
	}
	if err := table.Has("video9"); !errors.Is(err, ErrNoFrames) {
		t.Errorf("video9: %v, want ErrNoFrames", err)
	}
	if _, err := table.Source([]string{"video1", "video9"}); err == nil ||
		!strings.Contains(err.Error(), "sample 1 (video9)") {
		t.Errorf("a source of what is not there: %v", err)
	}
	// A clip of zero frames is no line of an index: the clip is missing, and the line is named.
	index := filepath.Join(dir, shard.IndexName)
	content, err := os.ReadFile(index)
	expect.OK(t, err)
	lines := bytes.SplitAfter(content, []byte("\n"))
	at := bytes.Index(lines[2], []byte(`"frames":[`)) // line of video1
	lines[2] = append(lines[2][:at:at], []byte("\"frames\":[]}\n")...)
	write(t, index, bytes.Join(lines, nil))
	expect.OK(t, os.Remove(filepath.Join(dir, "index.offsets")))
	clips, err := OpenClips(dir)
	if err == nil {
		defer clips.Close()
		table, err = clips.Table()
		if err == nil {
			err = table.Has("video1")
		}
	}
	for _, word := range []string{"index.jsonl, line 3", "in/video1.mp4", "has 0 frames"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("a clip without frames: %v, want an error with %q", err, word)
		}
	}
}

func TestClips_TwoOfOneName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "frames")
	w, err := shard.Create(dir, shard.DefaultConfig())
	expect.OK(t, err)
	defer w.Close()
	for _, name := range []string{"a/video1.mp4", "b/video1.webm"} {
		record := &shard.Record{Clip: name, Width: 16, Height: 8, PictureWidth: 16, PictureHeight: 8, Decoded: 1,
			Frames: make([]shard.Frame, 1)}
		expect.OK(t, w.Add(record, [][]byte{greyJPEG(t, 16, 8, 1)}))
	}
	expect.OK(t, w.Finish())
	table, err := mustOpenClips(t, dir).Table()
	expect.OK(t, err)
	if err := table.Has("video1"); !errors.Is(err, ErrSameName) ||
		!strings.Contains(err.Error(), `"a/video1.mp4" and "b/video1.webm"`) {
		t.Errorf("error %v, want one that names both", err)
	}
	for _, name := range []string{"a/video1", "video1.mp4", "b/video1.webm"} {
		if err := table.Has(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestClips_ReadOutsideAndCancelled(t *testing.T) {
	set := videoSet(t, writeClips(t, 2), "video0")
	for _, place := range [][2]int{{0, 2}, {0, -1}, {1, 0}, {-1, 0}} {
		if err := set.Source.Read(context.Background(), place[0], place[1], &picture.Picture{}); err == nil {
			t.Errorf("frame %d of bag %d can be read", place[1], place[0])
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := set.Source.Read(ctx, 0, 0, &picture.Picture{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	limited := picture.Picture{MaxPixels: 16*8 - 1}
	if err := set.Source.Read(context.Background(), 0, 0, &limited); !errors.Is(err, ErrCorrupt) ||
		!strings.Contains(err.Error(), "limit of 127") {
		t.Errorf("more pixels than allowed: %v", err)
	}
}

func TestClips_HoldABoundedNumberOfRecords(t *testing.T) {
	clips := mustOpenClips(t, writeClips(t, raggedFrames...))
	for clip := range heldRecords {
		clips.records[-clip-1] = &shard.Record{}
	}
	for range 2 {
		if r, err := clips.record(1); err != nil || r.Clip != "in/video1.mp4" || len(clips.records) != heldRecords {
			t.Errorf("%+v, %v, %d records are held", r, err, len(clips.records))
		}
	}
}

// BenchmarkClipSource reads frames of 340×256 pixels, and decodes one from memory for comparison.
func BenchmarkClipSource(b *testing.B) {
	const frames = 64
	dir := filepath.Join(b.TempDir(), "frames")
	w, err := shard.Create(dir, shard.DefaultConfig())
	expect.OK(b, err)
	defer w.Close()
	record := &shard.Record{Clip: "video0.mp4", Width: 340, Height: 256, PictureWidth: 340, PictureHeight: 256,
		Decoded: frames, Frames: make([]shard.Frame, frames)}
	file := greyJPEG(b, 340, 256, 9)
	for i := range record.Frames {
		record.Frames[i].Number = i
	}
	expect.OK(b, w.Add(record, slices.Repeat([][]byte{file}, frames)))
	expect.OK(b, w.Finish())
	source := videoSet(b, dir, "video0").Source
	var pic picture.Picture
	b.Run("read=shard", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			expect.OK(b, source.Read(b.Context(), 0, i*37%frames, &pic))
		}
	})
	b.Run("read=memory", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			expect.OK(b, picture.Decode(file, &pic))
		}
	})
}

func TestClipNames_FindsWhatTablesMean(t *testing.T) {
	var n ClipNames
	for _, clip := range []string{"dog/1.mp4", "cat/1.mp4", "cat/2.mkv", "a.b.webm", "x/s.mp4", "x/s.avi", "still",
		"y/v.mp4"} {
		n.Add(clip)
	}
	for name, want := range map[string]string{
		"dog/1.mp4": "dog/1.mp4", "cat/1": "cat/1.mp4", "2": "cat/2.mkv", "2.mkv": "cat/2.mkv", "2.avi": "cat/2.mkv",
		"/data/clips/cat/1.MP4": "cat/1.mp4", "clips/cat/2": "cat/2.mkv", "a.b": "a.b.webm", "a": "", "bird/1.mp4": "",
		"bird/2.mkv": "", "s.avi": "x/s.avi", "still.mp4": "still", "./y/v": "y/v.mp4", "3": "",
	} {
		i, err := n.Find(name)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case i < 0 && want != "" || i >= 0 && n.Names()[i] != want:
			t.Errorf("%s is clip %d, want %q", name, i, want)
		}
	}
	for _, name := range []string{"1", "1.mp4", "s", "x/s"} {
		if i, err := n.Find(name); !errors.Is(err, ErrSameName) {
			t.Errorf("%s is clip %d, %v; want ErrSameName", name, i, err)
		}
	}
}

package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"nmn/internal/expect"
)

// clip makes a record with pictures of given sizes, whose bytes are drawn from the name.
func clip(name string, sizes ...int) (*Record, [][]byte) {
	seed := [32]byte{}
	copy(seed[:], name)
	random := rand.NewChaCha8(seed)
	r := &Record{Clip: name, Width: 640, Height: 480, PictureWidth: 320, PictureHeight: 240, Decoded: 3 * len(sizes),
		FrameRate: 30, SourceBytes: 1000}
	var pictures [][]byte
	for i, size := range sizes {
		picture := make([]byte, size)
		random.Read(picture)
		pictures = append(pictures, picture)
		r.Frames = append(r.Frames, Frame{Number: 3*i + 1, Time: Seconds(float64(i) / 10)})
	}
	return r, pictures
}

// names are odd ones of clips, in no order.
var names = []string{"b/eat.mp4", "a.b/c.d.mkv", "with space %2E.avi", "naïve/été.webm", "z",
	strings.Repeat("long/", 40) + "name.mp4", "-_.gif"}

// write makes a folder of the clips above, some of them in a shard of their own.
func write(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "frames")
	w, err := Create(dir, Config{ShardBytes: 20_000, Settings: json.RawMessage(`{ "frames": 26 }`)})
	expect.OK(t, err)
	defer w.Close()
	for i, name := range names {
		r, pictures := clip(name, sizesOf(i)...)
		expect.OK(t, w.Add(r, pictures))
	}
	expect.OK(t, w.Finish())
	return dir
}

func sizesOf(i int) []int { return [][]int{{512, 1, 700}, {5000}, {30_000}, {511, 513}}[i%4] }

func open(t *testing.T, dir string) *Reader {
	t.Helper()
	r, err := Open(dir)
	expect.OK(t, err)
	t.Cleanup(func() { expect.OK(t, r.Close()) })
	return r
}

func TestReader_GivesBackWhatWasWritten(t *testing.T) {
	for _, without := range []string{"", offsetsName} {
		dir := write(t)
		if without != "" {
			expect.OK(t, os.Remove(filepath.Join(dir, without)))
		}
		r := open(t, dir)
		if got := string(r.Header().Settings); got != `{"frames":26}` {
			t.Errorf("header %+v, settings %s", r.Header(), got)
		}
		expect.OK(t, r.Check(t.Context()))
		n := 0
		for record, err := range r.Records() {
			expect.OK(t, err)
			alone, err := r.Record(n)
			expect.OK(t, err)
			if !alone.Equal(&record) {
				t.Errorf("record %d is %+v alone and %+v in order", n, alone, record)
			}
			wantClip(t, r, record)
			if record.Clip != names[n] {
				t.Errorf("clip %d is %q, want the order of writing", n, record.Clip)
			}
			n++
		}
		if n != r.Len() || n < 6 {
			t.Errorf("%d clips of %d", n, r.Len())
		}
	}
}

// wantClip reads the frames of a clip and holds them to what was written.
func wantClip(t *testing.T, r *Reader, got Record) {
	t.Helper()
	i := slices.Index(names, got.Clip)
	if i < 0 {
		t.Fatalf("a clip %q", got.Clip)
	}
	want, pictures := clip(got.Clip, sizesOf(i)...)
	var buf []byte
	for k := range pictures {
		var err error
		if buf, err = r.ReadFrame(&got, k, buf); err != nil || !bytes.Equal(buf, pictures[k]) {
			t.Errorf("%q, picture %d: %d bytes, %v", got.Clip, k, len(buf), err)
		}
		want.Frames[k].Offset, want.Frames[k].Size = got.Frames[k].Offset, int64(len(pictures[k]))
	}
	want.Key, want.Shard = Key(got.Clip), got.Shard
	if !want.Equal(&got) {
		t.Errorf("record %+v, want %+v", got, *want)
	}
}

// Many goroutines read more shards than may be open.
func TestReader_ManyReadersFewFiles(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, Config{ShardBytes: 1 << 10})
	expect.OK(t, err)
	const clips = 40
	for i := range clips {
		expect.OK(t, w.Add(clip(fmt.Sprint(i), 900)))
	}
	expect.OK(t, w.Finish())
	expect.OK(t, w.Close())
	r := open(t, dir)
	r.files = newOpenFiles(r.root, 3)
	var group sync.WaitGroup
	const readers = 8
	for g := range readers {
		group.Go(func() {
			for i := range clips {
				record, err := r.Record((i*7 + g) % clips)
				if err != nil {
					t.Error(err)
					return
				}
				_, want := clip(record.Clip, 900)
				if got, err := r.ReadFrame(&record, 0, nil); err != nil || !bytes.Equal(got, want[0]) {
					t.Errorf("clip %s: %v", record.Clip, err)
				}
			}
		})
	}
	group.Wait()
	if n := len(r.files.files); n > readers {
		t.Errorf("%d files are open after %d readers, want at most one for each", n, readers)
	}
}

func TestWriter_ShardsAreAboutAsLargeAsAsked(t *testing.T) {
	dir := write(t)
	shards, err := findShards(dir)
	expect.OK(t, err)
	if len(shards) < 3 || shards[0] != "frames-000000.tar" {
		t.Fatalf("shards %q", shards)
	}
	for _, name := range shards {
		info, err := os.Stat(filepath.Join(dir, name))
		expect.OK(t, err)
		clips := 0
		expect.OK(t, walkShard(dir, name, func(Record) error { clips++; return nil }))
		if info.Size() > 20_000 && clips > 1 {
			t.Errorf("%s: %d clips in %d bytes, at most 20000", name, clips, info.Size())
		}
	}
}

func TestCreate_RefusesWhatIsThere(t *testing.T) {
	dir := write(t)
	if _, err := Create(dir, DefaultConfig()); !errors.Is(err, ErrExists) {
		t.Errorf("error %v", err)
	}
	expect.OK(t, os.Remove(filepath.Join(dir, IndexName)))
	if _, err := Create(dir, DefaultConfig()); !errors.Is(err, ErrExists) {
		t.Errorf("shards without an index: %v", err)
	}
	dir = t.TempDir()
	expect.OK(t, os.WriteFile(filepath.Join(dir, offsetsName), nil, 0o644))
	if _, err := Create(dir, DefaultConfig()); !errors.Is(err, ErrExists) {
		t.Errorf("offsets alone: %v", err)
	}
}

func TestWriter_RefusesBadClips(t *testing.T) {
	w, err := Create(t.TempDir(), DefaultConfig())
	expect.OK(t, err)
	defer w.Close()
	for name, change := range map[string]func(*Record){
		"no name":          func(r *Record) { r.Clip = "" },
		"not UTF-8":        func(r *Record) { r.Clip = "a\xff" },
		"numbers fall":     func(r *Record) { r.Frames[1].Number = 0 },
		"number too large": func(r *Record) { r.Frames[1].Number = 6 },
		"no width":         func(r *Record) { r.Width = 0 },
		"rate":             func(r *Record) { r.FrameRate = math.NaN() },
	} {
		r, pictures := clip("a", 10, 10)
		change(r)
		if err := w.Add(r, pictures); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	r, _ := clip("a", 10, 10)
	if err := w.Add(r, [][]byte{{1}}); err == nil {
		t.Error("one picture for two frames: no error")
	}
	if err := w.Add(r, [][]byte{{1}, {}}); err == nil {
		t.Error("an empty picture: no error")
	}
}

func TestKey_ReversibleAndPlain(t *testing.T) {
	for _, name := range append([]string{"%41", "A", "..", "../../etc/passwd", "\x00", "a\\b"}, names...) {
		key := Key(name)
		if back, err := url.PathUnescape(key); err != nil || back != name {
			t.Errorf("%q: key %q gives %q, %v", name, key, back, err)
		}
		if strings.ContainsAny(key, "./\\ \x00") {
			t.Errorf("%q: key %q", name, key)
		}
	}
}

func TestRecord_UnknownTimeIsNull(t *testing.T) {
	r, _ := clip("a", 1)
	r.Frames[0].Time = Seconds(math.NaN())
	text, err := json.Marshal(r)
	expect.OK(t, err)
	var back Record
	expect.OK(t, json.Unmarshal(text, &back))
	if !strings.Contains(string(text), `"time":null`) || !back.Equal(r) {
		t.Errorf("%s gives %+v", text, back)
	}
}

// The members are at the positions in the index, named so that readers of WebDataset group them.
func TestWriter_MembersOfAClip(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, DefaultConfig())
	expect.OK(t, err)
	r, pictures := clip("a/b.mp4", slices.Repeat([]int{3}, 101)...)
	expect.OK(t, w.Add(r, pictures))
	expect.OK(t, w.Finish())
	expect.OK(t, w.Close())
	shard, err := os.ReadFile(filepath.Join(dir, "frames-000000.tar"))
	expect.OK(t, err)
	for i, f := range r.Frames {
		head := shard[f.Offset-tarBlock:]
		if want := fmt.Sprintf("a%%2Fb%%2Emp4.%03d.jpg\x00", i); !bytes.HasPrefix(head, []byte(want)) ||
			!bytes.HasPrefix(head[tarBlock:], pictures[i]) {
			t.Errorf("picture %d: member %q", i, head[:40])
		}
	}
	if !bytes.Contains(shard, []byte("a%2Fb%2Emp4.json\x00")) {
		t.Error("no member with JSON")
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	expect.OK(t, err)
	return b
}

// isClosed reports whether a file is closed.
func isClosed(f *openFile) bool {
	_, err := f.file.Stat()
	return errors.Is(err, fs.ErrClosed)
}

// A stopped epoch leaves readers running, and the folder is closed while they read.
func TestOpenFiles_CloseLeavesReadersTheirFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		expect.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644))
	}
	root, err := os.OpenRoot(dir)
	expect.OK(t, err)
	defer root.Close()
	o := newOpenFiles(root, 4)
	idle, err := o.acquire("b")
	expect.OK(t, err)
	o.release(idle)
	first, err := o.acquire("a")
	expect.OK(t, err)
	second, err := o.acquire("a")
	expect.OK(t, err)

	expect.OK(t, o.Close())
	if !isClosed(idle) {
		t.Error("a file that nobody reads is open")
	}
	if _, err := o.acquire("a"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a file is opened after Close: %v", err)
	}
	o.release(first)
	content := make([]byte, 1)
	if _, err := second.file.ReadAt(content, 0); err != nil || string(content) != "a" {
		t.Errorf("the second reader reads %q, %v", content, err)
	}
	o.release(second)
	if !isClosed(second) {
		t.Error("the last reader has left its file open")
	}
	expect.OK(t, o.Close())
}

// Close may come at any moment of other goroutines' reads: each returns the picture or reports that the
// folder is closed.
func TestReader_CloseDuringReads(t *testing.T) {
	dir := write(t)
	for range 5 {
		r, err := Open(dir)
		expect.OK(t, err)
		record, err := r.Record(0)
		expect.OK(t, err)
		var group sync.WaitGroup
		reading := make(chan struct{}, 4)
		for range cap(reading) {
			group.Go(func() {
				reading <- struct{}{}
				var buf []byte
				var err error
				for err == nil {
					buf, err = r.ReadFrame(&record, 0, buf)
				}
				if !errors.Is(err, fs.ErrClosed) {
					t.Error(err)
				}
			})
		}
		for range cap(reading) {
			<-reading
		}
		expect.OK(t, r.Close())
		group.Wait()
	}
}

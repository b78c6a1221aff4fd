//go:build unix

package frames

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/setting"
	"nmn/loader/shard"
)

// folder makes clips for a fake: those whose number is in empty cannot be used.
func folder(t *testing.T, n int, empty ...int) []Source {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		content := []byte("of no importance")
		if slices.Contains(empty, i) {
			content = nil
		}
		expect.OK(t, os.MkdirAll(filepath.Join(dir, fmt.Sprint(i%3)), 0o777))
		expect.OK(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i%3), fmt.Sprintf("%02d.mp4", i)), content, 0o644))
	}
	sources, err := Search([]string{dir})
	expect.OK(t, err)
	return sources
}

func options(dir string) Options {
	return Options{Output: dir, ShardBytes: 20_000, Workers: 3, MaxBad: 2}
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	expect.OK(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			var b []byte
			b, err = os.ReadFile(filepath.Join(dir, name))
			all[name] = string(b)
		}
		return err
	}))
	return all
}

func sameTree(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s has %d bytes that differ from %d", what, name, len(got[name]), len(want[name]))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d files, want %d", what, len(got), len(want))
	}
}

func TestMake_SameBytesWhateverTheWorkers(t *testing.T) {
	f := fake(t, "honest")
	sources := folder(t, 11, 4, 7)
	var want map[string]string
	for _, workers := range []int{1, 4} {
		o := options(filepath.Join(t.TempDir(), "out"))
		o.Workers = workers
		var last Progress
		o.Notify = func(p Progress) { last = p }
		sum, err := Make(t.Context(), f, config(3), sources, o)
		expect.OK(t, err)
		if sum.Clips != 9 || sum.LeftOut != 2 || sum.Frames != 27 || last != (Progress{11, 11, 0, 2}) {
			t.Errorf("%+v, %+v", sum, last)
		}
		r, err := shard.Open(o.Output)
		expect.OK(t, err)
		expect.OK(t, r.Check(t.Context()))
		expect.OK(t, r.Close())
		got := tree(t, o.Output)
		if want == nil {
			want = got
		}
		sameTree(t, fmt.Sprintf("%d workers", workers), got, want)
		if text := got[ProblemsName]; strings.Count(text, "the file is empty") != 2 ||
			!strings.Contains(text, `"clip":"1/04.mp4","kept":false`) {
			t.Errorf("problems: %s", text)
		}
	}
}

// A run that is stopped anywhere and gone on with leaves what a run in one piece leaves.
func TestMake_StoppedAndResumed(t *testing.T) {
	f := fake(t, "honest")
	sources := folder(t, 9, 2)
	whole := options(filepath.Join(t.TempDir(), "whole"))
	_, err := Make(t.Context(), f, config(3), sources, whole)
	expect.OK(t, err)
	for stop := 1; stop < 9; stop += 3 {
		o := options(filepath.Join(t.TempDir(), "out"))
		ctx, cancel := context.WithCancel(t.Context())
		o.Notify = func(p Progress) {
			if p.Done == stop {
				cancel()
			}
		}
		if _, err := Make(ctx, f, config(3), sources, o); !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v", err)
		}
		o.Notify = nil
		leftover := filepath.Join(o.Output, "."+ProblemsName+"12345678901234567") // as a kill leaves it
		expect.OK(t, os.WriteFile(leftover, nil, 0o644))
		if _, err := Make(t.Context(), f, config(4), sources, o); !errors.Is(err, shard.ErrSettings) {
			t.Errorf("other settings: %v", err)
		}
		sum, err := Make(t.Context(), f, config(3), sources, o)
		expect.OK(t, err)
		if sum.Clips != 8 || sum.Before < stop-1 || sum.LeftOut != 1 {
			t.Errorf("stopped after %d: %+v", stop, sum)
		}
		wantSameClips(t, o.Output, whole.Output)
		if aside, _ := filepath.Glob(filepath.Join(o.Output, ".*")); len(aside) > 0 {
			t.Errorf("files %q are left", aside)
		}
		if got, want := tree(t, o.Output)[ProblemsName], tree(t, whole.Output)[ProblemsName]; got != want {
			t.Errorf("problems %s, want %s", got, want)
		}
	}
}

// wantSameClips holds clips, their order and the bytes of their frames to each other: shards may end
// elsewhere.
func wantSameClips(t *testing.T, got, want string) {
	t.Helper()
	a, b := contents(t, got), contents(t, want)
	if !slices.Equal(a, b) {
		t.Errorf("clips and frames differ:\n%q\nwant\n%q", a, b)
	}
}

func contents(t *testing.T, dir string) (all []string) {
	t.Helper()
	r, err := shard.Open(dir)
	expect.OK(t, err)
	defer r.Close()
	expect.OK(t, r.Check(t.Context()))
	for record, err := range r.Records() {
		expect.OK(t, err)
		for i, f := range record.Frames {
			b, err := r.ReadFrame(&record, i, nil)
			expect.OK(t, err)
			all = append(all, fmt.Sprintf("%s %d %v %x", record.Clip, f.Number, f.Time, b))
		}
	}
	return all
}

func TestMake_TooManyBadClips(t *testing.T) {
	f := fake(t, "honest")
	sources := folder(t, 9, 0, 4, 8)
	o := options(filepath.Join(t.TempDir(), "out"))
	sum, err := Make(t.Context(), f, config(3), sources, o)
	if !errors.Is(err, ErrClip) || !strings.Contains(err.Error(), "`frames.max_bad_clips`") ||
		!strings.Contains(err.Error(), ProblemsName) {
		t.Errorf("error %v", err)
	}
	if sum.LeftOut != 3 {
		t.Errorf("%+v", sum)
	}
	o.MaxBad = 3
	sum, err = Make(t.Context(), f, config(3), sources, o)
	expect.OK(t, err)
	if sum.Clips != 6 || sum.LeftOut != 3 || sum.Before == 0 {
		t.Errorf("%+v", sum)
	}
}

// Messages of ffmpeg are stored and reported.
func TestMake_TellsOfComplaints(t *testing.T) {
	f := fake(t, "complains and goes on")
	o := options(filepath.Join(t.TempDir(), "out"))
	sum, err := Make(t.Context(), f, config(3), folder(t, 2), o)
	expect.OK(t, err)
	text := tree(t, o.Output)[ProblemsName]
	if sum.Damaged != 2 || sum.Clips != 2 ||
		strings.Count(text, `"kept":true,"cause":"error while decoding MB 25 18`) != 2 {
		t.Errorf("%+v: %s", sum, text)
	}
}

// A name that cannot be kept costs its clip, not the run.
func TestMake_OddNames(t *testing.T) {
	f, good := fake(t, "honest"), some(t)
	bad := Source{Name: "caf\xe9.mp4", Path: good.Path}
	long := Source{Name: strings.Repeat("ä", 2100) + ".mp4", Path: good.Path}
	o := options(filepath.Join(t.TempDir(), "out"))
	for range 2 {
		sum, err := Make(t.Context(), f, config(3), []Source{bad, long, good}, o)
		expect.OK(t, err)
		text := tree(t, o.Output)[ProblemsName]
		if sum.Clips != 1 || sum.LeftOut != 2 || strings.Count(text, "\n") != 2 ||
			!strings.Contains(text, "rename it") || !strings.Contains(text, "has 4204 bytes") {
			t.Errorf("%+v: %s", sum, text)
		}
	}
}

func TestMake_NoFFmpeg(t *testing.T) {
	f := &FFmpeg{Path: filepath.Join(t.TempDir(), "gone")}
	if _, err := Make(t.Context(), f, config(3), folder(t, 2), options(t.TempDir())); !errors.Is(err, ErrTool) ||
		errors.Is(err, ErrClip) {
		t.Errorf("error %v", err)
	}
}

func TestSearch_FoldersAndFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b/2.MP4", "b/1.avi", "a.mkv", "notes.txt", "b/c/3.webm"} {
		expect.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		expect.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	all, err := Search([]string{dir})
	expect.OK(t, err)
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	if want := []string{"a.mkv", "b/1.avi", "b/2.MP4", "b/c/3.webm"}; !slices.Equal(names, want) {
		t.Errorf("clips %q, want %q", names, want)
	}
	two, err := Search([]string{filepath.Join(dir, "b"), filepath.Join(dir, "notes.txt")})
	expect.OK(t, err)
	if len(two) != 4 || two[0].Name != filepath.ToSlash(filepath.Join(dir, "b", "1.avi")) ||
		two[3].Path != filepath.Join(dir, "notes.txt") {
		t.Errorf("two paths: %+v", two)
	}
	if _, err := Search([]string{filepath.Join(dir, "none")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if _, err := Search([]string{t.TempDir()}); err == nil || !strings.Contains(err.Error(), ".webm") {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestReadList_OrderAndFolder(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "list.txt")
	expect.OK(t, os.WriteFile(name, []byte("# training\nb.mp4\r\n\n a/../a/c.mp4 \n/x/y.avi\n"), 0o644))
	all, err := ReadList(name)
	expect.OK(t, err)
	want := []Source{{"b.mp4", filepath.Join(dir, "b.mp4")}, {"a/c.mp4", filepath.Join(dir, "a/c.mp4")},
		{"/x/y.avi", "/x/y.avi"}}
	if !slices.Equal(all, want) {
		t.Errorf("clips %+v, want %+v", all, want)
	}
	for text, want := range map[string]string{"a.mp4\nb.mp4\n./a.mp4\n": "line 3", "# nothing\n": "names a clip",
		strings.Repeat("x", listLine+1): "line 1"} {
		expect.OK(t, os.WriteFile(name, []byte(text), 0o644))
		if _, err := ReadList(name); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestComplaints_Bounded(t *testing.T) {
	var c complaints
	for range 100 {
		n, err := c.Write(bytes.Repeat([]byte("x"), 1000))
		if n != 1000 || err != nil {
			t.Fatal(n, err)
		}
	}
	if len(c.begin) != complaintBytes {
		t.Errorf("%d bytes are kept, want %d", len(c.begin), complaintBytes)
	}
}

func TestMake_RefusesToOverwriteAListOfOthers(t *testing.T) {
	o := options(t.TempDir())
	notes := filepath.Join(o.Output, ProblemsName)
	expect.OK(t, os.WriteFile(notes, []byte("of somebody\n"), 0o644))
	var mistake *setting.Error
	_, err := Make(t.Context(), fake(t, "honest"), config(3), folder(t, 2), o)
	if !errors.As(err, &mistake) || !strings.Contains(err.Error(), notes+" would be overwritten") {
		t.Errorf("error %v", err)
	}
	sameTree(t, "the folder", tree(t, o.Output), map[string]string{ProblemsName: "of somebody\n"})
}

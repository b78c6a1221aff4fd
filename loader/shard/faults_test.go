package shard

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nmn/internal/expect"
)

// Each damage must be found, by the whole check or by reading, with an error that names the file.
func TestCheck_FindsDamage(t *testing.T) {
	for name, c := range map[string]struct {
		damage damage
		want   string
	}{
		"a shard cut in a picture": {cutTo("frames-000001.tar", 9000), "frames-000001.tar"},
		"a shard without its end":  {func(t *testing.T, dir string) { cutTail(t, dir, "frames-000000.tar", 1024) }, "zeros"},
		"a shard is missing":       {without("frames-000001.tar"), IndexName + ", line"},
		"a shard too many":         {copied("frames-000000.tar", "frames-000099.tar"), "frames-000099.tar"},
		"shards change places": {func(t *testing.T, dir string) {
			copied("frames-000000.tar", "aside")(t, dir)
			copied("frames-000001.tar", "frames-000000.tar")(t, dir)
			expect.OK(t, os.Rename(filepath.Join(dir, "aside"), filepath.Join(dir, "frames-000001.tar")))
		}, IndexName + ", line 2"},
		"a member has another size": {replaced("frames-000000.tar", `"size":700`, `"size":701`), "gives 701"},
		"an offset off by a block":  {func(t *testing.T, dir string) { edit(t, dir, `"offset":512,`, `"offset":0,`) }, IndexName + ", line 2"},
		"a line is missing": {lines(func(all [][]byte) [][]byte { return slices.Delete(all, 2, 3) }),
			IndexName + ", line 3"},
		"a line is cut": {func(t *testing.T, dir string) { cutTail(t, dir, IndexName, 7) }, "cut short"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t)
			c.damage(t, dir)
			r, err := Open(dir)
			if err == nil {
				err = r.Check(t.Context())
				expect.OK(t, r.Close())
			}
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "`shard.") && !strings.Contains(err.Error(), "nmn frames goes on") {
				t.Errorf("error %v, want one with %q and a cure", err, c.want)
			}
		})
	}
}

// Damage that Check finds ahead, reading finds when it gets there.
func TestReadFrame_FindsDamage(t *testing.T) {
	for name, c := range map[string]struct {
		damage damage
	}{
		"cut in the middle": {cutTo("frames-000000.tar", 600)},
		"cut to nothing":    {cutTo("frames-000000.tar", 0)},
		"missing":           {without("frames-000000.tar")},
		"of another run":    {copied("frames-000001.tar", "frames-000000.tar")},
		"a folder": {func(t *testing.T, dir string) {
			without("frames-000000.tar")(t, dir)
			expect.OK(t, os.Mkdir(filepath.Join(dir, "frames-000000.tar"), 0o777))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t)
			c.damage(t, dir)
			r := open(t, dir)
			record, err := r.Record(0)
			expect.OK(t, err)
			if _, err := r.ReadFrame(&record, 2, nil); !errors.Is(err, ErrFormat) ||
				!strings.Contains(err.Error(), `"b/eat.mp4"`) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A link that leads out of the folder is not followed.
func TestReadFrame_StaysInTheFolder(t *testing.T) {
	dir := write(t)
	outside := filepath.Join(t.TempDir(), "outside.tar")
	expect.OK(t, os.Rename(filepath.Join(dir, "frames-000000.tar"), outside))
	if err := os.Symlink(outside, filepath.Join(dir, "frames-000000.tar")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	r := open(t, dir)
	record, err := r.Record(0)
	expect.OK(t, err)
	if _, err := r.ReadFrame(&record, 0, nil); err == nil {
		t.Error("the file outside was read")
	}
}

// An index must not be believed: no number in it may lead beyond the file, and no name out of the folder.
func TestOpen_HostileIndex(t *testing.T) {
	for name, change := range map[string][2]string{
		"offset beyond the file":  {`"offset":512,`, `"offset":1099511627776,`},
		"negative offset":         {`"offset":512,`, `"offset":-512,`},
		"huge offset":             {`"offset":512,`, `"offset":9223372036854775807,`},
		"offset that overflows":   {`"offset":512,`, `"offset":18446744073709551616,`},
		"offset between blocks":   {`"offset":512,`, `"offset":513,`},
		"negative size":           {`"size":512}`, `"size":-1}`},
		"huge size":               {`"size":512}`, `"size":4611686018427387904}`},
		"a shard elsewhere":       {`"shard":"frames-000000.tar"`, `"shard":"../frames-000000.tar"`},
		"a shard by another name": {`"shard":"frames-000000.tar"`, `"shard":"/etc/passwd"`},
		"a key elsewhere":         {`"key":"b%2Feat%2Emp4"`, `"key":"../secret"`},
		"no frames":               {`"frames":[`, `"frames":[],"others":[`},
		"infinite time":           {`"time":0,`, `"time":1e999,`},
		"frame of no clip":        {`"frame":7,`, `"frame":9,`},
		"not JSON":                {`"clip":`, `clip:`},
		"another version":         {`"version":1`, `"version":2`},
		"another format":          {`"format":"nmn-frames"`, `"format":"other"`},
		"frames as pictures":      {`"version":1`, `"version":1,"form":"folder"`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t)
			edit(t, dir, change[0], change[1])
			r, err := Open(dir)
			if err == nil {
				err = firstFrame(r)
				expect.OK(t, r.Close())
			}
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func firstFrame(r *Reader) error {
	record, err := r.Record(0)
	if err == nil {
		_, err = r.ReadFrame(&record, 0, nil)
	}
	return err
}

// The file of offsets is a help, not a truth: one that does not fit is not used, and one that lies is
// found out.
func TestOpen_OffsetsThatLie(t *testing.T) {
	dir := write(t)
	whole := read(t, dir, offsetsName)
	for name, bad := range map[string][]byte{
		"empty": {}, "cut": whole[:20], "of another index": append([]byte(offsetsMagic+"12345678"), whole[16:]...),
	} {
		expect.OK(t, os.WriteFile(filepath.Join(dir, offsetsName), bad, 0o644))
		r := open(t, dir)
		if r.Len() != len(names) {
			t.Errorf("%s: %d clips, want %d", name, r.Len(), len(names))
		}
		expect.OK(t, firstFrame(r))
	}
	for name, at := range map[string]int{"too large": 23, "not a line": 16} {
		bad := bytes.Clone(whole)
		bad[at]++
		expect.OK(t, os.WriteFile(filepath.Join(dir, offsetsName), bad, 0o644))
		r := open(t, dir)
		if err := firstFrame(r); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
		if err := r.Check(t.Context()); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: the check says %v", name, err)
		}
	}
	expect.OK(t, os.WriteFile(filepath.Join(dir, offsetsName), whole[:len(whole)-8], 0o644))
	if err := open(t, dir).Check(t.Context()); !errors.Is(err, ErrFormat) {
		t.Errorf("an entry is missing: %v", err)
	}
}

func TestRebuild_MakesTheSameIndex(t *testing.T) {
	dir := write(t)
	index, offsets := read(t, dir, IndexName), read(t, dir, offsetsName)
	edit(t, dir, `"size":`, `"size":9`)
	expect.OK(t, rebuild(dir))
	if !bytes.Equal(read(t, dir, IndexName), index) || !bytes.Equal(read(t, dir, offsetsName), offsets) {
		t.Error("another index")
	}
	expect.OK(t, open(t, dir).Check(t.Context()))
}

// Indexes of earlier versions state the form of the frames.
func TestOpen_IndexWithTheFormOfShards(t *testing.T) {
	dir := write(t)
	edit(t, dir, `"version":1`, `"version":1,"form":"shards"`)
	r := open(t, dir)
	if expect.OK(t, firstFrame(r)); r.Header().Form != "" {
		t.Errorf("header %+v", r.Header())
	}
}

// A folder without shards, such as one that an earlier version wrote with frames as pictures, keeps its index.
func TestRebuild_RefusesAFolderWithoutShards(t *testing.T) {
	dir := t.TempDir()
	index := []byte(`{"format":"nmn-frames","version":1,"form":"folder"}` + "\n")
	expect.OK(t, os.WriteFile(filepath.Join(dir, IndexName), index, 0o644))
	_, err := RebuildFolder(dir)
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "make the frames again") {
		t.Errorf("error %v", err)
	}
	if got := read(t, dir, IndexName); !bytes.Equal(got, index) {
		t.Errorf("the index became %q", got)
	}
}

// Without the index there are no settings, and everything else.
func TestRebuild_WithoutAnIndex(t *testing.T) {
	dir := write(t)
	expect.OK(t, os.Remove(filepath.Join(dir, IndexName)))
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "`shard.rebuild_index`") {
		t.Errorf("without an index: %v", err)
	}
	expect.OK(t, rebuild(dir))
	r := open(t, dir)
	expect.OK(t, r.Check(t.Context()))
	if h := r.Header(); h.Settings != nil {
		t.Errorf("header %+v", h)
	}
}

// A process may be killed between any two bytes that are written. After Append, the result equals an
// uninterrupted run.
func TestAppend_AfterAKillAnywhere(t *testing.T) {
	whole := write(t)
	index := read(t, whole, IndexName)
	head := bytes.IndexByte(index, '\n') + 1
	for cut := head; cut <= len(index); cut += 211 {
		for shards := range 4 {
			dir := filepath.Join(t.TempDir(), "frames")
			expect.OK(t, os.CopyFS(dir, os.DirFS(whole)))
			expect.OK(t, os.WriteFile(filepath.Join(dir, IndexName), index[:cut], 0o644))
			expect.OK(t, os.WriteFile(filepath.Join(dir, ".frames-000007.tar123"), []byte("half"), 0o644))
			listed := lastListed(index[:cut])
			removeShards(t, dir, max(shards, listed+1))
			w, err := Append(dir, Config{ShardBytes: 20_000, Settings: []byte(`{"frames":26}`)})
			expect.OK(t, err)
			done := map[string]bool{}
			for r, err := range Records(dir) {
				expect.OK(t, err)
				done[r.Clip] = true
			}
			for i, name := range names {
				if !done[name] {
					expect.OK(t, w.Add(clip(name, sizesOf(i)...)))
				}
			}
			expect.OK(t, w.Finish())
			expect.OK(t, w.Close())
			sameFolder(t, dir, whole)
		}
	}
}

// lastListed returns the number of the last shard that complete lines name, -1 if there is none.
func lastListed(index []byte) int {
	whole := index[:bytes.LastIndexByte(index, '\n')+1]
	at := bytes.LastIndex(whole, []byte(`"shard":"`))
	if at < 0 {
		return -1
	}
	return shardNumber(string(whole[at+9 : at+9+len(shardName(0))]))
}

// removeShards leaves the first n.
func removeShards(t *testing.T, dir string, n int) {
	t.Helper()
	found, err := findShards(dir)
	expect.OK(t, err)
	for _, name := range found[min(n, len(found)):] {
		expect.OK(t, os.Remove(filepath.Join(dir, name)))
	}
}

func sameFolder(t *testing.T, got, want string) {
	t.Helper()
	a, err := os.ReadDir(got)
	expect.OK(t, err)
	b, err := os.ReadDir(want)
	expect.OK(t, err)
	if len(a) != len(b) {
		t.Fatalf("%d files, want %d", len(a), len(b))
	}
	for i, e := range b {
		if a[i].Name() != e.Name() || !bytes.Equal(read(t, got, e.Name()), read(t, want, e.Name())) {
			t.Errorf("%s differs from %s", a[i].Name(), e.Name())
		}
	}
}

func TestAppend_RefusesOtherSettings(t *testing.T) {
	dir := write(t)
	before := read(t, dir, IndexName)
	if _, err := Append(dir, Config{ShardBytes: 20_000, Settings: []byte(`{"frames":25}`)}); !errors.Is(err, ErrSettings) {
		t.Errorf("error %v", err)
	}
	if !bytes.Equal(read(t, dir, IndexName), before) {
		t.Error("the index changed")
	}
}

func TestAppend_BeginsWhereNothingIs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	w, err := Append(dir, DefaultConfig())
	expect.OK(t, err)
	expect.OK(t, w.Add(clip("a", 5)))
	expect.OK(t, w.Finish())
	expect.OK(t, w.Close())
	expect.OK(t, open(t, dir).Check(t.Context()))
}

// fullDisk accepts the given number of bytes and no more.
type fullDisk struct {
	aside
	left *int
}

func (f fullDisk) Write(p []byte) (int, error) {
	if *f.left -= len(p); *f.left < 0 {
		return 0, &os.PathError{Op: "write", Path: "frames", Err: syscall.ENOSPC}
	}
	return f.aside.Write(p)
}

func TestWriter_DiskFull(t *testing.T) {
	whole := write(t)
	for left := 1000; left < 60_000; left += 9001 {
		dir := t.TempDir()
		c := Config{ShardBytes: 20_000, Settings: []byte(`{"frames":26}`)}
		w, err := Create(dir, c)
		expect.OK(t, err)
		space := left
		w.shards.create = func(path string) (aside, error) {
			a, err := createAside(path)
			return fullDisk{a, &space}, err
		}
		for i, name := range names {
			if err = w.Add(clip(name, sizesOf(i)...)); err != nil {
				break
			}
		}
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "frames-00000") ||
			!strings.Contains(err.Error(), "nmn frames goes on") {
			t.Fatalf("%d bytes: error %v", left, err)
		}
		expect.OK(t, w.Close())
		expect.OK(t, open(t, dir).Check(t.Context()))
		resumed, err := Append(dir, c)
		expect.OK(t, err)
		n := open(t, dir).Len()
		for i, name := range names[n:] {
			expect.OK(t, resumed.Add(clip(name, sizesOf(n+i)...)))
		}
		expect.OK(t, resumed.Finish())
		expect.OK(t, resumed.Close())
		sameFolder(t, dir, whole)
	}
}

// damage changes a folder of frames.
type damage func(t *testing.T, dir string)

func cutTo(name string, size int64) damage {
	return func(t *testing.T, dir string) { expect.OK(t, os.Truncate(filepath.Join(dir, name), size)) }
}

func without(name string) damage {
	return func(t *testing.T, dir string) {
		_, err := os.Stat(filepath.Join(dir, name))
		expect.OK(t, errors.Join(err, os.RemoveAll(filepath.Join(dir, name))))
	}
}

func copied(from, to string) damage {
	return func(t *testing.T, dir string) {
		expect.OK(t, os.WriteFile(filepath.Join(dir, to), read(t, dir, from), 0o644))
	}
}

func replaced(name, old, new string) damage {
	return func(t *testing.T, dir string) {
		b := read(t, dir, name)
		changed := bytes.Replace(b, []byte(old), []byte(new), 1)
		if bytes.Equal(b, changed) {
			t.Fatalf("%s holds no %s", name, old)
		}
		expect.OK(t, os.WriteFile(filepath.Join(dir, name), changed, 0o644))
	}
}

// lines changes the lines of the index.
func lines(change func([][]byte) [][]byte) damage {
	return func(t *testing.T, dir string) {
		all := bytes.SplitAfter(read(t, dir, IndexName), []byte("\n"))
		expect.OK(t, os.WriteFile(filepath.Join(dir, IndexName), bytes.Join(change(all), nil), 0o644))
	}
}

func cutTail(t *testing.T, dir, name string, n int) {
	t.Helper()
	cutTo(name, int64(len(read(t, dir, name))-n))(t, dir)
}

// edit changes the index if it finds the text.
func edit(t *testing.T, dir, old, new string) {
	t.Helper()
	b := bytes.Replace(read(t, dir, IndexName), []byte(old), []byte(new), 1)
	expect.OK(t, os.WriteFile(filepath.Join(dir, IndexName), b, 0o644))
	os.Remove(filepath.Join(dir, offsetsName))
}

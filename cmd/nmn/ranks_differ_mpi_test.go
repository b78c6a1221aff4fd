//go:build linux && cgo && (mpi || mpich)

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/run"
)

// Files and arguments of trainings of about a second, in the folder where the ranks work.
var (
	ofPictures = []string{"train", "--preset", "scenes", "--set", "data.captions=pictures/captions_train2014.json",
		"--images", "pictures/images", "--vocab", "pictures/vocabulary.txt", "--arm", "stage1", "--epochs", "1",
		"--batch-size", "8", "--set", "net.width=0.5", "--device", "cpu", "--threads", "1", "-q", "--run-dir", "run"}
	ofFeatures = []string{"train", "--set", "data.features.train.features=x.csv", "--labels", "y.csv", "--arm", "baseline",
		"--epochs", "2", "--set", "net.hidden=[4]", "--device", "cpu", "--threads", "1", "-q", "--run-dir", "run"}
)

// layData makes what these trainings learn from.
func layData(t *testing.T, dir string) {
	t.Helper()
	must(t, "scenes", filepath.Join(dir, "pictures"), "--number", "24")
	features, labels := featureRows(60)
	write(t, filepath.Join(dir, "x.csv"), csvText("id,x1,x2", features...))
	write(t, filepath.Join(dir, "y.csv"), csvText("id,cat,dog", labels...))
}

// anotherProgram builds nmn of another revision, with the tags of this test.
func anotherProgram(t *testing.T) string {
	t.Helper()
	tags := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				tags = s.Value
			}
		}
	}
	program := filepath.Join(t.TempDir(), "nmn")
	build := exec.Command("go", "build", "-o", program, "-buildvcs=false", "-tags", tags, "-ldflags",
		"-X "+reflect.TypeFor[run.Build]().PkgPath()+".revision=another", ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("another program cannot be built: %v: %s", err, out)
	}
	return program
}

// edit changes a file in the folder of a rank.
func edit(name string, change func(content []byte) []byte) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		path := filepath.Join(dir, name)
		write(t, path, string(change([]byte(read(t, path)))))
	}
}

// A rank that works on something else than the others is refused on all ranks, by name and with what differs, before
// the run folder is touched: be it a new one, or that of a run.
func TestMPI_RanksThatDifferAreRefused(t *testing.T) {
	const picture = "pictures/images/COCO_train2014_000000000003.jpg"
	longer := func(b []byte) []byte { return append(b, 0) }
	cases := []struct {
		name   string
		args   []string
		change func(t *testing.T, dir string) // what rank 2 finds
		other  share                          // how it is started, where that differs
		again  bool                           // try it in the folder of a run too
		want   []string
	}{
		{name: "a picture", args: ofPictures, again: true, change: edit(picture, longer),
			want: []string{"its list of pictures or shards"}},
		{name: "the content of a picture", args: append(slices.Clone(ofPictures), "--set", "run.verify_data=true"),
			change: edit(picture, func(b []byte) []byte { b[len(b)/2] ^= 1; return b }),
			want:   []string{"its list of pictures or shards"}},
		{name: "a label", args: ofFeatures, change: edit("y.csv",
			func(b []byte) []byte { return append(b[:len(b)-2], b[len(b)-2]^1, '\n') }),
			want: []string{"its file of data.features.train.labels is"}},
		{name: "a setting", args: ofFeatures, other: share{args: append(slices.Clone(ofFeatures), "--batch-size", "9")},
			want: []string{"its setting --batch-size is 9, that of rank 0 is"}},
		{name: "the instruction set", args: ofFeatures, other: share{env: "NMN_SIMD=generic"},
			want: []string{"its instruction set is generic"}},
		{name: "the program", args: ofFeatures, other: share{program: anotherProgram(t)}, again: true,
			want: []string{"its program's revision is another"}},
	}
	mine := t.TempDir()
	layData(t, mine)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.other.env != "" && run.ThisBuild().SIMD == "generic" {
				t.Skip("there is but one instruction set")
			}
			theirs := filepath.Join(t.TempDir(), "theirs")
			expect.OK(t, os.CopyFS(theirs, os.DirFS(mine)))
			c.other.n, c.other.dir = 1, theirs
			if c.change != nil {
				c.change(t, theirs)
			}
			if c.other.args == nil {
				c.other.args = c.args
			}
			folder := filepath.Join(mine, "run")
			refuse := func() {
				t.Helper()
				cmd, out, stderr := jobOf(t, share{n: 2, dir: mine, args: c.args}, c.other)
				_ = cmd.Run()
				if code := cmd.ProcessState.ExitCode(); code != exitUsage || out.String() != "" {
					t.Errorf("exit code %d, prints %q: %s", code, out, stderr)
				}
				for _, want := range append([]string{"rank 2 (", "differs from rank 0"}, c.want...) {
					if !strings.Contains(stderr.String(), want) {
						t.Errorf("%q is not in %s", want, stderr)
					}
				}
				if durable.Exists(filepath.Join(theirs, "run")) {
					t.Error("rank 2 has made a run folder")
				}
			}
			refuse()
			if durable.Exists(folder) {
				t.Fatal("a run folder was made")
			}
			if !c.again {
				return
			}
			t.Cleanup(func() { _ = os.RemoveAll(folder) })
			cmd, _, stderr := jobOf(t, share{n: 3, dir: mine, args: c.args})
			if err := cmd.Run(); err != nil {
				t.Fatalf("alike: %v: %s", err, stderr)
			}
			before := contents(t, folder)
			refuse()
			if after := contents(t, folder); !reflect.DeepEqual(after, before) {
				t.Errorf("the run folder was touched: it holds %d files, and held %d", len(after), len(before))
			}
		})
	}
}

// contents are the files of a folder, with time and content.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range filesOf(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		expect.OK(t, err)
		all[name] = info.ModTime().String() + read(t, dir, name)
	}
	return all
}

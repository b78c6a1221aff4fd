package loader

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/loader/shard"
	"nmn/text"
)

const (
	scaleWords   = 1087
	scaleBatches = 100
)

// TestScale_MemoryDoesNotGrow reads batches of sets of more and more clips, each in a process of its own,
// and compares how much memory these took at most. NMN_SCALE=1000,10000,100000,1000000 chooses the
// numbers of clips; a million take about a gigabyte of disk and a minute.
func TestScale_MemoryDoesNotGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large files")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the system does not say how much memory a process takes")
	}
	sizes := os.Getenv("NMN_SCALE")
	if sizes == "" {
		sizes = "1000,20000"
	}
	var first int
	for i, field := range strings.Split(sizes, ",") {
		n, err := strconv.Atoi(field)
		expect.OK(t, err)
		dir := t.TempDir()
		writeScale(t, dir, n)
		peak, summary := scaleChild(t, dir)
		t.Logf("%d clips: %d kB at most; %s", n, peak, summary)
		if i == 0 {
			first = peak
		}
		// Matrices of labels and counts would take 2 kB for each clip: 43 MB for 20,000.
		if grown := peak - first; grown > 16<<10 {
			t.Errorf("%d clips take %d kB more than the first number", n, grown)
		}
		expect.OK(t, os.RemoveAll(dir))
	}
}

// scaleChild runs TestScale_Child on a folder, and returns its peak memory in kB and its summary of times.
func scaleChild(t *testing.T, dir string) (kilobytes int, summary string) {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^TestScale_Child$", "-test.v")
	command.Env = append(os.Environ(), "NMN_SCALE_CHILD="+dir)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(line, "scale: "); ok {
			if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
				t.Fatal(err)
			}
			_, summary, _ = strings.Cut(strings.TrimSpace(rest), " ")
			return kilobytes, summary
		}
	}
	t.Fatalf("the process says nothing: %s", out)
	return 0, ""
}

// TestScale_Child reads batches of the folder that TestScale_MemoryDoesNotGrow made, from the middle of
// an epoch on, and returns the peak of its memory.
func TestScale_Child(t *testing.T) {
	dir := os.Getenv("NMN_SCALE_CHILD")
	if dir == "" {
		t.Skip("run by TestScale_MemoryDoesNotGrow")
	}
	began := time.Now()
	clips, labels := mustOpenClips(t, dir), mustOpenLabels(t, filepath.Join(dir, "labels.jsonl"))
	set, err := StreamClips("scale", clips, labels, scaleVocabulary(t))
	expect.OK(t, err)
	config := DefaultConfig()
	config.Size, config.Block, config.Window = 32, 256, 16
	l := mustLoader(t, set, config)
	opened := time.Since(began)
	began = time.Now()
	var toFirst time.Duration
	read := 0
	for epoch := 0; read < scaleBatches; epoch++ {
		e, err := l.Epoch(context.Background(), epoch, l.Batches()/2)
		expect.OK(t, err)
		for read < scaleBatches {
			b, err := e.Next(context.Background())
			if err == io.EOF {
				break
			}
			expect.OK(t, err)
			if read == 0 {
				toFirst = time.Since(began)
			}
			if b.T != 2*b.N || b.IDs[0] != scaleClip(b.Index[0]) {
				t.Fatalf("bag %d is %s; %d frames of %d bags", b.Index[0], b.IDs[0], b.T, b.N)
			}
			read++
			b.Release()
		}
		e.Close()
	}
	fmt.Printf("scale: %d opened in %v, first batch after %v, %d batches after %v\n", peakMemory(t),
		opened.Round(time.Millisecond), toFirst.Round(time.Millisecond), read,
		time.Since(began).Round(time.Millisecond))
}

// peakMemory is the most resident memory that this process has had, in kB.
func peakMemory(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	expect.OK(t, err)
	_, rest, ok := strings.Cut(string(status), "VmHWM:")
	var kilobytes int
	if _, err := fmt.Sscan(rest, &kilobytes); !ok || err != nil {
		t.Fatalf("no peak in %s", status)
	}
	return kilobytes
}

func scaleVocabulary(t testing.TB) *text.Vocabulary {
	words := make([]string, scaleWords)
	for i := range words {
		words[i] = "w" + strconv.Itoa(i)
	}
	return vocabularyOf(t, words...)
}

// scaleClip names a clip so long that its name is not in the tar header of its picture: clips may then
// share their pictures.
func scaleClip(i int) string { return fmt.Sprintf("clip-%0100d", i) }

// writeScale writes an index and labels of n clips of two frames, which all share the frames of one small
// shard.
func writeScale(t *testing.T, dir string, n int) {
	t.Helper()
	w, err := shard.Create(dir, shard.DefaultConfig())
	expect.OK(t, err)
	defer w.Close()
	const shared = 4
	var records []shard.Record
	for i := range shared {
		r := shard.Record{Clip: scaleClip(i), Width: 64, Height: 48, PictureWidth: 64, PictureHeight: 48, Decoded: 2,
			Frames: []shard.Frame{{Number: 0}, {Number: 1}}}
		if err := w.Add(&r, [][]byte{greyJPEG(t, 64, 48, uint8(50*i)), greyJPEG(t, 64, 48, uint8(50*i+20))}); err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	expect.OK(t, w.Finish())
	writeScaleIndex(t, dir, n, records)
	err = WriteClipLabels(filepath.Join(dir, "labels.jsonl"), ClipLabelsForm{CaptionsPerSample: 20},
		func(yield func(ClipLabel, error) bool) {
			for i := range n {
				counts := map[string]int{}
				for j := range 10 {
					counts["w"+strconv.Itoa((i*7+j*j*31)%scaleWords)] = 1 + (i+j)%20
				}
				if !yield(ClipLabel{Clip: scaleClip(i), Counts: counts}, nil) {
					return
				}
			}
		})
	expect.OK(t, err)
}

// writeScaleIndex overwrites the index of the shard and its file of offsets.
func writeScaleIndex(t *testing.T, dir string, n int, records []shard.Record) {
	t.Helper()
	index, err := os.ReadFile(filepath.Join(dir, shard.IndexName))
	expect.OK(t, err)
	head, _, _ := strings.Cut(string(index), "\n")
	file, err := os.Create(filepath.Join(dir, shard.IndexName))
	expect.OK(t, err)
	defer file.Close()
	var offsets []byte
	out, size := bufio.NewWriter(file), int64(0)
	put := func(line []byte) {
		if _, err := out.Write(append(line, '\n')); err != nil {
			t.Fatal(err)
		}
		size += int64(len(line)) + 1
	}
	put([]byte(head))
	for i := range n {
		r := records[i%len(records)]
		r.Clip, r.Key = scaleClip(i), scaleClip(i)
		line, err := json.Marshal(r)
		expect.OK(t, err)
		offsets = binary.LittleEndian.AppendUint64(offsets, uint64(size))
		put(line)
	}
	expect.OK(t, out.Flush())
	magic, err := os.ReadFile(filepath.Join(dir, "index.offsets"))
	expect.OK(t, err)
	start := binary.LittleEndian.AppendUint64(magic[:8:8], uint64(size))
	write(t, filepath.Join(dir, "index.offsets"), append(start, offsets...))
}

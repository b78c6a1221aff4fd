package published

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/loader/shard"
)

// smallMSRVTT is a folder of the shape of MSR-VTT with fewer clips, and what should be in it.
func smallMSRVTT(t *testing.T) (string, MSRVTTSize) {
	t.Helper()
	size := MSRVTTSize{Train: 7, Validate: 3, Test: 4, PerClip: 20}
	dir := filepath.Join(t.TempDir(), "msrvtt")
	put(t, filepath.Join(dir, msrvttJSON), sentences(t, 0, map[string]int{"train": 7, "validate": 3}, 20))
	put(t, filepath.Join(dir, msrvttTest), sentences(t, 10, map[string]int{"test": 4}, 20))
	for i := range 10 {
		put(t, filepath.Join(dir, "TrainValVideo", fmt.Sprintf("video%d.mp4", i)), []byte("x"))
	}
	return dir, size
}

// sentences is a file of annotations of clips, with the given numbers in each split, from a number on.
func sentences(t *testing.T, first int, splits map[string]int, perClip int) []byte {
	t.Helper()
	var videos, all []map[string]any
	for _, split := range []string{"train", "validate", "test"} {
		for range splits[split] {
			id := fmt.Sprintf("video%d", first+len(videos))
			videos = append(videos, map[string]any{"video_id": id, "split": split})
			for range perClip {
				all = append(all, map[string]any{"sen_id": 1000*first + len(all), "video_id": id, "caption": "a man sings"})
			}
		}
	}
	content, err := json.Marshal(map[string]any{"videos": videos, "sentences": all})
	check(t, err)
	return content
}

func msrvtt(t *testing.T, dir string, size MSRVTTSize) *Folder {
	t.Helper()
	f, err := MSRVTT(t.Context(), dir, size)
	check(t, err)
	return f
}

func TestMSRVTT_AWholeFolderHasNoFindings(t *testing.T) {
	dir, size := smallMSRVTT(t)
	f := msrvtt(t, dir, size)
	if len(f.Findings) != 0 || f.Annotations != filepath.Join(dir, msrvttJSON) ||
		f.Clips != filepath.Join(dir, "TrainValVideo") || f.TestAnnotations == "" || len(f.Files) != 2 {
		t.Errorf("found %+v", f)
	}
	remove(t, dir, msrvttTest)
	if f = msrvtt(t, dir, size); len(f.Findings) != 1 || f.Findings[0].Kind != "no-test" || f.Errors() != 0 {
		t.Errorf("without test: %+v", f.Findings)
	}
}

func TestMSRVTT_WhatIsWrongIsNamedWithItsCure(t *testing.T) {
	annotations := func(file string, first int, splits map[string]int, perClip int) spoiler {
		return with(string(sentences(t, first, splits, perClip)), file)
	}
	whole := string(sentences(t, 0, map[string]int{"train": 7, "validate": 3}, 20))
	expectEach(t, func(t *testing.T) (string, func() *Folder) {
		dir, size := smallMSRVTT(t)
		return dir, func() *Folder { return msrvtt(t, dir, size) }
	}, []spoiled{
		{"no annotations", without(msrvttJSON), "missing-annotations", msrvttJSON + " is missing",
			"MSR-VTT at Microsoft Research"},
		{"annotations cut short", with(whole[:len(whole)-100], msrvttJSON), "unreadable-annotations",
			msrvttJSON + " cannot be used", "again"},
		{"annotations of test", annotations(msrvttJSON, 0, map[string]int{"test": 10}, 20), "annotation-counts",
			"describes only test clips", msrvttArchive},
		{"fewer clips", annotations(msrvttJSON, 0, map[string]int{"train": 5, "validate": 3}, 20), "annotation-counts",
			"5 train and 3 validate clips, but 7 and 3", msrvttArchive},
		{"fewer sentences", annotations(msrvttJSON, 0, map[string]int{"train": 7, "validate": 3}, 19), "few-captions",
			"than 20: 10, first video0", "as it was published"},
		{"test of fewer clips", annotations(msrvttTest, 10, map[string]int{"test": 2}, 20), "annotation-counts",
			"2 test clips, but 4", msrvttTest},
		{"no clips", without("TrainValVideo"), "missing-clips", "no folder TrainValVideo", "train_val_videos.zip"},
		{"clips missing", both(without("TrainValVideo", "video2.mp4"), without("TrainValVideo", "video8.mp4")),
			"missing-clips", "2, first video2", "train_val_videos.zip"},
		{"empty clip", with("", "TrainValVideo", "video4.mp4"), "empty-clips", "1, first video4", "again"},
	})
}

func TestMSRVTT_FramesStandInForClips(t *testing.T) {
	dir, size := smallMSRVTT(t)
	remove(t, dir, "TrainValVideo")
	writeFrames(t, filepath.Join(dir, "frames"), 10)
	f := msrvtt(t, dir, size)
	if f.Errors() != 0 || f.Frames != filepath.Join(dir, "frames") || f.Clips != "" {
		t.Errorf("found %+v", f)
	}
	if len(f.Findings) != 1 || f.Findings[0].Kind != "frame-counts" ||
		!strings.Contains(f.Findings[0].Text, "10, first video0") {
		t.Errorf("findings %+v", f.Findings)
	}
}

// writeFrames is a folder of frames of the first clips, of one picture each.
func writeFrames(t *testing.T, dir string, clips int) {
	t.Helper()
	w, err := shard.Create(dir, shard.DefaultConfig())
	check(t, err)
	for i := range clips {
		r := shard.Record{Clip: fmt.Sprintf("TrainValVideo/video%d.mp4", i), Width: 2, Height: 2, PictureWidth: 2,
			PictureHeight: 2, Decoded: 1, SourceBytes: 9, Frames: []shard.Frame{{}}}
		check(t, w.Add(&r, [][]byte{{1, 2, 3}}))
	}
	check(t, errors.Join(w.Finish(), w.Close()))
}

func TestMSRVTT_ClipsWithoutFramesAreCounted(t *testing.T) {
	dir, size := smallMSRVTT(t)
	remove(t, dir, "TrainValVideo")
	writeFrames(t, filepath.Join(dir, "frames"), 7)
	expect(t, msrvtt(t, dir, size), "missing-frames", "3, first video7", "nmn frames")
	put(t, filepath.Join(dir, "frames", shard.IndexName), []byte("{\n"))
	expect(t, msrvtt(t, dir, size), "unreadable-frames", "frames cannot be used", "nmn frames")
}

func TestMSRVTT_AnotherFolderWasMeant(t *testing.T) {
	dir, size := smallMSRVTT(t)
	for _, c := range []struct{ dir, kind, text, cure string }{
		{filepath.Join(dir, "TrainValVideo"), "wrong-folder", "only a part of MSR-VTT", fmt.Sprintf("%q", dir)},
		{filepath.Dir(dir), "wrong-folder", "does not hold MSR-VTT itself", fmt.Sprintf("give %q", dir)},
		{t.TempDir(), "wrong-folder", "holds neither", "Microsoft Research"},
		{filepath.Join(dir, "nothing"), "no-folder", "there is no folder", "TrainValVideo"},
	} {
		expect(t, msrvtt(t, c.dir, size), c.kind, c.text, c.cure)
	}
}

// NMN_DATA has the annotations of MSR-VTT as they were published, and rebuilt captions of COCO.
func realData(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("NMN_DATA")
	if dir == "" {
		t.Skip("NMN_DATA is not set")
	}
	return dir
}

func TestMSRVTT_RealAnnotations(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(realData(t), "msrvtt", msrvttArchive))
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, msrvttArchive), content)
	f := msrvtt(t, dir, MSRVTTCounts())
	if len(f.Files) != 1 || f.Files[0].SHA256 != msrvttArchiveSHA256 {
		t.Errorf("files %+v, want the digest of the publication", f.Files)
	}
	want := []Count{{"clips of train", 6513, 6513}, {"clips of validate", 497, 497},
		{"sentences of " + msrvttArchive, 140200, 140200}}
	if len(f.Counts) < 3 || fmt.Sprint(f.Counts[:3]) != fmt.Sprint(want) {
		t.Errorf("counts %v, want %v", f.Counts, want)
	}
	if f.Errors() != 1 { // the clips alone
		t.Errorf("findings %+v", f.Findings)
	}
	expect(t, f, "missing-clips", "no folder TrainValVideo", "")
}

func TestCOCO_RealCaptionsOfAPartAreNotTheWholeHalf(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(realData(t), "coco-captions", "captions_restval2014_rebuilt.json.gz"))
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "annotations", "captions_val2014.json.gz"), content)
	if content, err = os.ReadFile(filepath.Join(realData(t), "vocab-fang2015", "vocab_words.txt")); err == nil {
		put(t, filepath.Join(dir, "vocab_words.txt"), content)
	}
	f := coco(t, dir, COCOCounts())
	expect(t, f, "annotation-counts", "describes 30504 pictures, but 40504 were published", "another year")
	expect(t, f, "missing-annotations", "captions_train2014.json is missing", cocoPage)
	if last := f.Files[len(f.Files)-1]; last.Path != "vocab_words.txt" || last.SHA256 != last.Published {
		t.Errorf("the vocabulary is %+v", last)
	}
}

package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
)

func FuzzIndex(f *testing.F) {
	r, _ := clip("a/b.mp4", 5, 700)
	r.Key, r.Shard = Key(r.Clip), shardName(0)
	r.Frames[0].Offset, r.Frames[0].Size, r.Frames[1].Offset, r.Frames[1].Size = 512, 5, 1536, 700
	text, err := json.Marshal(r)
	expect.OK(f, err)
	head := `{"format":"nmn-frames","version":1,"form":"shards"}` + "\n"
	f.Add([]byte(head + string(text) + "\n"))
	f.Add([]byte(head + string(text)))
	f.Add([]byte(strings.Replace(head, "shards", "folder", 1) +
		`{"clip":"z","key":"z","width":1,"height":1,"picture_width":1,"picture_height":1,"decoded":1,` +
		`"frames":[{"frame":0,"time":null,"size":1}]}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := newIndexScanner(bytes.NewReader(b), "index")
		if err != nil {
			wantFormat(t, err)
			return
		}
		for r, err := range s.records() {
			if err != nil {
				wantFormat(t, err)
				return
			}
			if got := string(b[s.start : s.next-1]); got != string(s.text) || b[s.next-1] != '\n' {
				t.Fatalf("line %d is said to lie at %d to %d", s.number, s.start, s.next)
			}
			wantBelievable(t, &r)
		}
	})
}

// wantBelievable holds a record to what its readers rely on.
func wantBelievable(t *testing.T, r *Record) {
	t.Helper()
	if strings.ContainsAny(r.Key, "./\\") || r.Key == "" || r.Key != Key(r.Clip) || strings.ContainsAny(r.Shard, "/\\") {
		t.Fatalf("key %q, shard %q of the clip %q", r.Key, r.Shard, r.Clip)
	}
	end := int64(0)
	for _, f := range r.Frames {
		if f.Size < 1 || f.Size > MaxPicture || f.Number < 0 || f.Number >= r.Decoded || f.Offset+f.Size < f.Offset ||
			f.Offset < max(end, tarBlock) {
			t.Fatalf("frame %+v of %d", f, r.Decoded)
		}
		end = f.Offset + f.Size
	}
	text, err := json.Marshal(r)
	expect.OK(t, err)
	if back, err := parseRecord(text); err != nil || !back.Equal(r) {
		t.Fatalf("written and read again: %v, %+v, want %+v", err, back, r)
	}
}

func wantFormat(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, ErrFormat) {
		t.Fatalf("error without a sentinel: %v", err)
	}
}

func FuzzWalkTar(f *testing.F) {
	var b bytes.Buffer
	w := newTarWriter(&b)
	for _, name := range []string{"a/b.mp4", strings.Repeat("x.", 60)} {
		r, pictures := clip(name, 3, 513)
		r.Key = Key(name)
		for i := range r.Frames {
			r.Frames[i].Size = int64(len(pictures[i]))
		}
		expect.OK(f, w.add(r, pictures))
	}
	expect.OK(f, w.tar.Close())
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:1500])
	f.Add(b.Bytes()[512:])
	f.Fuzz(func(t *testing.T, b []byte) {
		err := walkTar(bytes.NewReader(b), shardName(0), func(r Record) error {
			wantBelievable(t, &r)
			if last := r.Frames[len(r.Frames)-1]; last.Offset+last.Size > int64(len(b)) {
				t.Fatalf("frame %+v in a shard of %d bytes", last, len(b))
			}
			return nil
		})
		if err != nil {
			wantFormat(t, err)
		}
	})
}

// Whatever the two files of a folder hold, opening it and reading from it is an error at worst.
func FuzzOpen(f *testing.F) {
	index := []byte(`{"format":"nmn-frames","version":1,"form":"shards"}` + "\n" +
		`{"clip":"z","key":"z","shard":"frames-000000.tar","width":1,"height":1,"picture_width":1,"picture_height":1,` +
		`"decoded":1,"frames":[{"frame":0,"time":null,"size":1,"offset":512}]}` + "\n")
	f.Add(index, append(offsetsHeader(int64(len(index))), 52, 0, 0, 0, 0, 0, 0, 0))
	f.Add(index, []byte{})
	f.Fuzz(func(t *testing.T, index, offsets []byte) {
		dir := t.TempDir()
		expect.OK(t, os.WriteFile(filepath.Join(dir, IndexName), index, 0o644))
		expect.OK(t, os.WriteFile(filepath.Join(dir, offsetsName), offsets, 0o644))
		r, err := Open(dir)
		if err != nil {
			wantFormat(t, err)
			return
		}
		defer r.Close()
		for i := range min(r.Len(), 10) {
			record, err := r.Record(i)
			if err == nil {
				_, err = r.ReadFrame(&record, 0, nil)
			}
			if err == nil {
				t.Fatal("a frame was read, and there is no shard")
			}
			wantFormat(t, err)
		}
	})
}

package runfeatures

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nmn/format/safetensors"
	"nmn/run/folder"
	"nmn/train"
)

// featureKey identifies a picture, or a kind of features.
type featureKey [16]byte

func keyOf(text string) (key featureKey) {
	sum := sha256.Sum256([]byte(text))
	copy(key[:], sum[:])
	return key
}

func (k featureKey) String() string { return hex.EncodeToString(k[:]) }

// Parts of a store are written after partRows rows or partTime, so that an interruption costs little.
const (
	partRows = 1024
	partTime = 20 * time.Second
)

// A part is a .safetensors with the tensor partName, n×width, and three lists of the keys of its rows, in hex,
// one after the other.
const (
	partName    = "features"
	partKeys    = "pictures"
	partFiles   = "files"    // their names and sizes
	partContent = "contents" // of these files
	partEnding  = ".safetensors"
)

// featureStore holds features of pictures by their keys, and keeps them in a folder of parts that are written whole and
// never changed. The name of a part is made of its keys, so that two processes that compute the same write the same.
type featureStore struct {
	dir   string // empty for none
	width int
	rows  map[featureKey][]float32
	// What a picture is known by if the time of its file has changed.
	files    map[featureKey]bool      // their names and sizes
	contents map[featureKey][]float32 // rows

	fresh   []keys // not written yet
	written time.Time
}

// keys are what a picture is known by. file and content are 0 for one without a file of its own.
type keys struct{ picture, file, content featureKey }

func newFeatureStore(dir string, width int) *featureStore {
	return &featureStore{dir: dir, width: width, rows: map[featureKey][]float32{}, files: map[featureKey]bool{},
		contents: map[featureKey][]float32{}, written: time.Now()}
}

// open reads the folder, which no other process writes until release is called: one that finds it taken waits, and has
// the features then without computing them.
func (f *featureStore) open(ctx context.Context, o *Options) (release func() error, err error) {
	release = func() error { return nil }
	if f.dir == "" {
		return release, nil
	}
	told := func(error) { o.Notify("another process is taking them; this one waits for it", false) }
	err = folder.WhenFree(ctx, told, func() (err error) {
		release, err = folder.Lock(ctx, f.dir, o.Log)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = train.RemoveLeftovers(f.dir, func(name string) bool { return strings.HasSuffix(name, partEnding) })
	if err == nil {
		err = f.read()
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

func (f *featureStore) read() error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return fmt.Errorf("features that were taken before: %w", err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), partEnding) || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(f.dir, e.Name())
		if err := f.readPart(path); err != nil {
			return fmt.Errorf("features that were taken before, %s: %w; remove the file to compute them again", path, err)
		}
	}
	return nil
}

func (f *featureStore) readPart(path string) error {
	file, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	values, shape, err := file.Float32(partName)
	if err != nil {
		return err
	}
	var lists [3][]byte
	for i, name := range []string{partKeys, partFiles, partContent} {
		list, err := hex.DecodeString(file.Metadata[name])
		if err != nil || len(shape) != 2 || shape[1] != f.width || len(list) != len(featureKey{})*shape[0] {
			return fmt.Errorf("%s: %d keys of rows %v, want as many as rows, of %d features", name,
				len(list)/len(featureKey{}), shape, f.width)
		}
		lists[i] = list
	}
	for i, v := range values {
		if v64 := float64(v); math.IsNaN(v64) || math.IsInf(v64, 0) {
			return fmt.Errorf("row %d has %v", i/f.width, v)
		}
	}
	for i := range shape[0] {
		at := i * len(featureKey{})
		f.note(keys{featureKey(lists[0][at:]), featureKey(lists[1][at:]), featureKey(lists[2][at:])},
			values[i*f.width:(i+1)*f.width])
	}
	return nil
}

// note keeps the features of a picture in memory.
func (f *featureStore) note(of keys, row []float32) {
	f.rows[of.picture] = row
	if of.file != (featureKey{}) {
		f.files[of.file], f.contents[of.content] = true, row
	}
}

func (f *featureStore) put(ctx context.Context, o *Options, of keys, row []float32) error {
	f.note(of, slices.Clone(row))
	f.fresh = append(f.fresh, of)
	if len(f.fresh) < partRows && time.Since(f.written) < partTime {
		return nil
	}
	return f.flush(ctx, o)
}

func (f *featureStore) flush(ctx context.Context, o *Options) error {
	fresh := f.fresh
	f.fresh, f.written = f.fresh[:0], time.Now()
	if f.dir == "" || len(fresh) == 0 {
		return nil
	}
	var pictures, files, contents []byte
	values := make([]float32, 0, len(fresh)*f.width)
	for _, of := range fresh {
		pictures, files, contents = append(pictures, of.picture[:]...), append(files, of.file[:]...),
			append(contents, of.content[:]...)
		values = append(values, f.rows[of.picture]...)
	}
	return o.Save(ctx, func() error {
		_, err := safetensors.WriteFile(filepath.Join(f.dir, keyOf(string(pictures)).String()+partEnding),
			map[string]string{partKeys: hex.EncodeToString(pictures), partFiles: hex.EncodeToString(files),
				partContent: hex.EncodeToString(contents)},
			[]safetensors.Tensor{{Name: partName, Shape: []int{len(fresh), f.width}, Data: values}})
		return err
	})
}

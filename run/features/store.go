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
	"nmn/internal/lock"
	"nmn/run/folder"
)

// featureKey tells a picture, or a kind of features, apart from others.
type featureKey [16]byte

func keyOf(text string) (key featureKey) {
	sum := sha256.Sum256([]byte(text))
	copy(key[:], sum[:])
	return key
}

func (k featureKey) String() string { return hex.EncodeToString(k[:]) }

// Parts of a store are written after so many rows or so much time, so that an interruption costs little.
const (
	partRows = 1024
	partTime = 20 * time.Second
)

// A part is a .safetensors with the tensor partName, n×width, and the keys of its rows, in hex, one behind the other.
const (
	partName   = "features"
	partKeys   = "pictures"
	partEnding = ".safetensors"
)

// featureStore holds features of pictures by their keys, and keeps them in a folder of parts that are written whole and
// never changed. The name of a part is made of its keys, so that two processes that compute the same write the same.
type featureStore struct {
	dir   string // empty for none
	width int
	rows  map[featureKey][]float32

	fresh   []featureKey // not written yet
	written time.Time
}

func newFeatureStore(dir string, width int) *featureStore {
	return &featureStore{dir: dir, width: width, rows: map[featureKey][]float32{}, written: time.Now()}
}

// patience is how long a process waits before it looks again whether another one has taken the features.
const patience = time.Second

// open reads the folder, which no other process writes until release is called: one that finds it taken waits, and has
// the features then without computing them.
func (f *featureStore) open(ctx context.Context, o *Options) (release func() error, err error) {
	release = func() error { return nil }
	if f.dir == "" {
		return release, nil
	}
	for told := false; ; told = true {
		unlock, err := folder.Lock(ctx, f.dir, o.Log)
		if err == nil {
			release = unlock
			break
		}
		if !errors.Is(err, lock.ErrHeld) {
			return release, err
		}
		if !told {
			o.Tell("another process is taking them; this one waits for it", false)
		}
		select {
		case <-ctx.Done():
			return release, ctx.Err()
		case <-time.After(patience):
		}
	}
	if err := folder.RemoveLeftovers(f.dir, func(name string) bool {
		return strings.HasSuffix(name, partEnding)
	}); err != nil {
		return func() error { return nil }, errors.Join(err, release())
	}
	if err := f.read(); err != nil {
		return func() error { return nil }, errors.Join(err, release())
	}
	return release, nil
}

// read takes all parts of the folder.
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
	keys, err := hex.DecodeString(file.Metadata[partKeys])
	if err != nil || len(shape) != 2 || shape[1] != f.width || len(keys) != len(featureKey{})*shape[0] {
		return fmt.Errorf("%d keys of rows %v, want as many as rows, of %d features", len(keys)/len(featureKey{}),
			shape, f.width)
	}
	for i, v := range values {
		if v64 := float64(v); math.IsNaN(v64) || math.IsInf(v64, 0) {
			return fmt.Errorf("row %d has %v", i/f.width, v)
		}
	}
	for i := range shape[0] {
		f.rows[featureKey(keys[i*len(featureKey{}):])] = values[i*f.width : (i+1)*f.width]
	}
	return nil
}

// put takes the features of a picture.
func (f *featureStore) put(ctx context.Context, o *Options, key featureKey, row []float32) error {
	f.rows[key] = slices.Clone(row)
	f.fresh = append(f.fresh, key)
	if len(f.fresh) < partRows && time.Since(f.written) < partTime {
		return nil
	}
	return f.flush(ctx, o)
}

// flush writes what is not written yet.
func (f *featureStore) flush(ctx context.Context, o *Options) error {
	fresh := f.fresh
	f.fresh, f.written = f.fresh[:0], time.Now()
	if f.dir == "" || len(fresh) == 0 {
		return nil
	}
	keys, values := make([]byte, 0, len(fresh)*len(featureKey{})), make([]float32, 0, len(fresh)*f.width)
	for _, key := range fresh {
		keys, values = append(keys, key[:]...), append(values, f.rows[key]...)
	}
	return o.Save(ctx, func() error {
		_, err := safetensors.WriteFile(filepath.Join(f.dir, keyOf(string(keys)).String()+partEnding),
			map[string]string{partKeys: hex.EncodeToString(keys)},
			[]safetensors.Tensor{{Name: partName, Shape: []int{len(fresh), f.width}, Data: values}})
		return err
	})
}

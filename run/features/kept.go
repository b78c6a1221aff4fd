package runfeatures

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nmn/format/safetensors"
	"nmn/internal/durable"
	"nmn/internal/lock"
	"nmn/run/folder"
	"nmn/train"
)

// keptRows are the rows of an extraction that has not ended, in a folder of parts next to its first file. The same
// extraction goes on after them. The parts are whole files and follow one another. A short extraction keeps nothing.
type keptRows struct {
	dir    string
	key    string // other extractions have another one
	widths []int  // of the layers
	log    *slog.Logger

	parts   []string    // paths
	next    int         // bags before it are done
	bad     []int       // of these, those without a row
	last    [][]float32 // the last row of each layer in the parts
	release func() error
	locked  bool // the folder is this process's

	bags    []int       // with fresh rows
	fresh   [][]float32 // of each layer, rows that are in no part yet
	written time.Time
	over    bool // nothing more is kept
}

// Names in the metadata of a part.
const (
	partKey  = "extraction"
	partBags = "samples" // a partRange
)

// partRange gives the bags of the rows of a part: all from one up to another, except the bad ones.
type partRange struct {
	From, To int
	Bad      []int
}

func layerName(i int) string { return fmt.Sprintf("layer %d", i) }

// keepRows looks for what an extraction has kept. The folder is made when there are rows to keep.
func keepRows(ctx context.Context, file, about string, widths []int, log *slog.Logger) (*keptRows, error) {
	sum := sha256.Sum256([]byte(about))
	k := &keptRows{dir: filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".parts"),
		key: hex.EncodeToString(sum[:]), widths: widths, log: log, fresh: make([][]float32, len(widths)),
		written: time.Now(), release: func() error { return nil }}
	if !durable.Exists(k.dir) {
		return k, nil
	}
	if err := k.lock(ctx); err != nil {
		return k, k.giveUp(err)
	}
	if err := k.read(); err != nil {
		log.Warn("rows that were extracted before cannot be used: they are extracted again", "folder", k.dir, "reason", err)
		return k, k.clear()
	}
	return k, nil
}

func noRows() *keptRows { return &keptRows{over: true, release: func() error { return nil }} }

func (k *keptRows) lock(ctx context.Context) error {
	release, err := folder.Lock(ctx, k.dir, k.log)
	if err == nil {
		k.release, k.locked = release, true
	}
	return err
}

func (k *keptRows) read() error {
	err := train.RemoveLeftovers(k.dir, func(name string) bool { return strings.HasSuffix(name, partEnding) })
	if err != nil {
		return err
	}
	if k.parts, err = filepath.Glob(filepath.Join(folder.Literal(k.dir), "*"+partEnding)); err != nil {
		return err
	}
	slices.Sort(k.parts)
	for _, path := range k.parts {
		var of partRange
		if err := k.part(path, &of, nil); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		k.next, k.bad = of.To, append(k.bad, of.Bad...)
	}
	if len(k.parts) == 0 {
		return nil
	}
	var of partRange
	return k.part(k.parts[len(k.parts)-1], &of, func(rows [][]float32) error {
		k.last = k.last[:0]
		for _, row := range rows {
			k.last = append(k.last, slices.Clone(row))
		}
		return nil
	})
}

// part reads the range of a part, and passes its rows to a function if there is one.
func (k *keptRows) part(path string, of *partRange, take func(rows [][]float32) error) error {
	file, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if file.Metadata[partKey] != k.key {
		return errors.New("it holds rows of other pictures, another net or another layer")
	}
	if err := json.Unmarshal([]byte(file.Metadata[partBags]), of); err != nil {
		return err
	}
	n := of.To - of.From - len(of.Bad)
	if take == nil && of.From != k.next || n < 1 {
		return fmt.Errorf("it has %d rows from %d, want some from %d", n, of.From, k.next)
	}
	layers, rows := make([][]float32, len(k.widths)), make([][]float32, len(k.widths))
	for i, width := range k.widths {
		_, shape, err := file.Info(layerName(i))
		if err != nil || !slices.Equal(shape, []int{n, width}) {
			return fmt.Errorf("%s has the shape %v, want %d×%d: %w", layerName(i), shape, n, width, err)
		}
		if take == nil {
			continue
		}
		if layers[i], _, err = file.Float32(layerName(i)); err != nil {
			return err
		}
	}
	for row := range n {
		if take == nil {
			return nil
		}
		for i, width := range k.widths {
			rows[i] = layers[i][row*width : (row+1)*width]
		}
		if err := take(rows); err != nil {
			return err
		}
	}
	return nil
}

// all gives all kept rows to a function, with their bags.
func (k *keptRows) all(ctx context.Context, take func(bag int, rows [][]float32) error) error {
	for _, path := range k.parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		var of partRange
		bag := -1
		err := k.part(path, &of, func(rows [][]float32) error {
			for bag = max(bag+1, of.From); ; bag++ {
				if _, bad := slices.BinarySearch(of.Bad, bag); !bad {
					return take(bag, rows)
				}
			}
		})
		if err != nil {
			return fmt.Errorf("rows that were extracted before, %s: %w; remove the folder to extract them again", path, err)
		}
	}
	return nil
}

func (k *keptRows) isBad(bag int) bool {
	_, bad := slices.BinarySearch(k.bad, bag)
	return bad
}

func (k *keptRows) put(ctx context.Context, bag int, rows [][]float32) error {
	if k.over {
		return nil
	}
	k.bags = append(k.bags, bag)
	for i, row := range rows {
		k.fresh[i] = append(k.fresh[i], row...)
	}
	if len(k.bags) < partRows && time.Since(k.written) < partTime {
		return nil
	}
	if err := k.flush(ctx); err != nil && ctx.Err() == nil {
		return k.giveUp(err)
	}
	return ctx.Err()
}

func (k *keptRows) flush(ctx context.Context) error {
	if k.over || len(k.bags) == 0 {
		return nil
	}
	if !durable.Exists(k.dir) {
		if err := k.lock(ctx); err != nil {
			return err
		}
	}
	n := len(k.bags)
	of := partRange{From: k.next, To: k.bags[n-1] + 1}
	for bag := of.From; bag < of.To; bag++ {
		if _, there := slices.BinarySearch(k.bags, bag); !there {
			of.Bad = append(of.Bad, bag)
		}
	}
	about, err := json.Marshal(of)
	if err != nil {
		return err
	}
	tensors := make([]safetensors.Tensor, len(k.widths))
	for i, width := range k.widths {
		tensors[i] = safetensors.Tensor{Name: layerName(i), Shape: []int{n, width}, Data: k.fresh[i]}
	}
	path := filepath.Join(k.dir, fmt.Sprintf("%012d%s", of.From, partEnding))
	err = durable.Patiently(ctx, durable.WarnFull(k.log), func() error {
		_, err := safetensors.WriteFile(path, map[string]string{partKey: k.key, partBags: string(about)}, tensors)
		return err
	})
	if err != nil {
		return err
	}
	k.parts, k.next, k.bags, k.written = append(k.parts, path), of.To, k.bags[:0], time.Now()
	for i := range k.fresh {
		k.fresh[i] = k.fresh[i][:0]
	}
	return nil
}

func (k *keptRows) clear() error {
	parts, err := filepath.Glob(filepath.Join(folder.Literal(k.dir), "*"+partEnding))
	for _, path := range parts {
		err = errors.Join(err, os.Remove(path))
	}
	k.parts, k.next, k.bad, k.last = nil, 0, nil, nil
	return err
}

// remove removes the folder, once its rows are in their files.
func (k *keptRows) remove() error {
	if !k.locked {
		return nil
	}
	k.locked = false
	err := errors.Join(k.clear(), k.close())
	_ = os.Remove(k.dir) // it may not be there, or another process may have begun in it
	return err
}

// giveUp removes what is kept, if no more can be: an extraction does without.
func (k *keptRows) giveUp(why error) error {
	if !errors.Is(why, lock.ErrHeld) {
		k.log.Warn("rows cannot be kept: an extraction that is interrupted begins anew", "folder", k.dir, "reason", why)
	}
	k.over = true
	return k.remove()
}

// close lets other processes in.
func (k *keptRows) close() error {
	release := k.release
	k.release = func() error { return nil }
	return release()
}

package shard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nmn/internal/durable"
)

// ErrSettings is wrapped by the error of Append if the frames were made with other settings.
var ErrSettings = errors.New("the frames there were made with other settings")

// Append continues a folder that Create has begun with the same settings; if there is none, it begins one. It first
// repairs what a killed process left: temporary files and an incomplete line are removed, and shards missing from the
// index are added to it.
func Append(dir string, c Config) (*Writer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	shards, err := findShards(dir)
	if errors.Is(err, os.ErrNotExist) {
		return Create(dir, c)
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(dir, IndexName)); errors.Is(err, os.ErrNotExist) && len(shards) == 0 {
		return Create(dir, c)
	}
	w, err := newWriter(dir, c, nextShard(shards, c.First)) // first, for it locks
	if err != nil {
		return nil, err
	}
	if err := w.repair(shards); err != nil {
		return nil, errors.Join(err, w.index.file.Close())
	}
	return w, nil
}

// repair brings the folder into the state between two shards.
func (w *Writer) repair(shards []string) error {
	if err := removeAside(w.dir); err != nil {
		return err
	}
	state, err := w.scan()
	if err != nil {
		return err
	}
	later, err := state.unlisted(shards)
	if err != nil {
		return err
	}
	if err := w.index.file.Truncate(state.whole); err != nil {
		return w.failed(err)
	}
	for _, name := range later {
		var lines bytes.Buffer
		err := walkShard(w.dir, name, func(r Record) error { return writeLine(&lines, &r) })
		if err == nil {
			err = w.failed(w.index.append(lines.Bytes()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// indexState is the state of the shards according to the index.
type indexState struct {
	name  string   // name in the index
	names []string // shards in their order, without the last
	last  string
	whole int64 // bytes of the index that are sure to be whole
}

// scan reads the index. All lines of one shard are written at once, and a kill may cut them: the lines
// of the last shard are made again from it.
func (w *Writer) scan() (indexState, error) {
	s, file, err := scanIndex(w.dir)
	if err != nil {
		return indexState{}, err
	}
	defer file.Close()
	if err := w.sameAs(s.header); err != nil {
		return indexState{}, err
	}
	state := indexState{name: file.Name(), whole: s.next}
	for {
		r, err := s.record()
		if err == io.EOF || errors.Is(err, errTorn) {
			return state, nil
		}
		if err != nil {
			return state, err
		}
		if r.Shard != state.last {
			if state.last != "" {
				state.names = append(state.names, state.last)
			}
			state.last, state.whole = r.Shard, s.start
		}
	}
}

func (w *Writer) sameAs(h Header) error {
	want, err := newHeader(w.config.Settings)
	if err == nil && !bytes.Equal(h.Settings, want.Settings) {
		err = fmt.Errorf("shard: %s: %w: %s, not %s; ask for the same, or name another folder",
			w.dir, ErrSettings, h.Settings, want.Settings)
	}
	return err
}

// unlisted are the shards, among those that were found, whose lines are to be made.
func (s *indexState) unlisted(shards []string) ([]string, error) {
	known := len(s.names)
	if len(shards) < known || !slices.Equal(shards[:known], s.names) ||
		s.last != "" && (len(shards) == known || shards[known] != s.last) {
		return nil, fmt.Errorf("shard: %s lists the shards %s, but there are %s: %w; %s", s.name,
			listed(append(slices.Clone(s.names), s.last)), listed(shards), ErrFormat, cure)
	}
	return shards[known:], nil
}

func listed(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], " ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, " ")
}

// findShards lists the shards of a folder in their order.
func findShards(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("shard: %w", err)
	}
	var names []string
	for _, e := range entries {
		if isShard(e.Name()) {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return shardNumber(a) - shardNumber(b) })
	return names, nil
}

// shardNumber is the number in the name of a shard.
func shardNumber(name string) int {
	n, _ := strconv.Atoi(shardPattern.FindStringSubmatch(name)[1]) // at most nine digits
	return n
}

func nextShard(shards []string, first int) int {
	if len(shards) == 0 {
		return first
	}
	return shardNumber(shards[len(shards)-1]) + 1
}

// walkShard walks a shard of a folder.
func walkShard(dir, name string, visit func(Record) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("shard: %w", err)
	}
	defer root.Close()
	file, _, err := openRegular(root, name)
	if err != nil {
		return fmt.Errorf("shard: %w", err)
	}
	defer file.Close()
	return walkTar(file, name, visit)
}

// removeAside removes what was being written when a process was killed.
func removeAside(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("shard: %w", err)
	}
	for _, e := range entries {
		target, is := durable.Target(e.Name())
		if !is || !isShard(target) && target != IndexName && target != offsetsName {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("shard: %w", err)
		}
	}
	return nil
}

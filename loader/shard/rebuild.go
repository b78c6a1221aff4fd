package shard

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"nmn/internal/durable"
)

// rebuild makes the index of a folder again from its shards. Settings come from the existing index; if it cannot be
// read there are none.
func rebuild(dir string) (err error) {
	shards, err := findShards(dir)
	if err != nil {
		return err
	}
	if len(shards) == 0 {
		return fmt.Errorf("shard: %s: %w", dir, faultf("there is no shard (%s) to make an index of: make the frames again "+
			"(nmn frames)", shardName(0)))
	}
	header, err := headerOf(dir)
	if err != nil {
		return err
	}
	line, err := header.line()
	if err != nil {
		return err
	}
	name := filepath.Join(dir, IndexName)
	file, err := durable.Create(name, 0o644)
	if err != nil {
		return fmt.Errorf("shard: cannot write %q: %w", name, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	seen := seenClips{}
	b := bytes.NewBuffer(line)
	err = walkAll(dir, func(r Record) error {
		if err := seen.add(&r); err != nil {
			return fmt.Errorf("shard: %s: %w: take one of its shards away", r.Shard, err)
		}
		if err := writeLine(b, &r); err != nil {
			return err
		}
		_, err := b.WriteTo(file)
		return err
	})
	if err == nil {
		_, err = b.WriteTo(file)
	}
	if err == nil {
		err = file.Commit()
	}
	if err != nil {
		return err
	}
	return writeOffsets(dir)
}

// headerOf returns the header of the existing index, or a new one.
func headerOf(dir string) (Header, error) {
	if s, file, err := scanIndex(dir); err == nil {
		return s.header, file.Close()
	}
	return newHeader(nil)
}

// walkAll visits the clips of a folder in the order of its shards.
func walkAll(dir string, visit func(Record) error) error {
	shards, err := findShards(dir)
	if err != nil {
		return err
	}
	for _, name := range shards {
		if err := walkShard(dir, name, visit); err != nil {
			return err
		}
	}
	return nil
}

package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"nmn/internal/durable"
)

// rebuild makes the index of a folder again from its shards, or from its folders of pictures, which are then
// in the order of their keys. Settings come from the existing index; if it cannot be read there are none.
func rebuild(dir string) (err error) {
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
	err = walkAll(dir, header.Form, func(r Record) error {
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

// headerOf returns the header of the existing index, or one that fits the existing files.
func headerOf(dir string) (Header, error) {
	if s, file, err := scanIndex(dir); err == nil {
		return s.header, file.Close()
	}
	shards, err := findShards(dir)
	if err != nil {
		return Header{}, err
	}
	if len(shards) > 0 {
		return newHeader(Shards, nil)
	}
	return newHeader(Folder, nil)
}

// walkAll visits the clips of a folder in the order in which rebuild lists them.
func walkAll(dir string, form Form, visit func(Record) error) error {
	if form == Folder {
		return walkFolders(dir, visit)
	}
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

// walkFolders visits the clips of a frame folder in the order of their keys.
func walkFolders(dir string, visit func(Record) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("shard: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("shard: %w", err)
	}
	defer root.Close()
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		r, err := readFolder(root, e.Name())
		if err == nil {
			err = visit(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readFolder reads the description of a clip in its folder, and checks its pictures.
func readFolder(root *os.Root, key string) (Record, error) {
	name := path.Join(key, clipName)
	fail := func(err error) (Record, error) {
		return Record{}, fmt.Errorf("shard: %s: %w; take the folder away, then `shard.rebuild_index`, and "+
			"nmn frames makes its clip again", filepath.Join(root.Name(), name), err)
	}
	file, size, err := openRegular(root, name)
	if err != nil {
		return fail(err)
	}
	defer file.Close()
	if size > maxLine {
		return fail(faultf("it has %d bytes, at most %d", size, maxLine))
	}
	text, err := io.ReadAll(io.LimitReader(file, maxLine))
	if err != nil {
		return fail(err)
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return fail(faultf("%v", err))
	}
	r.Key = key
	if err := r.check(Folder); err != nil {
		return fail(err)
	}
	for i, f := range r.Frames {
		picture := path.Join(key, pictureName(i, len(r.Frames)))
		info, err := root.Stat(picture)
		if err != nil {
			return fail(err)
		}
		if !info.Mode().IsRegular() || info.Size() != f.Size {
			return fail(faultf("%s has %d bytes (%v), want a file of %d", picture, info.Size(), info.Mode(), f.Size))
		}
	}
	return r, nil
}

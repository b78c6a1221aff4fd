package shard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"nmn/internal/durable"
)

// maxFolderKey is the longest key that every file system takes for the name of a folder, aside too.
const maxFolderKey = 240

// asideMark begins the name of a folder that is being written; no key has a dot.
const asideMark = ".aside-"

// folderSink writes a folder of pictures for each clip: aside, synced, renamed.
type folderSink struct {
	dir    string
	index  *indexWriter
	create func(path string) (synced, error)
	sync   func(folder string) error
}

// synced is a file that can be made to last.
type synced interface {
	io.WriteCloser
	Sync() error
}

func createSynced(path string) (synced, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

func (s *folderSink) add(r *Record, pictures [][]byte) error {
	if err := s.write(r, pictures); err != nil {
		return fmt.Errorf("clip %q: %w", r.Clip, err)
	}
	var line bytes.Buffer
	if err := writeLine(&line, r); err != nil {
		return err
	}
	return s.index.append(line.Bytes())
}

func (s *folderSink) write(r *Record, pictures [][]byte) (err error) {
	target, aside := filepath.Join(s.dir, r.Key), filepath.Join(s.dir, asideMark+r.Key)
	if err := os.RemoveAll(aside); err != nil {
		return err
	}
	if err := os.Mkdir(aside, 0o777); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(aside))
		}
	}()
	for i, picture := range pictures {
		if err := s.writeSynced(filepath.Join(aside, pictureName(i, len(pictures))), picture); err != nil {
			return err
		}
	}
	text, err := r.member()
	if err != nil {
		return err
	}
	if err := s.writeSynced(filepath.Join(aside, clipName), text); err != nil {
		return err
	}
	if err := s.sync(aside); err != nil {
		return err
	}
	if err := refuseForeign(target); err != nil {
		return err
	}
	// A folder of a clip that is missing from the index was left by a killed process. It is renamed and
	// removed as a whole.
	old := aside + ".old"
	if err := os.Rename(target, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(aside, target); err != nil {
		return err
	}
	return s.sync(s.dir)
}

// refuseForeign refuses a folder with the name of a clip's folder but without clip.json.
func refuseForeign(target string) error {
	if _, err := os.Lstat(target); errors.Is(err, fs.ErrNotExist) || durable.Exists(filepath.Join(target, clipName)) {
		return nil
	}
	return fmt.Errorf("%q would be overwritten, but is no folder of a clip, because it has no %s: move it away, or name "+
		"another folder", target, clipName)
}

// finish and discard have nothing to do: a clip that was added is finished.
func (s *folderSink) finish() error  { return nil }
func (s *folderSink) discard() error { return nil }

func (s *folderSink) writeSynced(path string, content []byte) error {
	file, err := s.create(path)
	if err != nil {
		return err
	}
	if _, err = file.Write(content); err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

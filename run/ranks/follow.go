package ranks

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"nmn/group"
)

// Kind says which files of a folder of rank 0 the other ranks need.
type Kind struct {
	// File reports whether a file of this name is needed, and whether it is a checkpoint, of which the others get what
	// Stub leaves.
	File func(name string) (needed, checkpoint bool)
	// Folder reports whether a folder of this name holds such files too.
	Folder func(name string) bool
	// Stub writes what is needed of a checkpoint, without its tensors. Nil has whole checkpoints sent.
	Stub func(w io.Writer, path string) error
}

// Follow gives every rank a folder that stands for that of rank 0. On rank 0 it is dir itself. On the others it is a
// temporary folder of the same name with the files of dir that they need; release removes it. What is wrong on one rank
// is an error on all.
func Follow(g group.Group, dir string, kind Kind) (own string, release func() error, err error) {
	nothing := func() error { return nil }
	if g.Size() == 1 {
		return dir, nothing, nil
	}
	if g.Rank() == 0 {
		return dir, nothing, send(g, dir, kind)
	}
	name := filepath.Base(dir)
	if absolute, err := filepath.Abs(dir); err == nil {
		name = filepath.Base(absolute)
	}
	root, release, making := Room(g.Rank())
	own = filepath.Join(root, name)
	if err := receive(g, own, making); err != nil {
		if making == nil {
			err = errors.Join(err, release())
		}
		return "", nothing, err
	}
	return own, release, nil
}

// Refresh has the folders of the ranks that follow one of rank 0 hold what that holds by now; dir is where this rank has
// it. A file of the name kept, in the folder itself, stays as it is.
func Refresh(g group.Group, dir, kept string, kind Kind) error {
	if g.Size() == 1 {
		return nil
	}
	if g.Rank() == 0 {
		return send(g, dir, kind)
	}
	return receive(g, dir, empty(dir, kept))
}

// empty removes what is in a folder, but for a file, or makes the folder.
func empty(dir, kept string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == kept {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// send has the other ranks receive the files of a folder.
func send(g group.Group, dir string, kind Kind) error {
	s := &sender{group: g}
	archive := tar.NewWriter(s)
	err := pack(archive, dir, kind)
	err = cmp.Or(err, archive.Close())
	return Agree(g, cmp.Or(s.end(), err))
}

// pack writes the files of a folder that are needed; there is none where the folder is not there.
func pack(archive *tar.Writer, dir string, kind Kind) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // as that of a new run, or a file that is removed at this moment
			return nil
		case err != nil:
			return err
		case path == dir:
			return nil
		case e.IsDir() && !kind.Folder(e.Name()):
			return filepath.SkipDir
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: filepath.ToSlash(name), Typeflag: tar.TypeDir, Mode: 0o777}
		if e.IsDir() {
			return archive.WriteHeader(header)
		}
		needed, checkpoint := kind.File(e.Name())
		if !needed {
			return nil
		}
		return packFile(archive, header, path, checkpoint && kind.Stub != nil, kind.Stub)
	})
}

// receive takes the files that rank 0 sends into a folder, unless this rank has failed already.
func receive(g group.Group, dir string, failed error) error {
	r := &receiver{group: g}
	err := failed
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err == nil {
		err = unpack(tar.NewReader(r), dir)
	}
	return Agree(g, cmp.Or(r.drain(), err))
}

func unpack(archive *tar.Reader, dir string) error {
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.FromSlash(header.Name)
		if !filepath.IsLocal(name) {
			return fmt.Errorf("rank 0 sends a file by the name %q, which is outside of its folder", header.Name)
		}
		path := filepath.Join(dir, name)
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o777)
		} else {
			err = unpackFile(path, archive)
		}
		if err != nil {
			return err
		}
	}
}

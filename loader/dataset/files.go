package dataset

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"nmn/internal/origin"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/shard"
)

// sources are the files that data were read from. Views of the same data share them.
type sources struct {
	mutex  sync.Mutex
	places []origin.Place
	found  map[bool]origin.List   // with and without content hashes; only requested lists are present
	ends   origin.List            // with hashes of the ends of files; nil until requested
	beside map[string]origin.File // by path
}

// Files returns the files from which the data were read. Files named by settings have the SHA-256 of their content.
// Pictures and shards of frames have size and time, and with content also the SHA-256. The result is cached.
func (d *Splits) Files(ctx context.Context, content bool) (origin.List, error) {
	s := d.sources
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if l, done := s.found[content]; done {
		return l, nil
	}
	l, err := origin.Find(ctx, s.places, content)
	if err != nil {
		return nil, fmt.Errorf("cannot recognise the data: %w", err)
	}
	s.found[content] = l
	return l, nil
}

// FileEnds is Files with the digest of the ends of pictures and shards, from origin.Ends. The result is cached.
func (d *Splits) FileEnds(ctx context.Context) (origin.List, error) {
	files, err := d.Files(ctx, false)
	if err != nil {
		return nil, err
	}
	s := d.sources
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.ends == nil {
		ends, err := files.WithEnds(ctx)
		if err != nil {
			return nil, err
		}
		s.ends = ends
	}
	return s.ends, nil
}

// Further input files, such as the initial weights of a net, are returned with the SHA-256 of their content.
// Missing files are left out. All views of the data share a cache: a file is read again only if its size or its
// time of modification has changed.
func (d *Splits) Beside(ctx context.Context, places []origin.Place) (origin.List, error) {
	list, err := origin.Find(ctx, places, false)
	if err != nil {
		return nil, err
	}
	s := d.sources
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for i := range list {
		f := &list[i]
		before := s.beside[f.Path]
		if before.Digest != "" && before.Size == f.Size && before.Modified.Equal(f.Modified) {
			f.Digest = before.Digest
			continue
		}
		if f.Digest, err = origin.Digest(ctx, f.Path); err != nil {
			return nil, err
		}
		s.beside[f.Path] = *f
	}
	return list, nil
}

// readFrom takes in the files that settings name, after the data were opened. A manifest may be a folder, whose files
// are taken in as they are read.
func (d *Splits) readFrom(c *Config) {
	for _, s := range setting.Describe(c) {
		path, _ := s.Value.(string)
		if path != "" && strings.Contains(s.Help, "<file>") && !loader.IsFolder(path) {
			d.readFile("data."+s.Key, path)
		}
	}
}

func (d *Splits) readFile(key, file string) {
	d.sources.places = append(d.sources.places, origin.Place{Name: key, Path: file, ByContent: true})
}

// readFolder takes in files of the folder of a setting, by their paths in it, with slashes, or by absolute ones.
func (d *Splits) readFolder(key, folder string, files []string) {
	for _, file := range files {
		d.sources.places = append(d.sources.places, origin.Place{Name: key + "/" + path.Clean(file),
			Path: loader.PathIn(folder, file)})
	}
}

// readFrames takes in the index of a folder of frames by content, and its shards.
func (d *Splits) readFrames(key, folder string) {
	d.readFile(key+"."+shard.IndexName, filepath.Join(folder, shard.IndexName))
	files, _ := fs.Glob(os.DirFS(folder), "[^.]*.tar") // hidden ones are being written
	d.readFolder(key, folder, files)
}

package annotation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"nmn/loader"
	"nmn/loader/picture"
)

// textFile is the name of the text file next to a picture in a folder. Each line of it is a caption.
func textFile(picture string) string {
	return strings.TrimSuffix(picture, filepath.Ext(picture)) + ".txt"
}

// TextFiles returns the text files of pictures with captions in a folder.
func TextFiles(pictures []string) []string {
	files := make([]string, len(pictures))
	for i, picture := range pictures {
		files[i] = textFile(picture)
	}
	return files
}

// HasTexts reports whether a path is a folder in which the first picture has a text file with captions. The text
// files of YOLO hold numbers.
func HasTexts(ctx context.Context, path string) bool {
	found := false
	err := walkPictures(ctx, path, func(_ string, captions []string) error {
		for _, caption := range captions {
			found = found || strings.ContainsFunc(caption, unicode.IsLetter)
		}
		return fs.SkipAll
	})
	return err == nil && found
}

// walkPictures visits the pictures below a folder in the order of their names, with the lines of their text files.
func walkPictures(ctx context.Context, folder string, visit func(file string, captions []string) error) error {
	return fs.WalkDir(os.DirFS(folder), ".", func(file string, entry fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && file != "."
		switch {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || entry.IsDir() || !picture.IsName(file):
			return nil
		}
		captions, err := textLines(ctx, loader.PathIn(folder, textFile(file)))
		if err != nil {
			return err
		}
		return visit(file, captions)
	})
}

// textLines returns the lines of a text file that are not blank; none if there is no such file.
func textLines(ctx context.Context, path string) ([]string, error) {
	f, err := loader.OpenText(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxElementBytes/2+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q: %w", path, err)
	case len(text) > maxElementBytes/2:
		return nil, fmt.Errorf("%q: longer than %d bytes, which is no caption; remove it", path, maxElementBytes/2)
	case !utf8.Valid(text):
		return nil, fmt.Errorf("%q is not UTF-8: save the file in UTF-8", path)
	}
	lines := []string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// openFolder reads a folder as the JSON lines of its pictures and their captions.
func openFolder(ctx context.Context, folder string) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		w.CloseWithError(walkPictures(ctx, folder, func(file string, captions []string) error {
			if !utf8.ValidString(file) {
				return fmt.Errorf("the name of %q is not UTF-8: rename the file", file)
			}
			line := &bytes.Buffer{}
			err := json.NewEncoder(line).Encode(struct {
				Image    string   `json:"image"`
				Captions []string `json:"captions"`
			}{file, append([]string{}, captions...)})
			if err == nil {
				_, err = w.Write(line.Bytes())
			}
			return err
		}))
	}()
	return r
}

package annotation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nmn/loader"
	"nmn/loader/picture"
)

// TextFile is the name of the text file next to a picture in a folder. Each line of it is a caption.
func TextFile(picture string) string {
	return strings.TrimSuffix(picture, filepath.Ext(picture)) + ".txt"
}

// HasTexts reports whether a path is a folder in which the first picture has a text file with words, apart from
// pictures with empty ones. The text files of YOLO hold numbers.
func HasTexts(ctx context.Context, path string) bool {
	found := false
	err := walkPictures(ctx, path, func(_ string, captions []string) error {
		for _, caption := range captions {
			found = found || strings.ContainsFunc(caption, unicode.IsLetter)
		}
		if captions != nil && len(captions) == 0 {
			return nil
		}
		return fs.SkipAll
	})
	return err == nil && found
}

// ListLabels reports whether the text files next to the pictures of a folder list labels, such as "1girl, blue sky,
// outdoors", and no captions. Most of the files then hold one line of short parts between commas, and most of the
// parts recur in other files.
func ListLabels(ctx context.Context, folder string) bool {
	const surveyed, fewest = 1000, .1 // files at most, and share of them that must hold a comma
	files := map[string]int{}         // that have each part
	var lists [][]string
	texts, others := 0, 0
	err := walkPictures(ctx, folder, func(_ string, lines []string) error {
		if len(lines) == 0 {
			return nil
		}
		parts := shortParts(lines)
		slices.Sort(parts)
		parts = slices.Compact(parts)
		for _, part := range parts {
			files[part]++
		}
		switch {
		case parts == nil:
			others++
		case len(parts) > 1:
			lists = append(lists, parts)
		}
		if texts++; texts == surveyed {
			return fs.SkipAll
		}
		return nil
	})
	all, recurring := 0, 0
	for _, part := range slices.Concat(lists...) {
		if all++; files[part] > 1 {
			recurring++
		}
	}
	return err == nil && all > 0 && len(lists) > others && float64(len(lists)) >= fewest*float64(texts) &&
		2*recurring >= all
}

// shortParts returns the parts between the commas of a text in small letters. It returns nil if the text is a sentence:
// it has several lines or ends with a full stop, a part begins with an article, or more than a quarter of the parts
// have more than three words.
func shortParts(lines []string) []string {
	text := strings.ToLower(lines[0])
	if len(lines) > 1 || strings.HasSuffix(text, ".") {
		return nil
	}
	var parts []string
	long := 0
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		switch {
		case len(words) == 0:
			continue
		case slices.Contains([]string{"a", "an", "the"}, words[0]) && len(words) > 1:
			return nil
		case len(words) > 3:
			long++
		}
		parts = append(parts, strings.Join(words, " "))
	}
	if 4*long > len(parts) {
		return nil
	}
	return parts
}

// walkPictures visits the pictures below a folder in the order of their names, with the lines of their text files.
func walkPictures(ctx context.Context, folder string, visit func(file string, captions []string) error) error {
	return loader.WalkFolder(ctx, folder, func(file string, entry fs.DirEntry) error {
		if entry.IsDir() || !picture.IsName(file) {
			return nil
		}
		captions, err := TextLines(ctx, loader.PathIn(folder, TextFile(file)))
		if err != nil {
			return err
		}
		return visit(file, captions)
	})
}

// TextLines returns the lines of a text file that are not blank; nil if there is no such file.
func TextLines(ctx context.Context, path string) ([]string, error) {
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

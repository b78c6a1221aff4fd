package origin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"nmn/internal/durable"
	"nmn/internal/parallel"
)

// List are files as they were found.
type List []File

// header names the columns of the file of a list.
var header = []string{"file", "bytes", "modified", "sha256"}

// Save writes the list as a table with tabs, in the order of the names, without the files' paths.
func (l List) Save(path string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = '\t'
	rows := [][]string{header}
	for _, f := range l.sorted() {
		rows = append(rows, []string{f.Name, strconv.FormatInt(f.Size, 10), f.Modified.UTC().Format(time.RFC3339Nano),
			f.Digest})
	}
	if err := w.WriteAll(rows); err != nil {
		return err
	}
	return durable.Save(path, b.Bytes())
}

func (l List) sorted() List {
	l = slices.Clone(l)
	slices.SortStableFunc(l, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return l
}

// Load reads a list from Save. It returns nil without an error if there is no such file.
func Load(path string) (List, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove the file to go on with the data as they are now", path, err)
	}
	return l, nil
}

func parse(data []byte) (List, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.FieldsPerRecord = '\t', len(header)
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Equal(rows[0], header) {
		return nil, fmt.Errorf("its first line is not %q", strings.Join(header, " "))
	}
	l := List{}
	for i, row := range rows[1:] {
		f := File{Place: Place{Name: row[0]}, Digest: row[3]}
		if f.Size, err = strconv.ParseInt(row[1], 10, 64); err == nil {
			f.Modified, err = time.Parse(time.RFC3339Nano, row[2])
		}
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		l = append(l, f)
	}
	return l, nil
}

// Unread is the size, in bytes, of the files whose content was not read.
func (l List) Unread() (bytes int64) {
	for _, f := range l {
		if f.Digest == "" {
			bytes += f.Size
		}
	}
	return bytes
}

// WithEnds is the list with digests of the ends of files whose content was not read. A file that cannot be read stays
// without one.
func (l List) WithEnds(ctx context.Context) (List, error) {
	all := slices.Clone(l)
	return all, parallel.Try(ctx, len(all), atOnce, func(i int) error {
		if all[i].Digest == "" {
			all[i].Digest, _ = Ends(ctx, all[i].Path)
		}
		return ctx.Err()
	})
}

// With is the list with the digests that another one has of the same files.
func (l List) With(read List) List {
	digests := map[string]string{}
	for _, f := range read {
		digests[f.Name] = f.Digest
	}
	all := slices.Clone(l)
	for i := range all {
		all[i].Digest = cmp.Or(all[i].Digest, digests[all[i].Name])
	}
	return all
}

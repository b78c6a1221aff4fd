package annotation

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nmn/loader"
)

// WriteWithout writes the file of the captions to another file, in the same form, without the captions with
// the given identifiers. Everything else stays: other fields of captions as written, pictures without
// remaining captions, the rest of the file, the order. MSR-VTT's zip archive becomes the JSON that it
// contains. The new file is compressed if its name ends in .gz, and appears complete or not at all.
func (b *Bags) WriteWithout(ctx context.Context, path string, dropped map[string]bool) error {
	if err := b.CheckWithout(path); err != nil {
		return err
	}
	in, err := openFile(ctx, b.Name)
	if err != nil {
		return fmt.Errorf("captions: %w", err)
	}
	defer in.Close()
	return loader.WriteText(path, func(out io.Writer) error { return b.copyWithout(out, in, dropped) })
}

// CheckWithout returns why WriteWithout cannot write to a file of this name: the captions are read from it,
// or its extension belongs to another form, so that it could not be read again.
func (b *Bags) CheckWithout(path string) error {
	if same(path, b.Name) {
		return fmt.Errorf("cannot write %q: the captions are read from it; choose another name", path)
	}
	want, ending := tableForm(path), b.Extension()
	if ending == ".json" {
		want = b.Form
		if tableForm(path) != "" || strings.EqualFold(filepath.Ext(path), ".zip") {
			want = ""
		}
	}
	if want != b.Form {
		return fmt.Errorf("cannot write %q: captions stay in their form, and the name of such a file ends in %s or %s.gz",
			path, ending, ending)
	}
	return nil
}

// Extension is the extension of the names of files in the form of the captions. A folder becomes JSON lines.
func (b *Bags) Extension() string {
	switch b.Form {
	case FormCSV:
		return ".csv"
	case FormLines:
		return ".jsonl"
	}
	return ".json"
}

// same reports whether two paths are one file.
func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// copyWithout is WriteWithout for streams of plain text; in is the source of the captions.
func (b *Bags) copyWithout(out io.Writer, in io.Reader, dropped map[string]bool) (err error) {
	var found int
	switch b.Form {
	case FormCSV:
		found, err = b.copyCSV(out, in, dropped)
	case FormLines:
		found, err = b.copyLines(out, in, dropped)
	case FormArray:
		found, err = b.copyArray(out, in, func(object []byte, n, found *int) ([]byte, bool, error) {
			return withoutCaptions(object, n, found, dropped)
		})
	default:
		found, err = b.copyJSON(out, in, dropped)
	}
	if err == nil && found != len(dropped) {
		err = loader.Unusable(fmt.Errorf("%d of %d captions to drop are not in %q any more: it has changed since it was read",
			len(dropped)-found, len(dropped), b.Name))
	}
	return err
}

// copyJSON copies a file of COCO or MSR-VTT, all but the dropped elements of its array of captions. It holds the file
// in memory, as the captions are.
func (b *Bags) copyJSON(out io.Writer, in io.Reader, dropped map[string]bool) (found int, err error) {
	names := &cocoNames
	if b.Form == FormMSRVTT {
		names = &msrvttNames
	}
	data, err := io.ReadAll(io.LimitReader(in, maxFileBytes))
	if err != nil {
		return 0, err
	}
	start, end, err := ValueOf(data, names.captions)
	if err != nil {
		return 0, fmt.Errorf("captions %q: %w", b.Name, err)
	}
	if _, err := out.Write(data[:start]); err != nil {
		return 0, err
	}
	array := bytes.NewReader(data[start:end])
	found, err = b.copyArray(out, array, func(object []byte, _, found *int) ([]byte, bool, error) {
		var caption struct {
			ID    json.RawMessage `json:"id"`
			SenID json.RawMessage `json:"sen_id"`
		}
		err := json.Unmarshal(object, &caption)
		id := caption.ID
		if b.Form == FormMSRVTT {
			id = caption.SenID
		}
		if !dropped[string(id)] {
			return object, false, err
		}
		*found++
		return nil, true, err
	})
	if err == nil {
		_, err = out.Write(data[end:])
	}
	return found, err
}

// copyCSV copies rows byte by byte: one reader finds their ends, another has the bytes.
func (b *Bags) copyCSV(out io.Writer, in io.Reader, dropped map[string]bool) (found int, err error) {
	kept := &bytes.Buffer{}
	rows, err := newRows(io.TeeReader(in, kept))
	from, last := int64(0), &record{} // the header, if there is one
	for n := 0; err == nil; n++ {
		bytesOf := kept.Next(int(rows.end() - from))
		from = rows.end()
		if n > 0 && dropped[cmp.Or(last.values[idField], strconv.Itoa(n))] {
			found++
		} else if _, err := out.Write(bytesOf); err != nil {
			return found, err
		}
		last, err = rows.next()
	}
	if !errors.Is(err, io.EOF) {
		return found, fmt.Errorf("captions %q: %w", b.Name, err)
	}
	_, err = out.Write(kept.Bytes())
	return found, err
}

// copyLines copies lines of JSON as they are.
func (b *Bags) copyLines(out io.Writer, in io.Reader, dropped map[string]bool) (found int, err error) {
	lines := bufio.NewReaderSize(in, 1<<16)
	for n := 0; ; {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return found, err
		}
		drop := false
		if len(bytes.TrimSpace(line)) > 0 {
			var fault error
			if line, drop, fault = withoutCaptions(line, &n, &found, dropped); fault != nil {
				return found, fmt.Errorf("captions %q: %w", b.Name, fault)
			}
		}
		if !drop {
			if _, err := out.Write(line); err != nil {
				return found, err
			}
		}
		if err != nil {
			return found, nil
		}
	}
}

// copyArray copies the objects of an array, one a line, after without, which is withoutCaptions for objects of a form.
func (b *Bags) copyArray(out io.Writer, in io.Reader,
	without func(object []byte, n, found *int) (kept []byte, drop bool, err error)) (found int, err error) {
	rows, err := rowsOf(in)
	if err != nil {
		return 0, fmt.Errorf("captions %q: %w", b.Name, err)
	}
	before, n := "[\n", 0
	for {
		raw, err := rows.next()
		if errors.Is(err, io.EOF) {
			_, err = io.WriteString(out, strings.TrimSuffix(before, ",\n")+"\n]\n")
			return found, err
		}
		drop := false
		if err == nil {
			raw, drop, err = without(raw, &n, &found)
		}
		if err != nil {
			return found, fmt.Errorf("captions %q: %w", b.Name, err)
		}
		if drop {
			continue
		}
		if _, err := io.WriteString(out, before+string(raw)); err != nil {
			return found, err
		}
		before = ",\n"
	}
}

// withoutCaptions returns an object of JSON without dropped captions. An object with a single caption is itself
// dropped. n counts the captions that were read, and found the dropped ones.
func withoutCaptions(object []byte, n, found *int, dropped map[string]bool) (kept []byte, drop bool, err error) {
	r, err := parseLine(object)
	if err != nil {
		return nil, false, err
	}
	if r.captions == nil {
		*n++
		if drop = dropped[r.id(*n)]; drop {
			*found++
		}
		return object, drop, nil
	}
	values := map[string]json.RawMessage{}
	var texts []json.RawMessage // as they are written
	if err := errors.Join(json.Unmarshal(object, &values), json.Unmarshal(values[r.list], &texts)); err != nil {
		return nil, false, err
	}
	var left []string
	for _, text := range texts {
		*n++
		if dropped[strconv.Itoa(*n)] {
			*found++
			continue
		}
		left = append(left, string(text))
	}
	if len(left) == len(r.captions) {
		return object, false, nil
	}
	start, end, err := ValueOf(object, r.list)
	if err != nil {
		return nil, false, err
	}
	return slices.Concat(object[:start], []byte("["+strings.Join(left, ", ")+"]"), object[end:]), false, nil
}

// id returns the identifier of a record's caption, which is the n-th of the file.
func (r *record) id(n int) string {
	if r.has[idField] {
		return r.values[idField]
	}
	return strconv.Itoa(n)
}

// ValueOf finds the value of a key of an object of JSON, of several the last, which is the one that counts.
func ValueOf(object []byte, key string) (start, end int, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return 0, 0, errors.New("not a JSON object")
	}
	start = -1
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return 0, 0, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return 0, 0, err
		}
		if name == key {
			end = int(d.InputOffset())
			start = end - len(value)
		}
	}
	if start < 0 {
		return 0, 0, fmt.Errorf("there is no %q", key)
	}
	return start, end, nil
}

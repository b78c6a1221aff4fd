package loader

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"nmn/internal/durable"
)

// SplitByIDs returns one set per list of ids, each in the order of its list. Bags in no list are
// left out. An id may have another Unicode normal form than in the set. An id that the set does not have, or
// that is listed twice, is an error.
func SplitByIDs(s *Set, lists ...[]string) ([]*Set, error) {
	index, err := indexIDs(s.Name, s.IDs)
	if err != nil {
		return nil, err
	}
	for _, id := range s.IDs {
		if composed := norm.NFC.String(id); composed != id {
			if _, taken := index[composed]; !taken {
				index[composed] = index[id]
			}
		}
	}
	listed := map[int]int{}
	parts := make([]*Set, len(lists))
	for l, ids := range lists {
		indices := make([]int, len(ids))
		for at, id := range ids {
			i, ok := index[id]
			if !ok {
				i, ok = index[norm.NFC.String(id)]
			}
			if !ok {
				return nil, Unusable(fmt.Errorf("%s: list %d, entry %d: there is no sample %q", s.Name, l+1, at+1, Excerpt(id)))
			}
			if first, ok := listed[i]; ok {
				return nil, Unusable(fmt.Errorf("%s: list %d, entry %d: %q is in list %d already",
					s.Name, l+1, at+1, Excerpt(id), first))
			}
			listed[i], indices[at] = l+1, i
		}
		if parts[l], err = Subset(s, fmt.Sprintf("%s-list%d", s.Name, l+1), indices); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// Bounds on an id list.
const (
	maxIDBytes = 4096 // longest line
	maxIDs     = 20_000_000
)

// ReadIDs reads a list of ids, plain or .gz, see parseIDs.
func ReadIDs(ctx context.Context, path string) ([]string, error) {
	r, err := OpenText(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("id list: %w", err)
	}
	defer r.Close()
	return parseIDs(path, r)
}

// parseIDs reads one id per line; blanks around it are cut, empty lines and lines that start with # are skipped, byte
// order marks (joined files have several) and CR LF are fine. A repeated id is an error that names both lines and
// wraps ErrAnnotations.
func parseIDs(name string, r io.Reader) ([]string, error) {
	var ids []string
	first := map[string]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxIDBytes)
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimFunc(lines.Bytes(), blankOrMark)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if len(ids) == maxIDs {
			return nil, Unusable(fmt.Errorf("id list %q, line %d: more than %d ids", name, n, maxIDs))
		}
		id := string(line)
		if at, ok := first[id]; ok {
			return nil, Unusable(fmt.Errorf("id list %q, line %d: %q repeats line %d", name, n, Excerpt(id), at))
		}
		first[id] = n
		ids = append(ids, id)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, Unusable(fmt.Errorf("id list %q, line %d: longer than %d bytes", name, n+1, maxIDBytes))
	} else if err != nil {
		return nil, fmt.Errorf("id list %q, line %d: %w", name, n+1, err)
	}
	if len(ids) == 0 {
		return nil, Unusable(fmt.Errorf("id list %q: no ids; want one per line", name))
	}
	return ids, nil
}

// WriteIDs writes a list that ReadIDs reads back as it was. An id that a line cannot hold is an error.
func WriteIDs(path string, ids []string) error {
	text := strings.Join(ids, "\n") + "\n"
	read, err := parseIDs(path, strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("cannot list identifiers: %w", err)
	}
	if !slices.Equal(read, ids) {
		at := 0
		for at < min(len(read), len(ids)) && read[at] == ids[at] {
			at++
		}
		return fmt.Errorf("cannot list identifiers in %q: %q cannot be a line of its own: it is empty, starts "+
			"with #, or has a line break or blanks around it; rename it",
			path, Excerpt(ids[at]))
	}
	return durable.WriteFile(path, []byte(text), 0o644)
}

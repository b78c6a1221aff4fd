package manifest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	slashed "path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"nmn/loader"
)

// imageSets are the lists in ImageSets/Main, by the folder above ImageSets.
type imageSets struct {
	of    map[string]map[string]listed // by folder and name of a picture
	notes []string
}

type listed struct {
	split, list string
	line        int
	seen        *bool // there is an annotation
}

// imageSets reads the lists: train.txt, or trainval.txt without it, val.txt and test.txt.
func (r *folderReader) imageSets(ctx context.Context) (*imageSets, error) {
	s := &imageSets{of: map[string]map[string]listed{}}
	lists := map[string]string{}
	for _, file := range r.labels.withExtension(".txt") {
		if strings.HasSuffix(strings.ToLower(slashed.Dir("/"+file)), "/imagesets/main") {
			lists[strings.ToLower(file)] = file
		}
	}
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		file := lists[key]
		split, ok := loader.SplitNamed(slashed.Base(stem(key)))
		if slashed.Base(key) == "trainval.txt" && lists[slashed.Join(slashed.Dir(key), "train.txt")] == "" {
			split, ok = loader.TrainSplit, true
		}
		if !ok {
			continue // trainval in addition to train, and a list for each label
		}
		err := r.labels.read(file, func(text io.Reader) error { return s.add(file, split, text) })
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		r.source(file)
	}
	return s, nil
}

// add adds a list of names, one per line.
func (s *imageSets) add(file, split string, text io.Reader) error {
	folder := slashed.Dir(slashed.Dir(slashed.Dir(file)))
	if s.of[folder] == nil {
		s.of[folder] = map[string]listed{}
	}
	lines := bufio.NewScanner(text)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		name := norm.NFC.String(fields[0])
		if before, ok := s.of[folder][name]; ok {
			return fmt.Errorf("line %d: %q is in line %d of %s too; a picture belongs to one split", n,
				loader.Excerpt(name), before.line, before.list)
		}
		s.of[folder][name] = listed{split: split, list: file, line: n, seen: new(bool)}
	}
	return lines.Err()
}

// split returns the split of an annotation, and whether to read it: it is skipped if there are lists, and
// none contains it.
func (s *imageSets) split(file string) (string, bool) {
	if len(s.of) == 0 {
		return splitOf(file), true
	}
	for dir := slashed.Dir(file); ; dir = slashed.Dir(dir) {
		if of, ok := s.of[dir]; ok {
			l, ok := of[norm.NFC.String(slashed.Base(stem(file)))]
			if ok {
				*l.seen = true
			}
			return l.split, ok
		}
		if dir == "." || dir == "/" {
			return "", false
		}
	}
}

// complete refuses names in lists that have no annotation. A list without any annotation, such as the list of
// a test set whose labels are not public, is ignored.
func (s *imageSets) complete() error {
	all, seen, first := map[string]int{}, map[string]int{}, map[string]listed{}
	names := map[string]string{}
	for _, of := range s.of {
		for name, l := range of {
			all[l.list]++
			if *l.seen {
				seen[l.list]++
			} else if before, ok := first[l.list]; !ok || l.line < before.line {
				first[l.list], names[l.list] = l, name
			}
		}
	}
	for _, list := range slices.Sorted(maps.Keys(first)) {
		l := first[list]
		if seen[list] > 0 {
			return fmt.Errorf("%q, line %d: there is no annotation of %q (nor of %d others); add it, or take it out", list,
				l.line, loader.Excerpt(names[list]), all[list]-seen[list]-1)
		}
		s.notes = append(s.notes, fmt.Sprintf("%s: no annotation for its %d pictures", list, all[list]))
	}
	return nil
}

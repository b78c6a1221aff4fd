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
	of    map[string]map[string]*listed // by folder and name of a picture
	lists []*imageList                  // by their names
}

type imageList struct {
	file, split string
	all         []*listed
	seen        int // names that have an annotation
}

// listed is a name in a list.
type listed struct {
	list *imageList
	name string
	line int
	seen bool // there is an annotation
}

// imageSets reads the lists: train.txt, or trainval.txt without it, val.txt and test.txt.
func (r *folderReader) imageSets(ctx context.Context) (*imageSets, error) {
	s := &imageSets{of: map[string]map[string]*listed{}}
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
		list := &imageList{file: file, split: split}
		s.lists = append(s.lists, list)
		err := r.labels.read(file, func(text io.Reader) error { return s.add(list, text) })
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
func (s *imageSets) add(list *imageList, text io.Reader) error {
	folder := slashed.Dir(slashed.Dir(slashed.Dir(list.file)))
	if s.of[folder] == nil {
		s.of[folder] = map[string]*listed{}
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
				loader.Excerpt(name), before.line, before.list.file)
		}
		l := &listed{list: list, name: name, line: n}
		s.of[folder][name], list.all = l, append(list.all, l)
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
			if !ok {
				return "", false
			}
			if !l.seen {
				l.seen = true
				l.list.seen++
			}
			return l.list.split, true
		}
		if dir == "." || dir == "/" {
			return "", false
		}
	}
}

// complete refuses names in lists that have no annotation. A list without any annotation, such as the list of
// a test set whose labels are not public, is ignored, and notes say so.
func (s *imageSets) complete() (notes []string, err error) {
	for _, list := range s.lists {
		missing := len(list.all) - list.seen
		switch {
		case missing > 0 && list.seen == 0:
			notes = append(notes, fmt.Sprintf("%s: no annotation for its %d pictures", list.file, missing))
		case missing > 0:
			l := list.all[slices.IndexFunc(list.all, func(l *listed) bool { return !l.seen })]
			return nil, fmt.Errorf("%q, line %d: there is no annotation of %q (nor of %d others); add it, or take it out",
				list.file, l.line, loader.Excerpt(l.name), missing-1)
		}
	}
	return notes, nil
}

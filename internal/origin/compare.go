package origin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nmn/internal/parallel"
)

// Difference is the first file in which two lists differ.
type Difference struct {
	Text    string // describes the difference, beginning with the path of the file
	More    int    // files that differ too
	Unknown bool   // set if only the time of modification differs, for a file whose content was not recorded
	Added   bool   // the file was not there then
}

// Since compares the current files with an earlier list. It returns nil if they are equal, and then also the
// list to keep, which has the digests of both. A file of a setting that only one list has is no difference,
// because settings are compared elsewhere. For a file of a folder it is one. If times differ and the earlier
// content is known, the file is read now.
func (now List) Since(ctx context.Context, then List) (kept List, d *Difference, err error) {
	was := map[string]File{}
	for _, f := range then {
		was[f.Name] = f
	}
	differ := func(is Difference, format string, args ...any) {
		switch {
		case d == nil || d.Unknown && !is.Unknown:
			if d != nil {
				is.More = d.More + 1
			}
			is.Text = fmt.Sprintf(format, args...)
			d = &is
		default:
			d.More++
		}
	}
	now = slices.Clone(now)
	err = parallel.Try(ctx, len(now), atOnce, func(i int) (err error) {
		f, old := &now[i], was[now[i].Name]
		switch {
		case old.Digest == "" || f.Size != old.Size || f.Digest != "" && ofEnds(f.Digest) == ofEnds(old.Digest):
		case f.Digest == "" && f.Modified.Equal(old.Modified):
			f.Digest = old.Digest
		case ofEnds(old.Digest):
			f.Digest, err = Ends(ctx, f.Path)
		default:
			f.Digest, err = Digest(ctx, f.Path)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	kept = make(List, 0, len(now))
	folders := map[string]string{} // current path of a folder, by its name
	for _, f := range now {
		folder, inside := f.inFolder()
		if inside && strings.HasSuffix(f.Path, f.Name[len(folder):]) {
			folders[folder] = strings.TrimSuffix(f.Path, f.Name[len(folder):])
		}
		old, there := was[f.Name]
		delete(was, f.Name)
		kept = append(kept, f)
		switch {
		case !there && inside:
			differ(Difference{Added: true}, "%s was not there when this run began", f.Path)
		case !there:
		case old.Digest != "" && f.Digest != "" && f.Digest != old.Digest:
			differ(Difference{}, "%s has changed since this run began (sha256 %.12s…, was %.12s…)", f.Path, f.Digest, old.Digest)
		case f.Size != old.Size:
			differ(Difference{}, "%s has changed since this run began (%d bytes, was %d)", f.Path, f.Size, old.Size)
		case old.Digest == "" && !f.Modified.Equal(old.Modified):
			differ(Difference{Unknown: true}, "%s was modified %s, and %s when this run began", f.Path, when(f.Modified),
				when(old.Modified))
		}
	}
	for _, f := range then {
		if _, gone := was[f.Name]; !gone {
			continue
		}
		folder, inside := f.inFolder()
		if !inside {
			kept = append(kept, f)
			continue
		}
		path := f.Name
		if _, own, _ := strings.Cut(f.Name, "/"); strings.HasPrefix(own, "/") {
			path = own // an absolute path
		} else if at, known := folders[folder]; known {
			path = at + f.Name[len(folder):]
		}
		differ(Difference{}, "%s was there when this run began, and is not any more", path)
	}
	return kept, d, nil
}

// inFolder returns the name of a file's folder, and whether it has one.
func (f *File) inFolder() (name string, inside bool) {
	name, _, inside = strings.Cut(f.Name, "/")
	return name, inside
}

func when(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05.999999999") }

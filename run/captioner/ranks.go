package captioner

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"nmn/group"
	"nmn/internal/origin"
	"nmn/run"
	"nmn/run/ranks"
)

// Several ranks train a captioner together: they make the same calls of the session with the same arguments. Rank 0 owns
// the run folder; the others have a temporary one for the stubs of checkpoints, and hear of rank 0 what it found there.

// ranks are those that do the work of the session; a single one where there are no others.
func (s *Session) ranks() group.Group { return group.Of(s.Group) }

// leads reports whether this rank has the run folder.
func (s *Session) leads() bool { return s.ranks().Rank() == 0 }

// lead calls f on rank 0 alone. Its error is one of all ranks.
func (s *Session) lead(f func() error) error {
	var err error
	if s.leads() {
		err = f()
	}
	return group.Agree(s.ranks(), err)
}

// hear gives all ranks what rank 0 has in value, a pointer.
func (s *Session) hear(value any) error { return ranks.First(s.ranks(), value) }

// compare refuses ranks of another program, or with other settings, words or data. identity is that of this rank, unless
// there is an error.
func (s *Session) compare(ctx context.Context, identity string, err error) error {
	if s.ranks().Size() == 1 {
		return err
	}
	var files origin.List
	if err == nil {
		files, err = origin.Find(ctx, s.Data.Places, false)
	}
	if err := ranks.Agree(s.ranks(), err); err != nil {
		return err
	}
	own := run.ThisBuild().Identity()
	own["settings and data"] = identity
	for _, f := range files {
		own["file of "+f.Name] = cmp.Or(f.Digest, fmt.Sprintf("of %d bytes", f.Size))
	}
	return ranks.Compare(s.ranks(), own)
}

// takeFolder keeps other processes out of the run folder. The ranks that do not lead are given one that is theirs, until
// release is called.
func (s *Session) takeFolder(ctx context.Context, dir string) (own string, release func() error, err error) {
	if s.leads() {
		own = dir
		release, err = run.LockFolder(ctx, dir, s.Log)
	} else {
		own, release, err = ranks.Room(s.ranks().Rank())
	}
	if agreed := group.Agree(s.ranks(), err); agreed != nil {
		if err == nil {
			agreed = errors.Join(agreed, release())
		}
		return "", nil, agreed
	}
	return own, release, nil
}

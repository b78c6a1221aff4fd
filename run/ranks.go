package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"

	"nmn/group"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/run/internal/folder"
	"nmn/run/ranks"
	"nmn/train"
)

// Ranks are those that do the work of the session together; a single one where there are no others.
func (s *Session) Ranks() group.Group { return s.ranks }

// Leads reports whether this rank has the run folder that people see: whether it writes pages and prints.
func (s *Session) Leads() bool { return s.leads() }

// leads reports whether this rank has the run folder that people see.
func (s *Session) leads() bool { return s.ranks.Rank() == 0 }

// agree makes what is wrong on one rank an error on all.
func (s *Session) agree(err error) error { return ranks.Agree(s.ranks, err) }

// first gives every rank what rank 0 has in v, a pointer: what depends on its clock or on its memory.
func (s *Session) first(v any) error { return ranks.First(s.ranks, v) }

// Share gives every rank what rank 0 has in v, a pointer to what JSON can hold.
func (s *Session) Share(v any) error { return s.first(v) }

// compareRanks makes sure that all ranks have opened device and data, the same ones. err is what was wrong on this rank.
func (s *Session) compareRanks(ctx context.Context, err error) error {
	if s.ranks.Size() == 1 {
		return err
	}
	var own map[string]string
	var pictures []string
	if err == nil {
		own, pictures, err = s.identity(ctx)
	}
	if err := s.agree(err); err != nil {
		return err
	}
	if err := ranks.Compare(s.ranks, own); err != nil {
		return err
	}
	return ranks.CompareList(s.ranks, "picture or shard", pictures)
}

// identity is what must be the same on all ranks, by what it is called in messages, and the pictures or shards with their
// sizes, and with digests where the configuration asks for them.
func (s *Session) identity(ctx context.Context) (own map[string]string, pictures []string, err error) {
	own = ThisBuild().Identity()
	own["kind of device"], own["precision"] = deviceKind(s.Backend.Name()), string(s.Config.Run.Precision)
	own["precision of gradients between ranks"] = s.Config.Run.Gradients
	for key, value := range s.Config.learned() {
		own["setting `"+key+"`"] = value
	}
	if s.Config.Data.VocabularyOfModel { // the words themselves are compared
		delete(own, "setting `data.vocabulary`")
	}
	judged, _ := s.Data.Judged()
	for name, set := range map[string]*loader.Set{"training labels": s.Data.Train, "validation labels": s.Data.Validation,
		"labels of the evaluated split": judged} {
		if set == nil {
			continue
		}
		h := sha256.New()
		if err := hashSet(ctx, h, set); err != nil {
			return nil, nil, err
		}
		own[name] = hex.EncodeToString(h.Sum(nil))
	}
	files, err := s.Config.files(ctx, s.Data)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		switch inFolder := strings.Contains(f.Name, "/"); {
		case f.Digest != "" && !inFolder:
			own["file of "+f.Name] = f.Digest
		case f.Digest != "":
			pictures = append(pictures, fmt.Sprintf("%s of %d bytes with SHA-256 %s", f.Name, f.Size, f.Digest))
		default:
			pictures = append(pictures, fmt.Sprintf("%s of %d bytes", f.Name, f.Size))
		}
	}
	h := sha256.New()
	for _, w := range s.Data.Train.Vocabulary.Words() {
		folder.HashText(h, w.Text+"\x00"+w.POS.String())
	}
	own["vocabulary"] = hex.EncodeToString(h.Sum(nil))
	return own, pictures, nil
}

// deviceKind is what a device of a name is.
func deviceKind(name string) string {
	if strings.HasPrefix(name, "cpu") {
		return "cpu"
	}
	return "graphics card"
}

// Told reports whether all ranks know of an error, because they have agreed on it. A rank that ends with another error
// must abort the group, for the others may wait for it.
func Told(err error) bool { return ranks.Told(err) }

// Precisions in which gradients travel between ranks.
const (
	GradientsFP32 = "fp32"
	GradientsBF16 = "bf16"
)

// wire is how gradients travel.
func (r *Resources) wire() group.Wire {
	if r.Gradients == GradientsBF16 {
		return group.BFloat16
	}
	return group.Float32
}

// AgreeOn makes what is wrong on one rank an error of all that ends with the same exit code.
func AgreeOn(g group.Group, err error) error { return ranks.Agree(group.Of(g), err) }

// FollowRun gives every rank of a group a folder that stands for the run folder, or that of an experiment, of rank 0: on
// rank 0 that folder, on the others a temporary one with the small files of it and stubs of its checkpoints. release
// removes it. What is wrong on one rank is an error on all.
func FollowRun(g group.Group, dir string) (own string, release func() error, err error) {
	return ranks.Follow(group.Of(g), dir, followed(foldersOfRuns.MatchString))
}

// Refresh has the folder of this rank that stands for one of rank 0, in a folder that FollowRun has given, hold what that
// of rank 0 holds by now, where other processes write too.
func (s *Session) Refresh(dir string) error {
	return ranks.Refresh(s.ranks, dir, folder.LockFile, followed(foldersOfRuns.MatchString))
}

// FollowAudit is FollowRun of a run with what audits of it have left.
func FollowAudit(g group.Group, dir string) (own string, release func() error, err error) {
	return ranks.Follow(group.Of(g), dir, followed(func(name string) bool {
		return foldersOfRuns.MatchString(name) || name == AuditFolder || strings.HasPrefix(name, foldsOf)
	}))
}

// followed is what ranks need of the folder of a run with some folders in it.
func followed(folders func(name string) bool) ranks.Kind {
	return ranks.Kind{File: neededOfRun, Folder: folders, Stub: func(w io.Writer, path string) error {
		stub, err := train.Stub(path)
		if err == nil {
			_, err = w.Write(stub)
		}
		return err
	}}
}

// neededOfRun reports whether ranks other than rank 0 need a file, and whether it is a checkpoint: not what grows with
// training or is for people, nor where the data of rank 0 lie.
func neededOfRun(name string) (needed, checkpoint bool) {
	switch name {
	case LogFile, SummaryFile, DataFile, IndexFile, report.PageFile, report.HTMLFile, report.CurvesFile, recipe.PageFile,
		recipe.SuspectsFile, dataset.FlipsFile, dataset.ValidationFlipsFile:
		return false, false
	}
	checkpoint = train.IsCheckpoint(name)
	return checkpoint || isRunFile(name), checkpoint
}

// foldersOfRuns are the names of folders below that of a run or of an experiment.
var foldersOfRuns = regexp.MustCompile(`^(` + strings.Join([]string{Stage1Folder, RecipeFolder, recipe.CaptionsFolder,
	recipe.EMFolder, "net", "noise", "flips", "seed", "fold", "round", `[a-z0-9-]+-mil`, armNames()}, "|") + `)(-.*)?$`)

func armNames() string {
	names := make([]string, 0, len(recipe.Names()))
	for _, n := range recipe.Names() {
		names = append(names, regexp.QuoteMeta(string(n)))
	}
	return strings.Join(names, "|")
}

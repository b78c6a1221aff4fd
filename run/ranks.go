package run

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"nmn/internal/setting"
	"nmn/ranks"
)

// Ranks are the processes that train together. They make the same calls, see one run folder, and read the same data.
// Rank 0 alone writes to the folder, by Save: after it all ranks find what has been written.
type Ranks struct {
	group ranks.Group // never nil
	log   *slog.Logger
}

// leads reports whether this rank writes to the run folder.
func (r *Ranks) leads() bool { return r.group.Rank() == 0 }

// agree is AgreeOn for these ranks.
func (r *Ranks) agree(err error) error { return AgreeOn(r.group, err) }

// agreedError is an error that all ranks know of.
type agreedError struct{ error }

func (e agreedError) Unwrap() error { return e.error }

// Agreed reports whether all ranks know of an error. A rank that ends with another error must abort the group, for the
// others may wait for it.
func Agreed(err error) bool {
	var agreed agreedError
	return errors.As(err, &agreed)
}

// AgreeOn waits for all ranks, and makes what is wrong on one of them an error of all that ends with the same exit
// code.
func AgreeOn(g ranks.Group, err error) error {
	g = ranks.Of(g)
	if g.Size() == 1 || Agreed(err) {
		return err
	}
	var mistake *setting.Error
	agreed := ranks.Agree(g, err)
	if agreed == nil {
		return nil
	}
	kinds, gathering := ranks.Every(g, errors.As(err, &mistake), nil)
	if gathering != nil { // the group has ended
		return agreed
	}
	var lost *ranks.LostError
	if err == nil && errors.As(agreed, &lost) && kinds[lost.Rank] {
		agreed = &setting.Error{Reason: agreed}
	}
	return agreedError{agreed}
}

// fromRank0 returns what rank 0 has: what depends on its clock, on its memory or on what is in the run folder.
func fromRank0[T any](r *Ranks, own T) (T, error) {
	all, err := ranks.Every(r.group, own, nil)
	if err != nil {
		return own, err
	}
	return all[0], nil
}

// compare makes sure that all ranks have opened device and data, the same ones. err is what was wrong on this rank, and
// identity returns what must be the same, by what it is called in messages.
func (r *Ranks) compare(err error, identity func() (map[string]string, error)) error {
	if r.group.Size() == 1 {
		return err
	}
	var own map[string]string
	if err == nil {
		own, err = identity()
	}
	if err := r.agree(err); err != nil {
		return err
	}
	all, err := ranks.Every(r.group, own, nil)
	if err != nil {
		return err
	}
	names := r.group.Names()
	for rank, its := range all {
		for _, key := range slices.Sorted(maps.Keys(all[0])) {
			if its[key] != all[0][key] {
				return agreedError{setting.Errorf("", "rank %d (%s) differs from rank 0 (%s): its %s is %.120s, that of rank 0 is "+
					"%.120s: all ranks need the same program, configuration and data", rank, names[rank], names[0], key,
					cmp.Or(its[key], "empty"), cmp.Or(all[0][key], "empty"))}
			}
		}
	}
	return nil
}

// Lock keeps other processes out of a folder until release is called, as Train and TrainArm do with theirs; it is not
// for the folders below. A folder that another process is writing is an error that names it and wraps ErrLocked. Of
// several ranks rank 0 takes it for all, and ranks that do not see the folder are refused.
func (r *Ranks) Lock(ctx context.Context, dir string) (release func() error, err error) {
	release = func() error { return nil }
	if r.leads() {
		release, err = LockFolder(ctx, dir, r.log)
	}
	if err := r.agree(err); err != nil {
		return nil, err
	}
	if err := r.sameFolder(dir); err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// Save calls write, which writes whole files of a run or of an experiment and may be called again. If the disk
// is full, Save logs a warning and waits for a moment: see durable.Patiently. With several ranks, rank 0 alone
// writes once all have called Save, and the others wait for it.
func (r *Ranks) Save(ctx context.Context, write func() error) error {
	if err := r.agree(nil); err != nil {
		return err
	}
	var err error
	if r.leads() {
		err = SaveFiles(ctx, r.log, write)
	}
	return r.agree(err)
}

// sameFolder refuses ranks that do not see the folder that rank 0 writes to.
func (r *Ranks) sameFolder(dir string) error {
	if r.group.Size() == 1 {
		return nil
	}
	var mark string
	var err error
	if r.leads() {
		var file *os.File
		if file, err = os.CreateTemp(dir, ".ranks-*.tmp"); err == nil {
			mark, err = filepath.Base(file.Name()), file.Close()
			defer func() { _ = os.Remove(file.Name()) }()
		}
	}
	if err := r.agree(err); err != nil {
		return err
	}
	if mark, err = fromRank0(r, mark); err != nil {
		return err
	}
	if _, seen := os.Stat(filepath.Join(dir, mark)); seen != nil {
		err = setting.Errorf("run_dir", "this rank does not see what rank 0 (%s) writes to %s: `run_dir` must lie on a file "+
			"system that all ranks see, under the same path", r.group.Names()[0], dir)
	}
	return r.agree(err)
}

// refuseRanks refuses what several ranks cannot do, before anything is opened.
func (c *Config) refuseRanks(ranks int) error {
	if ranks == 1 {
		return nil
	}
	if c.Net.Backbone != "" {
		return setting.Errorf("net.backbone", "features of `net.backbone` are taken in one process, and there are %d ranks: "+
			"start this without mpirun or srun, or write the features with nmn extract in shards (`extract.shard`) and train "+
			"on them", ranks)
	}
	loss := c.Train.Loss
	if arm, ok := c.Arm.Arm(); ok {
		loss = arm.LossOf(loss)
	}
	if loss.Large() {
		return setting.Errorf("arm", "loss %s looks for the largest losses of a whole batch, and each of %d ranks has only "+
			"a part: start this without mpirun or srun", loss.Name(), ranks)
	}
	return nil
}

// Precisions in which gradients travel between ranks.
const (
	GradientsFP32 = "fp32"
	GradientsBF16 = "bf16"
)

func (r *Resources) wire() ranks.Wire {
	if r.Gradients == GradientsBF16 {
		return ranks.BFloat16
	}
	return ranks.Float32
}

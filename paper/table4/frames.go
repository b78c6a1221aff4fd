package table4

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"nmn/internal/durable"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/run"
	"nmn/train"
)

// extractVideos writes the concepts of a net for every frame of the training clips and of the clips in the
// table, as nmn extract does. A split that is already written is left as it is.
func (e *Experiment) extractVideos(ctx context.Context, s *run.Session, p Piece) (err error) {
	net, err := e.Net(p)
	if err != nil {
		return err
	}
	judged, name := s.Data.EvaluationSplit()
	folder, written := e.features(p.Seed, string(p.Arm)), &concepts{Judged: name}
	there, err := e.readConcepts(p)
	if err != nil {
		return err
	}
	if there != nil && there.Judged == name {
		written = there
	} else {
		if written.Net, err = e.netFingerprint(p); err != nil {
			return err
		}
		if err := s.Save(ctx, func() error { return os.MkdirAll(folder, 0o777) }); err != nil {
			return err
		}
	}
	for _, of := range []struct {
		split string
		set   *loader.Set
	}{{splitTrain, s.Data.Train}, {splitTest, judged}} {
		if slices.Contains(written.Splits, of.split) {
			continue
		}
		if err := e.extractSplit(ctx, s, net.Dir, of.set, filepath.Join(folder, of.split)); err != nil {
			return err
		}
		written.Splits = append(written.Splits, of.split)
		err := s.Save(ctx, func() error { return durable.SaveJSON(filepath.Join(folder, conceptsFile), written) })
		if err != nil {
			return err
		}
	}
	return nil
}

// extractSplit writes the probabilities of all frames of a set of clips to files of a name, with the rows of
// each clip.
func (e *Experiment) extractSplit(ctx context.Context, s *run.Session, dir string, set *loader.Set,
	name string) (err error) {
	net, checkpoint, err := train.OpenNet(filepath.Join(dir, train.LastName), s.Backend)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	frames, index, err := loader.Frames(ctx, set)
	if err == nil {
		err = net.ChunkFrames(0) // the size of the batch is the limit
	}
	if err != nil {
		return err
	}
	config := e.Videos.Config
	config.Net.MIL = checkpoint.Model.MIL // which says how pictures fit
	l := config.Loader()
	l.BatchSize = run.DefaultReading().Batch
	if err := e.writeProbabilities(ctx, net, frames, l, name+".npy"); err != nil {
		return err
	}
	var table dataset.ClipTable
	offsets := index.Offsets()
	var r loader.Row
	for i := range index.Videos() {
		if err := set.Row(ctx, i, &r); err != nil {
			return err
		}
		table.Add(r.ID, offsets[i], offsets[i+1]-offsets[i])
	}
	return s.Save(ctx, func() error { return table.WriteFile(name + ".csv") })
}

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader/dataset"
	"nmn/loader/features"
	"nmn/run/folder"
	"nmn/text"
)

// Open opens the device and the data of a configuration. What this leaves open, such as the recipe, is filled in; what
// is wrong in it is a *ConfigError. The session keeps the result in Config, and must be closed.
func Open(ctx context.Context, c Config, o Options) (*Session, error) {
	if err := c.Complete(); err != nil {
		return nil, err
	}
	s := newSession(o)
	s.Config = c
	if err := c.refuseRanks(s.Ranks.group.Size()); err != nil {
		return nil, err
	}
	dir := cmp.Or(o.RunDir, o.Finished)
	begun := dir != "" && !o.Restart && folder.Begun(dir)
	err := s.openDevice()
	if err == nil && !begun {
		err = s.Config.startsThere()
	}
	if err == nil {
		reading := dataset.Options{Log: s.Log}
		if !o.SampleFeatures {
			reading.Unusable = s.Config.readAll
			if begun {
				reading.Unusable = leftOutSince(dir)
			}
		}
		if s.Data, err = s.Config.OpenData(ctx, reading); err == nil {
			s.Config.sizeBatch(s.Data.Train)
			err = cmp.Or(s.Config.settleClasses(s.Data), s.Config.StartNoiseRates(s.Data))
		} else if begun && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; where the data have moved, name their new place: the run goes on if the content is the same, "+
				"and keeps the place", err)
		}
	}
	err = s.Ranks.compare(err, func() (map[string]string, error) {
		return s.Config.identity(ctx, s.Backend.Name(), s.Data)
	})
	if err != nil {
		return nil, cmp.Or(err, s.Close())
	}
	training := o.RunDir != "" && !o.SampleFeatures && !s.Config.Data.Embedded()
	s.Notify(Message{Text: s.Data.Describe(), Detail: !training}) // a wrong reading of labels must not go unseen
	if text := s.Data.DescribeLeftOut(); text != "" {
		s.Log.Warn("left out", "pictures", len(s.Data.LeftOut), "allowed", s.Config.Data.MaxBadSamples)
		s.Notify(Message{Topic: "data", Text: text, Always: true})
	}
	keptIn := o.Features
	if keptIn == "" && o.Finished != "" {
		keptIn = FeaturesOf(o.Finished)
	}
	if o.RunDir != "" && s.Config.Net.Backbone != "" {
		if !o.Restart && durable.Exists(filepath.Join(o.RunDir, ConfigFile)) { // another run is refused before minutes pass
			if err := checkFolder(o.RunDir, ofRun, &s.Config); err != nil {
				return nil, cmp.Or(err, s.Close())
			}
		}
		keptIn = filepath.Join(o.RunDir, FeaturesFolder)
	}
	if err := s.takeFeatures(ctx, keptIn, o.SampleFeatures, o.FeaturesTaken); err != nil {
		return nil, cmp.Or(err, s.Close())
	}
	return s, nil
}

// Prepare brings data and configuration to what training needs: features on one scale, and the plain form of the
// noise model if rates cannot be estimated from the data and were not asked for; plain reports that it chose this form.
// Train prepares a session that is not prepared.
func (s *Session) Prepare(ctx context.Context) (plain bool, err error) {
	s.prepared = true
	d := s.Data
	// from words that hold on no training bag or on every one nothing can be learned
	never, always := features.OneSided(d.Train.Vocabulary.Texts(), d.Census.Positive, d.Census.Bags)
	if never != nil || always != nil {
		s.Log.Info("one-sided labels", "split", d.Train.Name, "never", never, "always", always)
		s.Notify(Message{Topic: "labels", Text: fmt.Sprintf("of %s %s", text.Count(d.Train.Vocabulary.Len(), "labels"),
			dataset.DescribeOneSided(never, always))})
	}
	return s.settle(ctx)
}

// settle is Prepare without a look at the labels.
func (s *Session) settle(ctx context.Context) (plain bool, err error) {
	if err := s.Standardise(ctx); err != nil {
		return false, err
	}
	if err := s.settleBatch(ctx); err != nil {
		return false, err
	}
	why := s.Config.FallBackToPaper(s.Data)
	if why != "" {
		s.Notify(Message{Topic: "recipe", Text: "paper: " + why})
	}
	return why != "", nil
}

// Standardise brings features to one scale, where the configuration asks for it, and reports how many are constant and
// so count for nothing.
func (s *Session) Standardise(ctx context.Context) error {
	constant, err := s.Data.Standardise(ctx, &s.Config.Data)
	if constant > 0 {
		s.Notify(Message{Text: fmt.Sprintf("        %d features are the same in all training rows and count for nothing",
			constant), Detail: true})
	}
	return err
}

// OpenData opens the data of a configuration. Whether a manifest lists clips is known only then: it is noted in the
// configuration and checked against the rest of it.
func (c *Config) OpenData(ctx context.Context, o dataset.Options) (*dataset.Splits, error) {
	o.LabelMemory = c.Run.LabelMemory
	data, err := dataset.Open(ctx, &c.Data, o)
	if err != nil {
		return nil, err
	}
	if c.Data.Set != dataset.Manifest {
		return data, nil
	}
	c.Data.ManifestOfClips = data.Train.Videos()
	c.settleDecay()
	if err := c.validateVideo(); err != nil {
		return nil, cmp.Or(error(&setting.Error{Reason: err}), data.Close())
	}
	if err := c.CheckInstances(c.Data.ManifestOfClips); err != nil {
		return nil, cmp.Or(err, data.Close())
	}
	return data, nil
}

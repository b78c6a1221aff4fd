package run

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/dataset"
	"nmn/loader/doctor"
	"nmn/recipe"
)

func TestExamine_SoundDataIsOpenedAndNotTrained(t *testing.T) {
	t.Parallel()
	c := expect.Value(Preset(ScenesPreset, Quick))(t)
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize, c.Net.Width, c.Run.Device, c.Arm = 48, 16, 16, .5,
		"cpu", recipe.FD
	var topics []string
	found := expect.Value(Examine(t.Context(), &c, ExamineOptions{Message: func(m Message) {
		topics = append(topics, m.Topic)
	}}))(t)
	if n := doctor.Count(found.Findings, doctor.Error); n != 0 || len(found.Splits) != 3 ||
		found.Data != dataset.Scenes {
		t.Errorf("%d errors in %d splits of %s: %+v", n, len(found.Splits), found.Data, found.Findings)
	}
	if len(topics) == 0 || topics[0] != "device" {
		t.Errorf("messages are about %q, want the device first", topics)
	}
}

func TestExamine_DataThatCannotBeOpenedIsAFinding(t *testing.T) {
	c := DefaultConfig()
	c.Data.Set = dataset.Captions
	c.Data.Captions, c.Data.Images = filepath.Join(t.TempDir(), "nothing.json"), t.TempDir()
	found := expect.Value(Examine(t.Context(), &c, ExamineOptions{}))(t)
	if len(found.Findings) != 1 || found.Findings[0].Kind != "unreadable-data" ||
		found.Findings[0].Weight != doctor.Error {
		t.Errorf("found %+v", found.Findings)
	}
}

func TestExamine_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := DefaultConfig()
	if found, err := Examine(ctx, &c, ExamineOptions{}); !errors.Is(err, context.Canceled) || found != nil {
		t.Errorf("found %+v, %v", found, err)
	}
}

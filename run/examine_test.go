package run

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"nmn/loader/dataset"
	"nmn/loader/doctor"
	"nmn/recipe"
)

func TestExamine_SoundDataHasAPlan(t *testing.T) {
	t.Parallel()
	c, err := Preset(ScenesPreset, Quick)
	if err != nil {
		t.Fatal(err)
	}
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize, c.Net.Width, c.Run.Device, c.Arm = 48, 16, 16, .5,
		"cpu", recipe.FD
	var topics []string
	found, err := Examine(t.Context(), &c, ExamineOptions{Message: func(m Message) {
		topics = append(topics,
			m.Topic)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if n := doctor.Count(found.Findings, doctor.Error); n != 0 || len(found.Splits) != 3 ||
		found.Data != dataset.Scenes {
		t.Errorf("%d errors in %d splits of %s: %+v", n, len(found.Splits), found.Data, found.Findings)
	}
	if found.Plan == nil || len(found.Plan.Arms) != 2 || found.Plan.Arms[1].Steps < 1 || found.Plan.Seconds <= 0 {
		t.Errorf("plan %+v, want one of stage 1 and the arm", found.Plan)
	}
	if len(topics) == 0 || topics[0] != "device" {
		t.Errorf("messages are about %q, want the device first", topics)
	}
}

func TestExamine_DataThatCannotBeOpenedIsAFinding(t *testing.T) {
	c := DefaultConfig()
	c.Data.Set = dataset.Captions
	c.Data.Captions, c.Data.Images = filepath.Join(t.TempDir(), "nothing.json"), t.TempDir()
	found, err := Examine(t.Context(), &c, ExamineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Findings) != 1 || found.Findings[0].Kind != "unreadable-data" ||
		found.Findings[0].Weight != doctor.Error || found.Plan != nil {
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

func TestPlan_IsALineForEachArm(t *testing.T) {
	p := &Plan{Device: "cpu", Recipe: "4 folds", Arms: []ArmPlan{{Arm: "stage1", Steps: 100, StepSeconds: .0125,
		DeviceBytes: 3 << 20}}, Seconds: 61.4}
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := "stage1            100 steps of 12.5 ms, 3 MiB, on cpu\nrecipe            4 folds, not counted below\nin " +
		"all            about 1m1s, without validation\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	p.Arms[0].FreeBytes = 4 << 30
	if err := p.Write(&b); err != nil || !strings.Contains(b.String(), ", 3 MiB of 4096 MiB that are free, on cpu\n") {
		t.Errorf("a plan where memory is known is %q, %v", b.String(), err)
	}
	b.Reset()
	p.Arms[0].Bags, p.Arms[0].Batch = 20, 32
	if err := p.Write(&b); err != nil || !strings.Contains(b.String(), "no full batch of 32: steps of at most 20") {
		t.Errorf("a plan without a full batch is %q, %v", b.String(), err)
	}
	b.Reset()
	if err := (*Plan)(nil).Write(&b); err != nil || b.Len() != 0 {
		t.Errorf("no plan is %q, %v", b.String(), err)
	}
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSparse_CountsWarningsThatAreAlike(t *testing.T) {
	var b strings.Builder
	s := newSparse(slog.NewTextHandler(&b, nil))
	log := slog.New(s).With("set", "train")
	for n := range 7003 {
		log.Warn("clip is left out", "clip", fmt.Sprint("video", n))
	}
	log.Info("data are read")
	log.Warn("clip is left out", "clip", "late")
	log.Error("clip is left out", "clip", "broken")
	s.summarise(context.Background())
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != mostAlike+4 || !strings.Contains(lines[mostAlike], "more=6998") ||
		!strings.Contains(lines[mostAlike+1], "data are read") || !strings.Contains(lines[mostAlike+2], "more=1") ||
		!strings.Contains(lines[mostAlike+3], "clip=broken") || !strings.Contains(lines[0], "set=train clip=video0") {
		t.Errorf("%d lines:\n%s", len(lines), b.String())
	}
}

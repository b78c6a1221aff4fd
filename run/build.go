package run

import (
	"runtime"
	"runtime/debug"
	"strconv"

	"nmn/kernels/simd"
)

// revision is set by the linker where the program is built away from its checkout, as in an image:
// -ldflags="-X nmn/run.revision=...". A wheel's program has the version of the wheel as well.
var revision, version string

// Build says which program made a result.
type Build struct {
	Version  string `yaml:"version" json:"version"` // of the module, (devel) for a build from a checkout
	Revision string `yaml:"revision,omitempty" json:"revision,omitempty"`
	Modified bool   `yaml:"modified,omitempty" json:"modified,omitempty"` // the checkout differed from the revision
	Go       string `yaml:"go" json:"go"`
	Platform string `yaml:"platform" json:"platform"`
	SIMD     string `yaml:"simd" json:"simd"`
	// Folder is the one in which a run was started, from which relative paths of its configuration are taken.
	Folder string `yaml:"folder,omitempty" json:"-"`
}

// Identity is what must be the same of a program on all ranks of a job, by what it is called in messages.
func (b Build) Identity() map[string]string {
	return map[string]string{"program's version": b.Version, "program's revision": b.Revision, "platform": b.Platform,
		"program's modification": strconv.FormatBool(b.Modified), "instruction set": b.SIMD}
}

// ThisBuild describes the program that is running.
func ThisBuild() Build {
	b := Build{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Revision: revision}
	if level, err := simd.Detect(); err == nil {
		b.SIMD = level.String()
	} else {
		b.SIMD = "none: " + err.Error()
	}
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	if version != "" {
		b.Version = version
	}
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

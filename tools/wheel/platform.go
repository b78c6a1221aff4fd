package main

import (
	"fmt"
	"strings"
)

// distribution is the name of the package in names of files, with underscores for hyphens. On the package
// index nmn is another project.
const distribution = "nmn_noisy_labels"

// platform is one that wheels are made for.
type platform struct {
	name         string // as WHEELS has it
	system, arch string // as Go calls them
	tags         []string
}

// platforms are the platforms of the wheels. A program without C needs no C library, so one file serves all
// of Linux. The tags name the oldest C libraries that today's pip installs for. For macOS, Go requires 12.
var platforms = []platform{
	{name: "linux-amd64", system: "linux", arch: "amd64", tags: []string{"manylinux_2_17_x86_64", "manylinux2014_x86_64",
		"musllinux_1_2_x86_64"}},
	{name: "linux-arm64", system: "linux", arch: "arm64", tags: []string{"manylinux_2_17_aarch64", "manylinux2014_aarch64",
		"musllinux_1_2_aarch64"}},
	{name: "darwin-amd64", system: "darwin", arch: "amd64", tags: []string{"macosx_12_0_x86_64"}},
	{name: "darwin-arm64", system: "darwin", arch: "arm64", tags: []string{"macosx_12_0_arm64"}},
	{name: "windows-amd64", system: "windows", arch: "amd64", tags: []string{"win_amd64"}},
	{name: "windows-arm64", system: "windows", arch: "arm64", tags: []string{"win_arm64"}},
}

// choose finds platforms by their names, or all of them without names.
func choose(names []string) ([]platform, error) {
	if len(names) == 0 {
		return platforms, nil
	}
	var chosen []platform
next:
	for _, name := range names {
		var known []string
		for _, p := range platforms {
			if p.name == name {
				chosen = append(chosen, p)
				continue next
			}
			known = append(known, p.name)
		}
		return nil, fmt.Errorf("no wheel is made for %q, but for %s", name, strings.Join(known, ", "))
	}
	return chosen, nil
}

func (p platform) program() string {
	if p.system == "windows" {
		return "nmn.exe"
	}
	return "nmn"
}

// fileName is the name of the wheel, with all tags in one set (PEP 425).
func (p platform) fileName(version string) string {
	return distribution + "-" + version + "-py3-none-" + strings.Join(p.tags, ".") + ".whl"
}

// wheelFile is the file WHEEL, which has each tag by itself.
func (p platform) wheelFile() string {
	text := "Wheel-Version: 1.0\nGenerator: nmn/python/wheel\nRoot-Is-Purelib: false\n"
	for _, tag := range p.tags {
		text += "Tag: py3-none-" + tag + "\n"
	}
	return text
}

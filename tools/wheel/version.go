package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A version of PEP 440, as used by releases, their pre- and post-releases, and builds of commits.
var ofPEP440 = regexp.MustCompile(`^\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9]+(\.[a-z0-9]+)*)?$`)

func isPEP440(version string) bool { return ofPEP440.MatchString(version) }

// Output of git describe --long --dirty for a commit after the tag of a semantic version.
var described = regexp.MustCompile(
	`^v(\d+)\.(\d+)\.(\d+)(?:-?(alpha|beta|a|b|rc)[.-]?(\d+)?)?-(\d+)-(g[0-9a-f]+)(-dirty)?$`)

// Its output if there is no tag.
var untagged = regexp.MustCompile(`^([0-9a-f]+)(-dirty)?$`)

// pep440 is the Python version for git's output: 1.2.3 at the tag v1.2.3. The fourth commit after it is a
// development version of the next release, 1.2.4.dev4+g0123abc. Without a tag, count commits give 0.0.0.
func pep440(says string, count int) (string, error) {
	if m := untagged.FindStringSubmatch(says); m != nil {
		return fmt.Sprintf("0.0.0.dev%d+g%s", count, m[1]) + strings.Replace(m[2], "-", ".", 1), nil
	}
	m := described.FindStringSubmatch(says)
	if m == nil {
		return "", fmt.Errorf("the tag in %q is none of a version, such as v1.2.3 or v1.2.3-rc.1", says)
	}
	release, distance, dirty := m[1]+"."+m[2]+".", m[6], strings.Replace(m[8], "-", ".", 1)
	patch, err := strconv.Atoi(m[3])
	if err != nil {
		return "", fmt.Errorf("the tag in %q: %w", says, err)
	}
	before := ""
	if m[4] != "" {
		number, _ := strconv.Atoi(m[5]) // none is 0
		if distance != "0" || dirty != "" {
			number++
		}
		before = strings.NewReplacer("alpha", "a", "beta", "b").Replace(m[4]) + strconv.Itoa(number)
	} else if distance != "0" || dirty != "" {
		patch++
	}
	version := release + strconv.Itoa(patch) + before
	if distance == "0" && dirty == "" {
		return version, nil
	}
	return version + ".dev" + distance + "+" + m[7] + dirty, nil
}

// fromGit returns the description of the commit that is checked out, and how many commits lead to it.
func fromGit() (says string, count int, err error) {
	if says, err = git("describe", "--tags", "--match=v[0-9]*", "--long", "--always", "--dirty",
		"--abbrev=9"); err != nil {
		return "", 0, err
	}
	commits, err := git("rev-list", "--count", "HEAD")
	if err != nil {
		return "", 0, err
	}
	count, err = strconv.Atoi(commits)
	return says, count, err
}

func git(args ...string) (string, error) {
	out, err := output(nil, "git", args...)
	return strings.TrimSpace(out), err
}

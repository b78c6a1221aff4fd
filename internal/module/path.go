package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// unhosted is the path that the module had before anybody knew where it would be hosted.
const unhosted = "nmn"

var (
	legalHost    = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+$`)
	legalElement = regexp.MustCompile(`^[A-Za-z0-9_~-][A-Za-z0-9_.~-]*$`)
	majorVersion = regexp.MustCompile(`^v[0-9]+$`)
	legalVersion = regexp.MustCompile(`^v([2-9]|[1-9][0-9]+)$`)
)

// checkPath reports why a path cannot be that of a module which others require. The path that the module had
// before it had a host is allowed, to go back to it.
func checkPath(path string) error {
	if path == unhosted {
		return nil
	}
	elements := strings.Split(path, "/")
	if !legalHost.MatchString(elements[0]) {
		return fmt.Errorf(
			"module path %q: %q is no host: want lower-case letters, digits and dashes, and at least one dot", path,
			elements[0])
	}
	for i, element := range elements[1:] {
		switch {
		case element == "":
			return fmt.Errorf("module path %q has an empty element", path)
		case !legalElement.MatchString(element) || strings.HasSuffix(element, "."):
			return fmt.Errorf(
				"module path %q: %q is not legal: want ASCII letters, digits and - . _ ~, no dot at either end", path,
				element)
		case slices.Contains([]string{"internal", "vendor", "testdata"}, element):
			return fmt.Errorf("module path %q: no other module can import packages below a folder %s", path, element)
		case i == len(elements)-2 && majorVersion.MatchString(element) && !legalVersion.MatchString(element):
			return fmt.Errorf("module path %q: the first major version with a suffix is v2", path)
		}
	}
	return nil
}

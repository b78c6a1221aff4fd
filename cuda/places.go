package cuda

import (
	"os"
	"path/filepath"
)

// pythonPackages are the folders, as globs, into which Pythons install packages, first of the
// environment in use.
func pythonPackages(getenv func(string) string) (list []string) {
	prefixes := []string{getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX")}
	for _, folder := range filepath.SplitList(getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(folder, "python3")); err == nil {
			prefixes = append(prefixes, filepath.Dir(folder))
		}
	}
	if home := getenv("HOME"); home != "" {
		prefixes = append(prefixes, filepath.Join(home, ".local"), filepath.Join(home, ".pyenv/versions/*"))
	}
	for _, prefix := range append(prefixes, "/opt/conda", "/usr/local", "/usr") {
		if prefix != "" {
			list = append(list, filepath.Join(prefix, "lib/python3*/site-packages"),
				filepath.Join(prefix, "lib/python3*/dist-packages"))
		}
	}
	return list
}

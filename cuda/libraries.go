package cuda

import (
	"cmp"
	"os"
	"path/filepath"
)

// DriverVariable is the environment variable that names the driver's library in place of libcuda.so.1.
const DriverVariable = "NMN_LIBCUDA"

// Library lists the places of a library that is opened when it is needed.
type Library struct {
	Variable string   // the environment variable that names it, or the folder that holds it
	Names    []string // of its file, the most wanted first
	Homes    []string // environment variables that name folders with lib and lib64 in them
	Beside   []string // folders next to the Homes
	Toolkit  string   // its folder below nvidia in the toolkit of this project's checkout
	Packages []string // its folders in Python's packages
	System   []string // further folders of systems
	Driver   bool     // it opens the host's driver by itself: if another driver is named, only a named library is used
}

// Open tries the Candidates in their order and returns the path of the first that open opens. Otherwise the error is
// the first one's. If there are no candidates, both are empty.
func (l Library) Open(open func(path string) error) (path string, err error) {
	for _, path := range l.Candidates(os.Getenv) {
		failed := open(path)
		if failed == nil {
			return path, nil
		}
		err = cmp.Or(err, failed)
	}
	return "", err
}

// Candidates returns the paths to try, the most preferred first. If the variable names a path, it is the only
// one. Otherwise they are the linker's, those at Homes, next to the program, in the toolkit of this project's
// checkout, in Python's packages and on the system.
func (l Library) Candidates(getenv func(string) string) (list []string) {
	if named := getenv(l.Variable); named != "" {
		if info, err := os.Stat(named); err != nil || !info.IsDir() {
			return []string{named}
		}
		for _, name := range l.Names {
			list = append(list, filepath.Join(named, name))
		}
		return list
	}
	if l.Driver && getenv(DriverVariable) != "" {
		return nil
	}
	list = append(list, l.Names...)
	for _, folder := range l.folders(getenv, programFolder()) {
		for _, name := range l.Names {
			found, _ := filepath.Glob(filepath.Join(folder, name)) // a bad pattern finds nothing
			list = append(list, found...)
		}
	}
	return list
}

// folders are the places of the library other than the linker's, as globs.
func (l Library) folders(getenv func(string) string, program string) (list []string) {
	for _, variable := range l.Homes {
		home := getenv(variable)
		if home == "" {
			continue
		}
		list = append(list, filepath.Join(home, "lib"), filepath.Join(home, "lib64"))
		for _, folder := range l.Beside {
			list = append(list, filepath.Join(home, "..", folder))
		}
	}
	list = append(list, program, filepath.Join(program, "lib"), filepath.Join(program, "build/cuda-toolkit/nvidia",
		l.Toolkit))
	if len(l.Packages) > 0 {
		for _, site := range pythonPackages(getenv) {
			for _, folder := range l.Packages {
				list = append(list, filepath.Join(site, folder))
			}
		}
	}
	return append(list, l.System...)
}

// programFolder is the folder of the running program.
func programFolder() string {
	path, err := os.Executable()
	if err != nil {
		return "."
	}
	return filepath.Dir(path)
}

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

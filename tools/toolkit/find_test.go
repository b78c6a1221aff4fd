package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// headers writes the headers of a CUDA version (major·1000 + minor·10) and of a cuDNN, each if its folder is
// not empty.
func headers(t *testing.T, cudaHome, cuda, cudnnInclude, cudnn string) {
	t.Helper()
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if cuda != "" {
		write(filepath.Join(cudaHome, "include/cuda.h"), "#define CUDA_VERSION "+cuda+"\n")
	}
	if cudnn != "" {
		write(filepath.Join(cudnnInclude, "cudnn_version.h"),
			"#define CUDNN_MAJOR "+cudnn+"\n#define CUDNN_MINOR 13\n#define CUDNN_PATCHLEVEL 0\n")
	}
}

func TestFind_TakesWhatIsNamedThenTheProjectsThenTheSystems(t *testing.T) {
	root, build := t.TempDir(), t.TempDir()
	named, project := filepath.Join(t.TempDir(), "named"), filepath.Join(build, "cuda-toolkit/nvidia")
	environment := map[string]string{}
	check := func(what, cudaHome, cudnnHome string) {
		t.Helper()
		k, err := find(build, func(name string) string { return environment[name] }, root)
		if err != nil || k.cuda.home != cudaHome || k.cudnn.home != cudnnHome {
			t.Errorf("%s: found %v, %v, want %s and %s", what, k, err, cudaHome, cudnnHome)
		}
	}
	headers(t, root+"/usr/local/cuda-13.1", "13010", root+"/usr/include/x86_64-linux-gnu", "9")
	check("system", root+"/usr/local/cuda-13.1", root+"/usr")
	headers(t, project+"/cu13", "13000", project+"/cudnn/include", "9")
	check("project", project+"/cu13", project+"/cudnn")
	headers(t, named, "13020", named+"/include", "9")
	environment["CUDA_PATH"] = named
	check("named", named, project+"/cudnn")
	environment["CUDA_HOME"], environment["CUDNN_HOME"] = named, named
	check("both named", named, named)
}

func TestFind_RefusesWhatDoesNotFit(t *testing.T) {
	old := t.TempDir()
	headers(t, old, "12080", old+"/include", "8")
	for name, c := range map[string]struct {
		environment map[string]string
		system      string // version of the system's CUDA, with a cuDNN 9
		want        string
	}{
		"nothing":    {nil, "", "make cuda-toolkit"},
		"old system": {nil, "12060", "cuda.h belongs to CUDA 12.6, want 13"},
		"old named": {map[string]string{"CUDA_HOME": old}, "13000", "CUDA_HOME is " + old +
			", which holds no CUDA 13 toolkit"},
		"empty named":   {map[string]string{"CUDA_HOME": t.TempDir()}, "13000", "no such file"},
		"old cuDNN":     {map[string]string{"CUDNN_HOME": old}, "13000", "cuDNN 8.13.0, want 9"},
		"other version": {nil, "nonsense", "defines no CUDA_VERSION"},
	} {
		root := t.TempDir()
		headers(t, root+"/usr/local/cuda", c.system, root+"/usr/local/cuda/include", "9")
		_, err := find(t.TempDir(), func(name string) string { return c.environment[name] }, root)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

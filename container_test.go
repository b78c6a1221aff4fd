package nmn_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// instruction is one of a Dockerfile, its lines joined.
type instruction struct{ name, rest string }

// stage is a FROM with what follows.
type stage struct {
	base, name   string
	instructions []instruction
}

// all are the operands of the instructions of a name.
func (s *stage) all(name string) (rest []string) {
	for _, i := range s.instructions {
		if i.name == name {
			rest = append(rest, i.rest)
		}
	}
	return rest
}

// readDockerfile reads the versions, which stand before the first stage, and the stages.
func readDockerfile(t *testing.T) (versions map[string]string, stages []*stage) {
	t.Helper()
	text := strings.ReplaceAll(readFile(t, "Dockerfile"), "\\\n", " ")
	versions = map[string]string{}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		rest = strings.Join(strings.Fields(rest), " ")
		switch {
		case name == "FROM":
			words := slices.DeleteFunc(strings.Fields(rest), func(w string) bool { return strings.HasPrefix(w, "--") })
			if len(words) != 3 || words[1] != "AS" {
				t.Fatalf("FROM %s: want a base AS a name", rest)
			}
			stages = append(stages, &stage{base: words[0], name: words[2]})
		case len(stages) > 0:
			last := stages[len(stages)-1]
			last.instructions = append(last.instructions, instruction{name, rest})
		case name == "ARG":
			key, value, _ := strings.Cut(rest, "=")
			versions[key] = value
		}
	}
	return versions, stages
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func find(t *testing.T, stages []*stage, name string) *stage {
	t.Helper()
	for _, s := range stages {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("the Dockerfile has no stage %s", name)
	return nil
}

// pinned is what follows an expression in a file, which must be there once.
func pinned(t *testing.T, file, expression string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)`+expression).FindAllStringSubmatch(readFile(t, file), -1)
	if len(found) != 1 {
		t.Fatalf("%s: %d places match %s, want one", file, len(found), expression)
	}
	return found[0][1]
}

// minor cuts a version after its second number.
func minor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

func TestDockerfile_BuildsWithTheVersionsOfTheSources(t *testing.T) {
	versions, _ := readDockerfile(t)
	language := pinned(t, "go.mod", `^go (\S+)$`)
	if got := tagged(t, versions["GO_IMAGE"], "golang"); minor(got) != minor(language) ||
		patch(t, got) < patch(t, language) {
		t.Errorf("GO_IMAGE is of %q, go.mod wants %s", got, language)
	}
	// The image has the C library and the Open MPI of the build.
	if tagged(t, versions["DEBIAN_IMAGE"], "debian"); !strings.Contains(versions["DEBIAN_IMAGE"], ":12.") ||
		!strings.Contains(versions["GO_IMAGE"], "-bookworm@") {
		t.Errorf("DEBIAN_IMAGE is %q, GO_IMAGE %q: want one release", versions["DEBIAN_IMAGE"], versions["GO_IMAGE"])
	}
	want := pinned(t, "tools/toolkit/requirements.txt", `^nvidia-cuda-nvcc==(\S+)`)
	if got := tagged(t, versions["CUDA_IMAGE"], "nvidia/cuda"); minor(got) != minor(want) {
		t.Errorf("CUDA_IMAGE is of %q, the compiler that is pinned is of %s", got, want)
	}
}

// tagged is the version in the tag of an image, NAME:VERSION-REST@DIGEST.
func tagged(t *testing.T, image, name string) string {
	t.Helper()
	found := regexp.MustCompile(`^` + name + `:([0-9.]+)-[a-z0-9.-]+@sha256:[0-9a-f]{64}$`).FindStringSubmatch(image)
	if found == nil {
		t.Fatalf("image %q: want %s with a tag and the digest of an index", image, name)
	}
	return found[1]
}

func patch(t *testing.T, version string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(version, minor(version)+"."))
	if err != nil {
		t.Errorf("version %q: want three numbers", version)
	}
	return n
}

func TestDockerfile_ImagesRunWithoutRoot(t *testing.T) {
	_, stages := readDockerfile(t)
	for name, base := range map[string]string{"cpu": "scratch", "cuda": "${CUDA_IMAGE}", "mpi": "${DEBIAN_IMAGE}",
		"cuda-mpi": "${CUDA_IMAGE}"} {
		s := find(t, stages, name)
		if s.base != base {
			t.Errorf("%s is built on %s, want %s", name, s.base, base)
		}
		if base == "scratch" && len(s.all("RUN")) != 0 {
			t.Errorf("%s runs a command where nothing is", name)
		}
		// A number, since an image without /etc/passwd has no names, and hosts check that it is not 0.
		if user := s.all("USER"); len(user) != 1 || !regexp.MustCompile(`^[1-9]\d+:[1-9]\d+$`).MatchString(user[0]) {
			t.Errorf("%s runs as %q", name, user)
		}
		if program := strings.Trim(strings.Join(s.all("ENTRYPOINT"), ""), `[]"`); filepath.Base(program) != "nmn" {
			t.Errorf("%s starts %q", name, program)
		}
		if !strings.Contains(strings.Join(s.all("COPY"), "\n"), "/out/licenses /licenses") {
			t.Errorf("%s carries no licence texts", name)
		}
		for _, volume := range s.all("VOLUME") {
			for _, folder := range strings.Split(strings.Trim(volume, "[]"), ", ") {
				if !strings.Contains(strings.Join(s.all("COPY"), "\n"), "--chown="+s.all("USER")[0]+" /out"+
					strings.Trim(folder, `"`)) {
					t.Errorf("%s: its user cannot write to %s", name, folder)
				}
			}
		}
	}
}

// A tag can be moved to another image; a digest cannot.
func TestCompose_PinsImagesAndHasNoPasswordOfItsOwn(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Image       string
			Build       map[string]string
			Environment map[string]string
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, "docker/compose.yaml")), &compose); err != nil {
		t.Fatal(err)
	}
	digest := regexp.MustCompile(`:v?[0-9.]+@sha256:[0-9a-f]{64}$`)
	for name, s := range compose.Services {
		if len(s.Build) == 0 && !digest.MatchString(s.Image) {
			t.Errorf("%s runs %q, which has no version with a digest", name, s.Image)
		}
	}
	password := compose.Services["grafana"].Environment["GF_SECURITY_ADMIN_PASSWORD"]
	if !strings.HasPrefix(password, "${GRAFANA_PASSWORD:?") {
		t.Errorf("Grafana's password is %q: without GRAFANA_PASSWORD nothing may start", password)
	}
}

// A default would win over the platform that a build asks for.
func TestDockerfile_CompilesForThePlatformAskedFor(t *testing.T) {
	_, stages := readDockerfile(t)
	if args := find(t, stages, "build-cpu").all("ARG"); !slices.Contains(args, "TARGETOS") ||
		!slices.Contains(args, "TARGETARCH") {
		t.Errorf("build-cpu declares %q, want TARGETOS and TARGETARCH without a default", args)
	}
}

func TestDockerfile_CopiesFromStagesBefore(t *testing.T) {
	_, stages := readDockerfile(t)
	from := regexp.MustCompile(`--from=(\S+)`)
	known := map[string]bool{"scratch": true}
	for _, s := range stages {
		if !strings.HasPrefix(s.base, "$") && !known[s.base] {
			t.Errorf("%s is built on %s, which no stage before makes", s.name, s.base)
		}
		for _, rest := range s.all("COPY") {
			if m := from.FindStringSubmatch(rest); m != nil && !known[m[1]] {
				t.Errorf("%s copies from %s, which no stage before makes", s.name, m[1])
			}
		}
		known[s.name] = true
	}
}

// What .dockerignore keeps away from the builds holds no package.
func TestDockerignore_LeavesThePackages(t *testing.T) {
	var ignored []string
	for line := range strings.Lines(readFile(t, ".dockerignore")) {
		ignored = append(ignored, strings.TrimSpace(line))
	}
	files, _ := goFiles(t)
	for _, f := range files {
		if top, _, nested := strings.Cut(f.path, "/"); nested && !f.test() && slices.Contains(ignored, top) {
			t.Errorf("%s does not reach the builds: .dockerignore has %s", f.path, top)
		}
	}
	if slices.Contains(ignored, "kernels") || !slices.Contains(ignored, "build") {
		t.Errorf(".dockerignore has %q", ignored)
	}
}

func TestCompose_TrainsInEitherImageWherePrometheusLooks(t *testing.T) {
	_, stages := readDockerfile(t)
	var compose struct {
		Services map[string]struct {
			Profiles    []string
			Build       struct{ Target string }
			Environment map[string]string
			Networks    struct{ Default struct{ Aliases []string } }
		}
	}
	var prometheus struct {
		Jobs []struct {
			Static []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	for name, into := range map[string]any{"docker/compose.yaml": &compose, "docker/prometheus.yml": &prometheus} {
		if err := yaml.Unmarshal([]byte(readFile(t, name)), into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if len(prometheus.Jobs) != 1 || len(prometheus.Jobs[0].Static) != 1 || len(prometheus.Jobs[0].Static[0].Targets) != 1 {
		t.Fatalf("Prometheus looks at %+v, want one training", prometheus)
	}
	alias, port, _ := strings.Cut(prometheus.Jobs[0].Static[0].Targets[0], ":")
	for service, profile := range map[string]string{"train": "cpu", "train-cuda": "cuda"} {
		s := compose.Services[service]
		if s.Build.Target != profile || !slices.Equal(s.Profiles, []string{profile}) {
			t.Errorf("%s is built from %q for the profiles %q, want %s", service, s.Build.Target, s.Profiles, profile)
		}
		if !slices.Contains(s.Networks.Default.Aliases, alias) || s.Environment["NMN_METRICS_ADDR"] != "0.0.0.0:"+port {
			t.Errorf("%s is %q and serves on %q; Prometheus looks at %s:%s", service, s.Networks.Default.Aliases,
				s.Environment["NMN_METRICS_ADDR"], alias, port)
		}
		if expose := find(t, stages, profile).all("EXPOSE"); !slices.Equal(expose, []string{port}) {
			t.Errorf("the image %s tells the ports %q, want %s", profile, expose, port)
		}
	}
	if env := readFile(t, "docker/.env"); env != "COMPOSE_PROFILES=cpu\n" {
		t.Errorf("docker/.env chooses %q", env)
	}
}

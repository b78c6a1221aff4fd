package nmn_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// pod is the part of a pod that the images have a say in.
type pod struct {
	Grace      int            `yaml:"terminationGracePeriodSeconds"`
	Security   map[string]any `yaml:"securityContext"`
	Volumes    []struct{ Name string }
	Containers []struct {
		Image         string
		Command, Args []string
		Ports         []struct {
			ContainerPort string `yaml:"containerPort"`
		}
		Security map[string]any `yaml:"securityContext"`
		Env      []struct{ Name, Value string }
		Mounts   []struct {
			Name string
			Path string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
}

// template holds a pod.
type template struct{ Template struct{ Spec pod } }

// manifest is a Job or an MPIJob.
type manifest struct {
	Kind string
	Spec struct {
		template `yaml:",inline"`
		SSHPath  string              `yaml:"sshAuthMountPath"`
		Replicas map[string]template `yaml:"mpiReplicaSpecs"`
	}
}

func readManifest(t *testing.T, file string) (m manifest) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readFile(t, "docker/kubernetes/"+file)), &m); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return m
}

// The manifests for Kubernetes start the images as they are made: by their user, port and volumes, and no more.
func TestKubernetes_AgreesWithTheImages(t *testing.T) {
	_, stages := readDockerfile(t)
	for file, target := range map[string]string{"job.yaml": "cpu", "job-cuda.yaml": "cuda", "array.yaml": "cuda"} {
		p, image := readManifest(t, file).Spec.Template.Spec, find(t, stages, target)
		agreeWithImage(t, file, p, target, image)
		if port := image.all("EXPOSE")[0]; p.Containers[0].Ports[0].ContainerPort != port ||
			p.Containers[0].Env[0].Value != "0.0.0.0:"+port {
			t.Errorf("%s serves on %v, %v; the image on %s", file, p.Containers[0].Ports, p.Containers[0].Env[0], port)
		}
	}
	collect := readManifest(t, "array-collect.yaml")
	agreeWithImage(t, "array-collect.yaml", collect.Spec.Template.Spec, "cpu", find(t, stages, "cpu"))
}

// agreeWithImage holds what every container has: user, image, time to save, and a volume wherever it writes.
func agreeWithImage(t *testing.T, file string, p pod, target string, image *stage) {
	t.Helper()
	c := p.Containers[0]
	user, group, _ := strings.Cut(image.all("USER")[0], ":")
	if s := p.Security; fmt.Sprint(s["runAsUser"], s["runAsGroup"], s["runAsNonRoot"]) != user+" "+group+" true" {
		t.Errorf("%s runs as %v, the image as %s:%s", file, s, user, group)
	}
	if c.Security["readOnlyRootFilesystem"] != true || c.Security["allowPrivilegeEscalation"] != false {
		t.Errorf("%s allows its container %v", file, c.Security)
	}
	if c.Image != "nmn:"+target || p.Grace < 60 {
		t.Errorf("%s starts %s, with %d s to save", file, c.Image, p.Grace)
	}
	mounted := map[string]bool{}
	for _, m := range c.Mounts {
		mounted[m.Path] = true
		if !slices.ContainsFunc(p.Volumes, func(v struct{ Name string }) bool { return v.Name == m.Name }) {
			t.Errorf("%s mounts %s, which is no volume", file, m.Name)
		}
	}
	for _, volume := range image.all("VOLUME") {
		for _, folder := range strings.Split(strings.Trim(volume, "[]"), ", ") {
			if !mounted[strings.Trim(folder, `"`)] {
				t.Errorf("%s: nothing is mounted at %s, and the root file system is read-only", file, folder)
			}
		}
	}
}

// Launcher and workers of an MPIJob use one image, whose ssh server looks for the keys in the folder where the
// job mounts them.
func TestKubernetes_MPIJobsAgreeWithTheImages(t *testing.T) {
	_, stages := readDockerfile(t)
	for file, target := range map[string]string{"mpijob.yaml": "mpi", "mpijob-cuda.yaml": "cuda-mpi"} {
		m, image := readManifest(t, file), find(t, stages, target)
		for name, replica := range m.Spec.Replicas {
			p := replica.Template.Spec
			agreeWithImage(t, file+", "+name, p, target, image)
			// of Open MPI's sessions, and of what ranks of a host hand each other
			for _, folder := range []string{"/tmp", "/dev/shm"} {
				if !slices.ContainsFunc(p.Containers[0].Mounts, func(m struct {
					Name string
					Path string `yaml:"mountPath"`
				}) bool {
					return m.Path == folder
				}) {
					t.Errorf("%s, %s: nothing is mounted at %s", file, name, folder)
				}
			}
		}
		worker := m.Spec.Replicas["Worker"].Template.Spec.Containers[0]
		got := append(slices.Clone(worker.Command), worker.Args...)
		if want := []string{"/usr/sbin/sshd", "-De", "-f", "/etc/ssh/nmn/sshd_config"}; !slices.Equal(got, want) {
			t.Errorf("%s: a worker starts %q, want %q", file, got, want)
		}
		server, client := readFile(t, "docker/mpi/sshd_config"), readFile(t, "docker/mpi/ssh_config")
		for text, words := range map[string][]string{
			server: {"HostKey " + m.Spec.SSHPath + "/id_rsa\n", "AuthorizedKeysFile " +
				m.Spec.SSHPath + "/authorized_keys\n"},
			client:                               {"IdentityFile " + m.Spec.SSHPath + "/id_rsa\n"},
			readFile(t, "docker/mpi/known-host"): {m.Spec.SSHPath + "/id_rsa.pub\n"},
		} {
			for _, word := range words {
				if !strings.Contains(text, word) {
					t.Errorf("%s mounts keys at %s, where they are not looked for: no %q", file, m.Spec.SSHPath, word)
				}
			}
		}
		if port := pinned(t, "docker/mpi/sshd_config", `^Port (\d+)$`); port != pinned(t, "docker/mpi/ssh_config",
			`^  Port (\d+)$`) {
			t.Errorf("the server listens on %s, the client asks elsewhere", port)
		}
		copies := strings.Join(image.all("COPY"), "\n")
		for _, c := range []string{"docker/mpi/sshd_config docker/mpi/known-host " + path.Dir("/etc/ssh/nmn/sshd_config") +
			"/",
			"docker/mpi/ssh_config /etc/ssh/ssh_config.d/nmn.conf"} {
			if !strings.Contains(copies, c) {
				t.Errorf("%s does not copy %s", target, c)
			}
		}
	}
}

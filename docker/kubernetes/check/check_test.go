// Package check holds the manifests to the types of Kubernetes, of the Prometheus Operator and of the MPI Operator. It
// is a module of its own: nothing of it is in the program.
package check

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	mpi "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	mpivalidation "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// kinds makes a value of each kind that a manifest may be.
var kinds = map[meta.TypeMeta]func() any{
	{APIVersion: "batch/v1", Kind: "Job"}:                        func() any { return new(batch.Job) },
	{APIVersion: "v1", Kind: "PersistentVolumeClaim"}:            func() any { return new(core.PersistentVolumeClaim) },
	{APIVersion: "monitoring.coreos.com/v1", Kind: "PodMonitor"}: func() any { return new(monitoring.PodMonitor) },
	{APIVersion: "kubeflow.org/v2beta1", Kind: "MPIJob"}:         func() any { return new(mpi.MPIJob) },
}

// Unknown fields, fields twice and values of another type are errors, where a cluster may leave them out in silence.
func TestManifests_AreOfTheTypes(t *testing.T) {
	files, err := filepath.Glob("../*.yaml")
	if err != nil || len(files) < 9 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range bytes.Split(content, []byte("\n---\n")) {
			if err := strict(document); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

func strict(document []byte) error {
	var kind meta.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return err
	}
	make, ok := kinds[kind]
	if !ok {
		return &unknown{kind}
	}
	value := make()
	if err := yaml.UnmarshalStrict(document, value); err != nil {
		return err
	}
	switch v := value.(type) {
	case *mpi.MPIJob:
		mpi.SetObjectDefaults_MPIJob(v)
		return mpivalidation.ValidateMPIJob(v).ToAggregate()
	case *batch.Job:
		return indexed(v)
	}
	return nil
}

// indexed refuses what a cluster would: the types allow these fields in every Job.
func indexed(j *batch.Job) error {
	mode := j.Spec.CompletionMode
	switch {
	case mode == nil && j.Spec.BackoffLimitPerIndex != nil:
		return errors.New("backoffLimitPerIndex is of Indexed jobs")
	case mode != nil && *mode != batch.IndexedCompletion:
		return fmt.Errorf("completionMode %s", *mode)
	case mode != nil && j.Spec.Completions == nil:
		return errors.New("an Indexed job has a number of completions")
	}
	return nil
}

type unknown struct{ meta.TypeMeta }

func (u *unknown) Error() string { return "no type for " + u.APIVersion + " " + u.Kind }

func TestStrict_RefusesMistakes(t *testing.T) {
	for _, document := range []string{
		"apiVersion: batch/v1\nkind: Job\nspec: {backofLimit: 3}\n",
		"apiVersion: batch/v1\nkind: Job\nspec: {backoffLimit: three}\n",
		"apiVersion: batch/v1\nkind: Job\nkind: Job\n",
		"apiVersion: batch/v2\nkind: Job\n",
		"apiVersion: batch/v1\nkind: Job\nspec: {backoffLimitPerIndex: 3}\n",
		"apiVersion: batch/v1\nkind: Job\nspec: {completionMode: Indexed}\n",
		"apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: a}\nspec: {mpiReplicaSpecs: {Worker: {}}}\n",
		"apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nspec: {slots: 3}\n",
	} {
		if strict([]byte(document)) == nil {
			t.Errorf("accepted: %s", document)
		}
	}
}

package dataset_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"nmn/loader"
	"nmn/loader/dataset"
)

// Open scenes, which need no files, with a fifth of the captions of the training split replaced.
func ExampleOpen() {
	config := dataset.DefaultConfig()
	config.Set, config.TrainSize, config.TestSize, config.Noise = dataset.Scenes, 200, 50, .2
	data, err := dataset.Open(context.Background(), &config, dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer data.Close()
	fmt.Println(data.Train.Len(), "pictures to train on,", data.Test.Len(), "to test,", data.Train.Vocabulary.Len(),
		"words")
	fmt.Println("there is a validation split:", data.Validation != nil)
	// Output:
	// 200 pictures to train on, 50 to test, 36 words
	// there is a validation split: false
}

// Open a table of features whose column split assigns each row to a split.
func ExampleOpen_features() {
	dir, err := os.MkdirTemp("", "nmn-dataset-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "birds.csv")
	table := "id,length,weight,split,sings\na,11,9,train,1\nb,95,4000,train,0\nc,14,20,test,1\n"
	if err := os.WriteFile(file, []byte(table), 0o666); err != nil {
		log.Fatal(err)
	}
	config := dataset.DefaultConfig()
	config.Set, config.Features.Train.Features, config.Features.LabelColumns = dataset.Features, file, []string{"sings"}
	data, err := dataset.Open(context.Background(), &config, dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer data.Close()
	var row loader.Row
	if err := data.Test.Row(context.Background(), 0, &row); err != nil {
		log.Fatal(err)
	}
	fmt.Println(data.Train.Len(), "rows of", data.Width(), "features; the test row is", row.ID, "with classes", row.Labels)
	// Output: 2 rows of 2 features; the test row is c with classes [0]
}

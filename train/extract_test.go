package train

import (
	"errors"
	"math"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/model"
)

func TestExtract_StopsAtAnErrorOfTheWriterAndAtDamagedWeights(t *testing.T) {
	data := sceneSet(t, "train", 20)
	net, err := newNet(t, "stage1", short(), data, "")
	expect.OK(t, err)
	config := loader.DefaultConfig()
	config.BatchSize = 8

	full, rows := errors.New("the disk is full"), 0
	_, err = Extract(t.Context(), net, data, config, []model.Layer{model.FC7}, func(bag int, _ [][]float32) error {
		if bag != rows {
			t.Errorf("bag %d comes as row %d", bag, rows)
		}
		if rows++; rows == 11 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || rows != 11 {
		t.Errorf("%v after %d rows, want the writer's error at once", err, rows)
	}

	bias := named(net, "head.fc8.bias")
	values := make([]float32, bias.W.Len())
	values[1] = float32(math.NaN())
	check(t, net.SetValues(bias, values))
	_, err = Extract(t.Context(), net, data, config, []model.Layer{model.Pool5, model.Probabilities},
		func(int, [][]float32) error {
			t.Error("a row of damaged weights is written")
			return nil
		})
	if err == nil || !strings.Contains(err.Error(), data.IDs[0]) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("weights that are NaN: %v", err)
	}
}

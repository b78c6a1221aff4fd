package train

import (
	"testing"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/model"
	"nmn/tools/conform"
)

// tiny makes the net of the fixtures, with the weights that it has, and a plan with the batch.
func tiny(t *testing.T, params *conform.Fixture, noise model.NoiseMode) (*model.Net, *model.Plan) {
	t.Helper()
	return tinyOn(t, conform.OpenDevice(t, 2), params, noise)
}

func tinyOn(t *testing.T, device kernels.Backend, params *conform.Fixture,
	noise model.NoiseMode) (*model.Net, *model.Plan) {
	t.Helper()
	n := params.Net()
	c := model.Config{Size: n.Height, Width: n.Width, LastPool: true, MIL: true, Noise: noise, NoisePool: "mean",
		Depths: n.Depths, Widths: n.Widths, FC6: n.FC6, FC6Kernel: n.FC6Kernel, FC6Pad: n.FC6Pad, FC7: n.FC7,
		Classes: n.Classes, Scale: [3]float32{1, 1, 1}}
	net, err := model.New(c, device)
	expect.OK(t, err)
	t.Cleanup(func() { check(t, net.Close()) })
	for _, name := range params.Group("inputs.params") {
		if p := named(net, conform.ParamName(name)); p != nil {
			check(t, net.SetValues(p, params.Parameter("inputs.params", name).Float32s()))
		}
	}
	x := params.Input("x")
	bags := x.Shape[0]
	plan, err := net.Plan(bags, bags, true)
	expect.OK(t, err)
	conform.Put(t, device, plan.X, x.NHWC().Float32s())
	conform.Put(t, device, plan.Labels, params.Input("z").Float32s())
	return net, plan
}

func named(net *model.Net, name string) *model.Param {
	for _, p := range net.Params() {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// fixtureConfig turns the settings of a fixture into a configuration.
func fixtureConfig(f *conform.Fixture) (c Config, steps int) {
	settings := f.Meta["config"].(map[string]any)
	number := func(key string, otherwise float64) float64 {
		if v, ok := settings[key].(float64); ok {
			return v
		}
		return otherwise
	}
	c = plainScenes()
	c.Optimizer, c.Schedule = settings["kind"].(string), Constant
	c.LearningRate, c.WeightDecay, c.Momentum = number("lr", 0), number("wd", 0), number("momentum", .9)
	c.Noise.WeightMultiplier, c.Noise.BiasMultiplier = 1, 1
	c.DecayBiases = settings["nodecay_bias"] != true
	if multipliers, ok := f.Meta["lr_mult"].(map[string]any); ok {
		for name, m := range multipliers {
			c.LearningRates = append(c.LearningRates, Rule{Pattern: conform.ParamName(name), Multiplier: m.(float64)})
		}
	}
	return c, int(number("steps", 0))
}

// descend makes steps on one batch by the functions of the loop, and returns the loss before each and
// after the last.
func descend(t *testing.T, net *model.Net, plan *model.Plan, c Config, steps int) []float32 {
	t.Helper()
	u, err := newUpdater(&Options{Config: c, Net: net, Stage: 1}, newRankState(nil), plan.Bags)
	expect.OK(t, err)
	t.Cleanup(func() { check(t, u.close()) })
	u.schedule = NewSchedule(c.LearningRateConfig, steps)
	var losses []float32
	for step := range steps {
		e := &StepDone{Progress: Progress{Step: step + 1}, Bags: plan.Bags}
		check(t, u.begin(e))
		differentiate(t, u, plan, e)
		check(t, u.finish(nil, e))
		losses = append(losses, float32(e.Loss))
	}
	differentiate(t, u, plan, &StepDone{Progress: Progress{Step: steps + 1}})
	sum, _, err := u.results.wait()
	check(t, err)
	return append(losses, float32(sum/float64(plan.Bags)))
}

// differentiate computes the gradients of a plan whose input is there.
func differentiate(t *testing.T, u *updater, plan *model.Plan, e *StepDone) {
	t.Helper()
	u.results.begin()
	check(t, u.prepare(work{plan: plan, last: true}, e))
	check(t, u.Net.Step(plan, u.options))
	check(t, u.measure())
	check(t, u.results.keep(plan))
}

func checkParams(t *testing.T, net *model.Net, f *conform.Fixture, group string) {
	t.Helper()
	values := weights(t, net)
	for _, name := range f.Group("expected." + group) {
		got, ok := values[conform.ParamName(name)]
		if !ok {
			t.Fatalf("the net has no %s", name)
		}
		f.Parameter("expected."+group, name).Check(t, got)
	}
}

func TestTinyNet_OptimizersOverManySteps(t *testing.T) {
	params := conform.LoadFixture(t, "tiny_net_params")
	for _, pattern := range []string{"tiny_net_sgd*", "tiny_net_adam*"} {
		for _, name := range conform.FixtureNames(t, pattern) {
			t.Run(name, func(t *testing.T) {
				f := conform.LoadFixture(t, name)
				net, plan := tiny(t, params, model.FeatureDependent)
				c, steps := fixtureConfig(f)
				f.Expected("loss").Check(t, descend(t, net, plan, c, steps))
				checkParams(t, net, f, "params")
			})
		}
	}
}

func TestTinyNet_TwoStages(t *testing.T) {
	params, f := conform.LoadFixture(t, "tiny_net_params"), conform.LoadFixture(t, "tiny_net_two_stage")
	c, steps := fixtureConfig(f)
	first, plan := tiny(t, params, model.NoNoise)
	f.Expected("loss_stage1").Check(t, descend(t, first, plan, c, steps))
	checkParams(t, first, f, "params_stage1")

	second, plan := tiny(t, params, model.FeatureDependent)
	for _, p := range first.Params() {
		values, err := first.Values(p)
		check(t, err)
		check(t, second.SetValues(named(second, p.Name), values))
	}
	start := f.Meta["nmn_init"].(map[string]any)
	classes := second.Config().Classes
	bias := make([]float32, 4*classes) // [observed][true][class]
	for i := range bias {
		if bias[i] = float32(start["b_diag"].(float64)); i/classes == 1 || i/classes == 2 {
			bias[i] = float32(start["b_offdiag"].(float64))
		}
	}
	u := named(second, "nmn.weight")
	check(t, second.SetValues(u, make([]float32, u.W.Len())))
	check(t, second.SetValues(named(second, "nmn.bias"), bias))
	f.Expected("loss_stage2").Check(t, descend(t, second, plan, c, steps))
	checkParams(t, second, f, "params_final")
}

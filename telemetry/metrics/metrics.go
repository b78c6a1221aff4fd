package metrics

import (
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"nmn/train"
)

// Metrics are the metrics that a run exports to Prometheus, all with the prefix nmn_ and in base units.
// Memory and time of the process are exported too, under the usual process_ names.
type Metrics struct {
	Loss         prometheus.Gauge   // at the last step, nats per bag
	LearningRate prometheus.Gauge   // at the last step
	GradientNorm prometheus.Gauge   // at the last step, without clipping
	Epoch        prometheus.Gauge   // the current one, from 1
	Step         prometheus.Gauge   // the last one of the run, from 1, also by processes before this one
	PlannedSteps prometheus.Gauge   // steps of the run
	DeviceBytes  prometheus.Gauge   // memory of net and optimizer
	Images       prometheus.Counter // frames trained on by this process
	Steps        prometheus.Counter // updates made by this process
	DataWait     prometheus.Counter // seconds that steps waited for the loader
	Ranks        prometheus.Gauge   // that train together; 1 for a process alone
	RankWait     prometheus.Counter // seconds that this rank waited in steps for others
	MostRankWait prometheus.Counter // the same, for the rank of each step that waited longest
	SlowestRank  prometheus.Gauge   // the rank for which the others waited in the last step
	BadSamples   prometheus.Counter // bags left out because they could not be read
	StepDuration prometheus.Histogram
	Validation   *prometheus.GaugeVec // figures of the last validation, by measure (train.Measures)
	Checkpoints  prometheus.Counter   // files written by this process
	Info         *prometheus.GaugeVec // 1 for the run in progress, which the labels name
	State        *prometheus.GaugeVec // 1 for the state of the process's run, 0 for the others (Enter)

	states *states
}

// Run describes the run that the metrics measure.
type Run struct {
	Name              string // name of the process's run, whatever arms it trains one after the other
	Arm               string
	MIL               bool
	Noise             float64 // share of the training labels that were replaced
	Seed              uint64
	Device            string
	Version, Revision string // nmn's module version and the revision it was built from
}

var infoLabels = []string{"run", "arm", "mil", "noise", "seed", "device", "version", "revision"}

// New makes the metrics and registers them.
func New(registry prometheus.Registerer) (*Metrics, error) {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "nmn", Name: name, Help: help})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "nmn", Name: name, Help: help})
	}
	m := &Metrics{
		Loss:         gauge("loss", "Loss of the last step in nats, summed over classes and averaged over bags."),
		LearningRate: gauge("learning_rate", "Learning rate of the last step."),
		GradientNorm: gauge("gradient_norm", "Euclidean norm of the gradient of the last step, before clipping."),
		Epoch:        gauge("epoch", "Current epoch, counted from 1."),
		Step:         gauge("step", "Last step of the run, counted from 1."),
		PlannedSteps: gauge("planned_steps", "Steps of the whole run."),
		DeviceBytes:  gauge("device_memory_bytes", "Device memory of network and optimizer."),
		Images:       counter("images_total", "Images (frames) trained on."),
		Steps:        counter("steps_total", "Updates of the parameters."),
		DataWait:     counter("data_wait_seconds_total", "Time that steps waited for the loader."),
		Ranks:        gauge("ranks", "Processes that train together."),
		RankWait:     counter("rank_wait_seconds_total", "Time that steps of this process waited for other ranks."),
		MostRankWait: counter("rank_wait_most_seconds_total", "Time that the longest waiting rank of each step waited."),
		SlowestRank:  gauge("slowest_rank", "Rank that waited least in the last step: the others waited for it."),
		BadSamples:   counter("bad_samples_total", "Bags left out because they could not be read."),
		Checkpoints:  counter("checkpoints_total", "Checkpoints written."),
		StepDuration: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "nmn", Name: "step_duration_seconds",
			Help:    "Duration of a step, with the wait for data.",
			Buckets: prometheus.ExponentialBuckets(.001, 2, 18), // the first ends at 1 ms, the last at 131 s
		}),
		Validation: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "nmn", Name: "validation_measure",
			Help: "Figure of the last validation, over all classes."}, []string{"measure"}),
		Info: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "nmn", Name: "run_info",
			Help: "Always 1; the labels name the run in progress and the program."}, infoLabels),
		State: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "nmn", Name: "run_state",
			Help: "1 for the current or final state of the run; 0 for the other states."}, []string{"state"}),
	}
	m.states = newStates(m.State)
	for _, c := range []prometheus.Collector{m.Loss, m.LearningRate, m.GradientNorm, m.Epoch, m.Step, m.PlannedSteps,
		m.DeviceBytes,
		m.Images, m.Steps, m.DataWait, m.BadSamples, m.Checkpoints, m.Ranks, m.RankWait,
		m.MostRankWait, m.SlowestRank, m.StepDuration, m.Validation, m.Info, m.State,
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Begin sets the next run. Figures of the previous run's validations are removed; figures of its steps stay
// until the first step.
func (m *Metrics) Begin(r Run) {
	m.Validation.Reset()
	m.Info.Reset()
	m.Info.WithLabelValues(strings.ToValidUTF8(r.Name, "\ufffd"), r.Arm, strconv.FormatBool(r.MIL),
		strconv.FormatFloat(r.Noise, 'g', 4, 64), strconv.FormatUint(r.Seed, 10), r.Device, r.Version, r.Revision).Set(1)
}

// Enter sets the state of the run, or how it has ended. Starting, Training and Validating follow from the
// events of training by themselves.
func (m *Metrics) Enter(s State) { m.states.enter(s) }

// Observer keeps the metrics up to date.
func (m *Metrics) Observer() train.Observer {
	return train.Observer{
		Step:   m.step,
		Scored: func(int) { m.Enter(Validating) },
		Bad:    func(e train.BadSamples) { m.BadSamples.Add(float64(len(e.New))) },
		Saved: func(train.Saved) {
			m.Checkpoints.Inc()
		},
		Evaluated: func(e train.Evaluated) {
			for _, name := range train.Measures() {
				if value := train.Measure(name, e.Result); value.Defined() {
					m.Validation.WithLabelValues(name).Set(float64(value))
				}
			}
		},
	}
}

func (m *Metrics) step(e train.StepDone) {
	m.Enter(Training)
	m.Loss.Set(e.Loss)
	m.LearningRate.Set(e.LearningRate)
	m.GradientNorm.Set(e.GradNorm)
	m.Epoch.Set(float64(e.Epoch))
	m.Step.Set(float64(e.Step))
	m.PlannedSteps.Set(float64(e.Steps))
	m.DeviceBytes.Set(float64(e.DeviceBytes))
	m.Images.Add(float64(e.Images))
	m.Steps.Inc()
	m.DataWait.Add(e.DataWait.Seconds())
	m.StepDuration.Observe(e.Duration.Seconds())
	m.Ranks.Set(float64(max(1, e.Ranks)))
	m.RankWait.Add(e.Wait.Seconds())
	m.MostRankWait.Add(e.MostWait.Seconds())
	m.SlowestRank.Set(float64(e.Slowest))
}

// State is the current state of a process's run, or how it has ended.
type State string

// The states.
const (
	Starting    State = "starting"   // data are read, nothing has been trained
	Training    State = "training"   // steps are made
	Validating  State = "validating" // a validation, or the evaluation at the end of a training
	Finished    State = "finished"
	Failed      State = "failed"
	Interrupted State = "interrupted" // the progress has been saved
)

// States are all of them.
func States() []State {
	return []State{Starting, Training, Validating, Finished, Failed, Interrupted}
}

// states is a gauge for each state; one of them is 1. They have no label of the run. With such a label, a run that
// another one follows within the process would keep the last value of its series, and look as if it were still at work.
type states struct {
	mu     sync.Mutex
	gauges map[State]prometheus.Gauge
	now    State
}

func newStates(vector *prometheus.GaugeVec) *states {
	s := &states{gauges: map[State]prometheus.Gauge{}}
	for _, state := range States() {
		s.gauges[state] = vector.WithLabelValues(string(state))
	}
	s.enter(Starting)
	return s
}

// enter sets the gauge of a state, and then the gauge of the previous one to 0: a scrape between the two finds a state.
func (s *states) enter(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == s.now {
		return
	}
	s.gauges[state].Set(1)
	if s.now != "" {
		s.gauges[s.now].Set(0)
	}
	s.now = state
}

package model

import (
	"fmt"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
)

// played is the memory of the maps while a test plays through a step: the last writer of each place.
type played struct {
	t      *testing.T
	name   string
	op     int // that runs
	writes []write
}

type write struct {
	what     string
	at, size int
}

func (p *played) write(what string, l *life) {
	p.t.Helper()
	p.lives(what, l)
	p.writes = append(p.writes, write{what, l.at, l.size})
}

func (p *played) lives(what string, l *life) {
	p.t.Helper()
	if p.op < l.from || p.op > l.to {
		p.t.Errorf("%s: operation %d needs %s, which lives from %d to %d", p.name, p.op, what, l.from, l.to)
	}
}

// read fails unless the tensor was the last one written anywhere in its place.
func (p *played) read(by, what string, l *life) {
	p.t.Helper()
	p.lives(what, l)
	for i := len(p.writes) - 1; i >= 0; i-- {
		w := p.writes[i]
		if w.what == what && w.at == l.at {
			return
		}
		if w.at < l.at+l.size && l.at < w.at+w.size {
			p.t.Errorf("%s: %s reads %s, which %s has overwritten", p.name, by, what, w.what)
			return
		}
	}
	p.t.Errorf("%s: %s reads %s, which was never written", p.name, by, what)
}

// Each operation of a step finds its inputs intact. The order of operations follows forward.go and
// backward.go.
func TestLayout_KeepsWhatIsStillRead(t *testing.T) {
	resnet, err := ResNet("resnet50", 20, true)
	expect.OK(t, err)
	for name, config := range map[string]Config{
		"vgg16": VGG16(20, true), "scenes": Scenes(20, true), "resnet50": resnet,
		"features": MLP(30, 4, []int{20, 10}), "one layer": MLP(30, 4, nil),
		"basic blocks": smallResNet(Basic, FeatureDependent), "bottlenecks": smallResNet(Bottleneck, NoNoise),
	} {
		n, err := New(config, counted{conform.OpenCPU(t, 1), tensor.FP32})
		expect.OK(t, err)
		for _, training := range []bool{false, true} {
			l, err := n.layout(3, training)
			expect.OK(t, err)
			p := &played{t: t, name: fmt.Sprintf("%s, training %t", name, training)}
			p.play(n, l, training)
			for _, m := range append(l.maps, l.gradients...) {
				if m.at+m.size > l.size || m.at%128 != 0 {
					t.Errorf("%s: elements %d to %d of %d", p.name, m.at, m.at+m.size, l.size)
				}
			}
		}
	}
}

func (p *played) play(n *Net, l layout, training bool) {
	units := len(n.units)
	y := func(m int) string { return fmt.Sprint("map ", m) }
	readMap := func(by string, m int) {
		if m > 0 {
			p.read(by, y(m), l.maps[m-1])
		}
	}
	for i := range l.maps {
		by := fmt.Sprint("layer ", i+1)
		if i < units {
			readMap(by, n.units[i].X)
			readMap(by, n.units[i].Shortcut)
		} else {
			readMap(by, i)
		}
		p.write(y(i+1), l.maps[i])
		p.op++
	}
	readMap("the classifier", len(l.maps))
	p.op++
	if !training {
		readMap("Extract", units+n.config.tap())
		readMap("Extract", len(l.maps))
		return
	}
	dy := func(m int) string { // the gradient of a sum is also its shortcut's
		for m > 0 && m <= units && n.units[m-1].Shortcut > 0 {
			m = n.units[m-1].Shortcut
		}
		return fmt.Sprint("gradient ", m)
	}
	back := func(by string, m int) {
		if m > 0 {
			readMap(by, m)
			p.write(dy(m), l.gradients[m-1])
		}
	}
	back("the classifier, backward,", len(l.maps))
	for i := len(l.maps) - 1; i >= 0; i-- {
		by, below := fmt.Sprintf("layer %d, backward,", i+1), i
		p.op++
		p.read(by, dy(i+1), l.gradients[i])
		if i < units {
			below = n.units[i].X
			if n.units[i].Kind != Convolution {
				readMap(by, i+1)
			}
		}
		readMap(by, below)
		back(by, below)
		p.read(by, dy(i+1), l.gradients[i])
	}
	p.op++
	readMap("the end", units+n.config.tap())
}

// The memory of a step is hardly more than its maps. Without training it is the memory of two or three maps.
func TestLayout_TakesLittle(t *testing.T) {
	resnet, err := ResNet("resnet50", 20, true)
	expect.OK(t, err)
	for name, config := range map[string]Config{"vgg16": VGG16(20, true), "resnet50": resnet} {
		n, err := New(config, counted{conform.OpenCPU(t, 1), tensor.FP32})
		expect.OK(t, err)
		sum, largest := 0, 0
		for _, s := range n.shapes()[:len(n.shapes())-1] {
			sum, largest = sum+s.h*s.w*s.c, max(largest, s.h*s.w*s.c)
		}
		training, err := n.layout(1, true)
		expect.OK(t, err)
		without, err := n.layout(1, false)
		expect.OK(t, err)
		t.Logf("%s: maps of %d values, the largest %d; a step takes %d, without training %d", name, sum, largest,
			training.size, without.size)
		if float64(training.size) > 1.05*float64(sum) {
			t.Errorf("%s: a step takes %d values, its maps %d", name, training.size, sum)
		}
		if without.size > 3*largest {
			t.Errorf("%s: without training %d values, the largest map has %d", name, without.size, largest)
		}
	}
}

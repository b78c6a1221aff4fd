package model

import "fmt"

// NodeKind is the operation of a node of a backbone.
type NodeKind uint8

// The kinds of nodes.
const (
	Convolution NodeKind = iota
	MaxPool2             // 2×2 maxima with stride 2 in ceil mode
	MaxPool3             // 3×3 maxima with stride 2 and padding 1 in floor mode
)

// Node is one operation of the backbone: it makes a feature map from one that is there already. Map 0 is the input of
// the net and map i+1 the output of node i.
type Node struct {
	Kind NodeKind
	// Name is the layer name of a convolution, such as conv3_2 or layer1.0.conv1. Its parameters are
	// backbone.NAME.weight and backbone.NAME.bias. File is its name in weight files.
	Name, File string
	X          int // the map that it reads
	// Shortcut is the map that is added to the convolution before the ReLU; 0 for none.
	Shortcut int
	H, W, C  int // of its output, for one frame
	// Kernel, Stride and Pad are the geometry of a convolution.
	Kernel, Stride, Pad int
	ReLU                bool
}

// Backbone lists the operations from the input to the last feature map. A net on features has none.
func (c Config) Backbone() []Node {
	g := graph{height: c.Size, width: c.width()}
	if c.Residual != Plain {
		g.residual(c)
	} else {
		g.plain(c)
	}
	return g.nodes
}

// graph puts a backbone together.
type graph struct {
	nodes         []Node
	height, width int // of the input
}

// size is the height and width of a map.
func (g *graph) size(m int) (h, w int) {
	if m == 0 {
		return g.height, g.width
	}
	return g.nodes[m-1].H, g.nodes[m-1].W
}

// conv adds a convolution of map x, whose output has C channels, and returns its map.
func (g *graph) conv(x int, node Node) int {
	node.X = x
	h, w := g.size(x)
	node.H, node.W = (h+2*node.Pad-node.Kernel)/node.Stride+1, (w+2*node.Pad-node.Kernel)/node.Stride+1
	g.nodes = append(g.nodes, node)
	return len(g.nodes)
}

// pool adds a pool of map x and returns its map. Windows of either kind halve the rows and columns, rounded
// up.
func (g *graph) pool(x int, kind NodeKind) int {
	h, w := g.size(x)
	g.nodes = append(g.nodes, Node{Kind: kind, X: x, H: (h + 1) / 2, W: (w + 1) / 2, C: g.nodes[x-1].C})
	return len(g.nodes)
}

// plain adds VGG's blocks of 3×3 convolutions, each with a pool.
func (g *graph) plain(c Config) {
	x, index := 0, 0 // index counts torchvision's features: convolution, ReLU, ..., pool
	for i, depth := range c.Depths {
		for j := range depth {
			x = g.conv(x, Node{Name: blockName(i, j), File: fmt.Sprintf("features.%d", index), C: c.Widths[i], Kernel: 3,
				Stride: 1, Pad: 1, ReLU: true})
			index += 2
		}
		if i < len(c.Depths)-1 || c.LastPool {
			x = g.pool(x, MaxPool2)
		}
		index++
	}
}

// blockName is the name that VGG's authors gave to convolution j of block i.
func blockName(i, j int) string { return fmt.Sprintf("conv%d_%d", i+1, j+1) }

// featureGrid is the height and width of the last feature map.
func (c Config) featureGrid() (h, w int) {
	h, w = c.Size, c.width()
	halvings := len(c.Depths)
	switch {
	case c.Residual != Plain:
		halvings++ // stem and pool; the first stage has none
	case halvings > 0 && !c.LastPool:
		halvings--
	}
	for range halvings {
		h, w = (h+1)/2, (w+1)/2
	}
	return h, w
}

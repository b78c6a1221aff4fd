package main

import (
	"go/ast"
	"go/types"
	"regexp"
	"strings"
)

// opposites are functions that replace others.
var opposites = map[string]string{
	"min": "max", "max": "min", "math.Min": "math.Max", "math.Max": "math.Min",
	"math.Floor": "math.Ceil", "math.Ceil": "math.Floor", "slices.Min": "slices.Max", "slices.Max": "slices.Min",
	"strings.HasPrefix": "strings.HasSuffix", "strings.HasSuffix": "strings.HasPrefix",
	"strings.Index": "strings.LastIndex", "strings.LastIndex": "strings.Index",
}

// symmetric are functions that do not mind the order of their arguments, or take sizes that must have it. errors.Join
// puts messages in another order at most, and errors.Is finds a bare io.EOF either way round.
var symmetric = regexp.MustCompile(`^(min|max|complex|make|errors\.(Join|Is)|math/bits\.(Add|Mul)\d*)$|` +
	`\.(Min|Max|Equal|EqualFold|DeepEqual|Hypot)$`)

// draws are names of arguments that make random numbers differ between epochs, or between uses.
var draws = regexp.MustCompile(`(?i)^(seed|epoch|step|sample|salt|purpose|key|stream|round|fold)$`)

func (s *scan) call(n *ast.CallExpr) {
	callee := s.callee(n)
	if opposite, known := opposites[callee]; known && s.text(n.Fun) == callee {
		s.show(extreme, n, s.text(n), opposite+s.text(n)[len(callee):], opposite)
	}
	signature, ok := s.info.TypeOf(n.Fun).(*types.Signature)
	if !ok {
		return
	}
	for i, argument := range n.Args {
		if i < signature.Params().Len() {
			s.zero(signature.Params().At(i).Name(), argument)
		}
		if i > 0 && !n.Ellipsis.IsValid() && !symmetric.MatchString(callee) {
			s.exchange(n.Args[i-1], argument)
		}
	}
}

// zero replaces an integer argument such as a seed or an epoch by 0.
func (s *scan) zero(parameter string, argument ast.Expr) {
	name := s.text(argument)
	name = name[strings.LastIndexByte(name, '.')+1:]
	if s.isWhole(argument) && !s.isConstant(argument) && (draws.MatchString(parameter) || draws.MatchString(name)) {
		s.replace(seed, argument, "0")
	}
}

// field does the same with a field of a literal.
func (s *scan) field(n *ast.KeyValueExpr) {
	if key, ok := n.Key.(*ast.Ident); ok {
		s.zero(key.Name, n.Value)
	}
}

// exchange swaps two arguments of one type.
func (s *scan) exchange(a, b ast.Expr) {
	x, y := s.info.TypeOf(a), s.info.TypeOf(b)
	if x == nil || y == nil || !types.Identical(x, y) || s.text(a) == s.text(b) || s.isNil(a) {
		return
	}
	between := string(s.file.text[s.offset(a.End()):s.offset(b.Pos())])
	from := s.text(a) + between + s.text(b)
	with := s.text(b) + between + s.text(a)
	s.show(order, span{a, b}, from, with, with)
}

func (s *scan) isNil(e ast.Expr) bool { return s.info.Types[e].IsNil() }

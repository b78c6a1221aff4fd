package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// scan collects the mutants of one file.
type scan struct {
	fset  *token.FileSet
	info  *types.Info
	file  *source
	above []ast.Node // from the file down to the node that is visited
	found []*mutant
}

// mutants lists the possible changes in a package, in the order of its files.
func (m *module) mutants(p *pkg) []*mutant {
	var found []*mutant
	for _, f := range p.files {
		if ast.IsGenerated(f.parsed) {
			continue
		}
		s := &scan{fset: m.fset, info: p.info, file: f}
		s.walk()
		found = append(found, s.found...)
	}
	return found
}

func (s *scan) walk() {
	ast.Inspect(s.file.parsed, func(n ast.Node) bool {
		if n == nil {
			s.above = s.above[:len(s.above)-1]
			return true
		}
		if s.spared(n) {
			return false
		}
		s.visit(n)
		s.above = append(s.above, n)
		return true
	})
}

func (s *scan) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		s.operator(n)
	case *ast.UnaryExpr:
		s.unary(n)
	case *ast.BasicLit:
		s.literal(n)
	case *ast.Ident:
		s.name(n)
	case *ast.CallExpr:
		s.call(n)
	case *ast.KeyValueExpr:
		s.field(n)
	case *ast.IfStmt:
		s.condition(n)
	case *ast.AssignStmt:
		s.assign(n)
	case *ast.IncDecStmt:
		s.count(n)
	case *ast.ExprStmt:
		s.unused(n)
	case *ast.DeferStmt:
		s.postponed(n)
	case *ast.ReturnStmt:
		s.result(n)
	case *ast.BranchStmt:
		s.branch(n)
	case *ast.RangeStmt:
		s.ranged(n)
	}
}

// texts are functions that make messages, and sinks of logs: their arguments are not behaviour.
var texts = regexp.MustCompile(`^(fmt\.(Errorf|Sprint\w*)|errors\.New|log\..*|log/slog\..*|panic)$`)

// sizes are functions that only reserve room or decide when to clean up, or have such arguments: no result
// depends on them.
var sizes = regexp.MustCompile(`^(slices\.(Grow|Clip)|bufio\.New(Reader|Writer)Size|.*\.Grow|bufio\.Scanner\.Buffer|` +
	`runtime\.\w+|runtime/debug\.\w+|strconv\.\w+|os\.Exit|time\.(Sleep|After|NewTimer|NewTicker))$`)

// speakers are methods whose results are for display.
var speakers = []string{"String", "Error", "GoString", "LogValue"}

// spared reports whether nothing at or below a node is mutated.
func (s *scan) spared(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.StructType, *ast.InterfaceType, *ast.ArrayType, *ast.FuncType, *ast.Field:
		return true
	case *ast.FuncDecl:
		return n.Body == nil || n.Recv != nil && slices.Contains(speakers, n.Name.Name)
	case *ast.GenDecl:
		return n.Tok == token.CONST && usesIota(n)
	case *ast.CallExpr:
		callee := s.callee(n)
		return texts.MatchString(callee) || sizes.MatchString(callee)
	}
	return s.isCapacity(n) || s.isDuration(n)
}

// isCapacity reports whether a node is the capacity of a slice, or the size of a map or channel.
func (s *scan) isCapacity(n ast.Node) bool {
	c, ok := s.parent(0).(*ast.CallExpr)
	if !ok || s.callee(c) != "make" {
		return false
	}
	_, slice := s.info.TypeOf(c.Args[0]).Underlying().(*types.Slice)
	return len(c.Args) > 2 && n == c.Args[2] || !slice && len(c.Args) > 1 && n == c.Args[1]
}

// isDuration reports whether a node is a constant time to wait.
func (s *scan) isDuration(n ast.Node) bool {
	e, ok := n.(ast.Expr)
	if !ok {
		return false
	}
	t, ok := s.info.Types[e]
	return ok && t.Value != nil && t.Type != nil && t.Type.String() == "time.Duration"
}

func usesIota(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "iota" {
			found = true
		}
		return !found
	})
	return found
}

// callee is the full name of the called function: "min", "fmt.Errorf", "bufio.Scanner.Buffer"; "" for a
// value.
func (s *scan) callee(c *ast.CallExpr) string {
	switch f := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		switch o := s.info.Uses[f].(type) {
		case *types.Builtin:
			return o.Name()
		case *types.Func:
			return o.Pkg().Path() + "." + o.Name()
		}
	case *ast.SelectorExpr:
		o, ok := s.info.Uses[f.Sel].(*types.Func)
		if !ok || o.Pkg() == nil {
			return ""
		}
		if receiver := o.Signature().Recv(); receiver != nil {
			name := strings.TrimPrefix(types.TypeString(receiver.Type(), nil), "*")
			return name + "." + o.Name()
		}
		return o.Pkg().Path() + "." + o.Name()
	}
	return ""
}

// parent is the nearest node above the visited one, or the one further nodes up.
func (s *scan) parent(further int) ast.Node {
	if i := len(s.above) - 1 - further; i >= 0 {
		return s.above[i]
	}
	return nil
}

// text is the source of a node.
func (s *scan) text(n ast.Node) string {
	return string(s.file.text[s.offset(n.Pos()):s.offset(n.End())])
}

func (s *scan) offset(p token.Pos) int { return s.fset.Position(p).Offset }

// replace notes a mutant that has a node in another form.
func (s *scan) replace(k kind, n ast.Node, with string) { s.show(k, n, s.text(n), with, with) }

// omit notes a mutant without a statement. The statement stays in a place that never runs, so that no name
// goes unused.
func (s *scan) omit(k kind, n ast.Stmt) {
	s.show(k, n, s.text(n), "if false { "+s.text(n)+" }", "nothing")
}

func (s *scan) show(k kind, n ast.Node, from, with, to string) {
	at := s.fset.Position(n.Pos())
	s.found = append(s.found, &mutant{
		kind: k, from: oneLine(from), to: oneLine(to), file: s.file, line: at.Line,
		start: s.offset(n.Pos()), end: s.offset(n.End()), with: with,
	})
}

// isNumber reports whether an expression has a numeric type, and isWhole an integer type.
func (s *scan) isNumber(e ast.Expr) bool { return s.basic(e)&types.IsNumeric != 0 }
func (s *scan) isWhole(e ast.Expr) bool  { return s.basic(e)&types.IsInteger != 0 }

func (s *scan) basic(e ast.Expr) types.BasicInfo {
	if t := s.info.TypeOf(e); t != nil {
		if b, ok := t.Underlying().(*types.Basic); ok {
			return b.Info()
		}
	}
	return 0
}

// isConstant reports whether the compiler computes the value of an expression.
func (s *scan) isConstant(e ast.Expr) bool { return s.info.Types[e].Value != nil }

// span is the source from one node to another.
type span struct{ first, last ast.Node }

func (s span) Pos() token.Pos { return s.first.Pos() }
func (s span) End() token.Pos { return s.last.End() }

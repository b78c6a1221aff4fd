package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
)

// condition changes the condition of an if as a whole: an if that leaves is never taken, any other is taken
// when it should not be. Comparisons are reversed in place.
func (s *scan) condition(n *ast.IfStmt) {
	if leaves(n.Body) && n.Else == nil {
		k := check
		if c, ok := n.Cond.(*ast.BinaryExpr); ok && s.isErrorCheck(c) {
			k = ignored
		}
		s.show(k, n.Cond, s.text(n.Cond), "false && ("+s.text(n.Cond)+")", "never")
		return
	}
	switch c := ast.Unparen(n.Cond).(type) {
	case *ast.BinaryExpr:
		if c.Op == token.EQL || c.Op == token.NEQ {
			return
		}
	case *ast.UnaryExpr:
		return
	}
	s.replace(negation, n.Cond, "!("+s.text(n.Cond)+")")
}

// leaves reports whether a block ends by leaving a function or the turn of a loop.
func leaves(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	}
	return false
}

// assign leaves out assignments to existing variables, and changes the operator of those with one.
func (s *scan) assign(n *ast.AssignStmt) {
	if other, known := others[n.Tok]; known && s.isNumber(n.Lhs[0]) {
		s.replace(arithmetic, n, s.text(n.Lhs[0])+" "+other.String()+" "+s.text(n.Rhs[0]))
	}
	if n.Tok == token.DEFINE || !s.inBlock() {
		return
	}
	blank := func(e ast.Expr) bool { id, ok := e.(*ast.Ident); return ok && id.Name == "_" }
	if !slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return !blank(e) }) {
		if _, isCall := n.Rhs[0].(*ast.CallExpr); isCall {
			s.omit(call, n)
		}
		return
	}
	s.omit(assignment, n)
}

// count turns ++ into --, but not in the step of a loop.
func (s *scan) count(n *ast.IncDecStmt) {
	if !s.inBlock() {
		return
	}
	s.replace(arithmetic, n, s.text(n.X)+map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok])
}

// inBlock reports whether the visited statement is in a list of statements, not in the head of an if, a
// switch or a loop.
func (s *scan) inBlock() bool {
	switch s.parent(0).(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	}
	return false
}

// guards are calls that keep goroutines apart or together. Without one, a test hangs or a race is there that only the
// race detector sees.
var guards = regexp.MustCompile(`^sync\.|^context\.|\.(Lock|Unlock|RLock|RUnlock|Helper)$`)

// unused leaves out a call whose result is not used.
func (s *scan) unused(n *ast.ExprStmt) {
	c, ok := n.X.(*ast.CallExpr)
	if !ok || !s.inBlock() || s.aside(c) {
		return
	}
	s.omit(call, n)
}

// postponed leaves a defer out.
func (s *scan) postponed(n *ast.DeferStmt) {
	if s.inBlock() && !s.aside(n.Call) && !s.isCancel(n.Call) && !s.isCloseOfFile(n.Call) {
		s.omit(deferred, n)
	}
}

// aside reports whether a call has no effect that a test could check: a guard, a line of a log, or a spared
// call.
func (s *scan) aside(c *ast.CallExpr) bool {
	callee := s.callee(c)
	if texts.MatchString(callee) || sizes.MatchString(callee) || guards.MatchString(callee) {
		return true
	}
	if len(c.Args) > 0 && s.text(c.Args[0]) == "os.Stderr" {
		return true
	}
	return false
}

// isCancel reports whether a call is the cancel function of a context.
func (s *scan) isCancel(c *ast.CallExpr) bool {
	t := s.info.TypeOf(c.Fun)
	return t != nil && t.String() == "context.CancelFunc"
}

// isCloseOfFile reports whether a call closes an *os.File, or a file of a type that embeds one, and drops the error:
// that is done to files that are read, and the runtime closes them too, only later.
func (s *scan) isCloseOfFile(c *ast.CallExpr) bool {
	method, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Close" {
		return false
	}
	t := s.info.TypeOf(method.X)
	if t == nil {
		return false // of a package
	}
	if t.String() == "*os.File" {
		return true
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	fields, ok := t.Underlying().(*types.Struct)
	return ok && fields.NumFields() > 0 && fields.Field(0).Embedded() && fields.Field(0).Type().String() == "*os.File"
}

// isBesideError reports whether an expression is a result next to an error that is certainly not nil: callers
// ignore it.
func (s *scan) isBesideError(n ast.Expr) bool {
	r, ok := s.parent(0).(*ast.ReturnStmt)
	if !ok || !s.returnsError() {
		return false
	}
	switch last := r.Results[len(r.Results)-1].(type) {
	case *ast.CallExpr:
		return last != n && surely.MatchString(s.callee(last))
	case *ast.UnaryExpr:
		return last != n && last.Op == token.AND
	case *ast.Ident:
		i, ok := s.parent(2).(*ast.IfStmt)
		if !ok || s.parent(1) != i.Body {
			return false
		}
		c, ok := i.Cond.(*ast.BinaryExpr)
		return ok && s.isErrorCheck(c) && s.text(c.X) == last.Name
	}
	return false
}

// surely are makers whose error is never nil.
var surely = regexp.MustCompile(`^(fmt\.Errorf|errors\.New)$`)

// makers are functions that make a new error.
var makers = regexp.MustCompile(`^(fmt\.Errorf|errors\.(New|Join))$`)

// result returns nil instead of an error. The function that makes the error is still called.
func (s *scan) result(n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	t, isTuple := s.info.TypeOf(last).(*types.Tuple)
	if isTuple && t.Len() != 1 || !s.returnsError() || s.text(last) == "nil" {
		return
	}
	before := string(s.file.text[s.offset(n.Pos()):s.offset(last.Pos())])
	with := "{ _ = " + s.text(last) + "; " + before + "nil }"
	if c, isCall := last.(*ast.CallExpr); !isCall || makers.MatchString(s.callee(c)) {
		with = "{ if false { _ = " + s.text(last) + " }; " + before + "nil }"
	}
	s.show(failure, n, s.text(n), with, before+"nil")
}

// returnsError reports whether the innermost function around the node that is visited has an error as its last result.
func (s *scan) returnsError() bool {
	for i := range s.above {
		var results *ast.FieldList
		switch f := s.parent(i).(type) {
		case *ast.FuncDecl:
			results = f.Type.Results
		case *ast.FuncLit:
			results = f.Type.Results
		default:
			continue
		}
		return results != nil && s.isError(results.List[len(results.List)-1].Type)
	}
	return false
}

// branch exchanges break and continue if there is no label.
func (s *scan) branch(n *ast.BranchStmt) {
	if n.Label != nil {
		return
	}
	switch n.Tok {
	case token.BREAK:
		s.replace(jump, n, "continue")
	case token.CONTINUE:
		s.replace(jump, n, "break")
	}
}

// ranged leaves the last turn of a loop over a number out, and the first over a slice that has a name.
func (s *scan) ranged(n *ast.RangeStmt) {
	text := s.text(n.X)
	if s.isWhole(n.X) {
		s.replace(loop, n.X, "("+text+") - 1")
		return
	}
	switch n.X.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		if _, ok := s.info.TypeOf(n.X).Underlying().(*types.Slice); ok {
			s.show(loop, n.X, text, text+"[min(1, len("+text+")):]", text+"[1:]")
		}
	}
}

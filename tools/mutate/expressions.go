package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// others are the replacements of operators.
var others = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.SHL: token.SHR, token.SHR: token.SHL, token.AND: token.OR, token.OR: token.AND,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
	token.OR_ASSIGN: token.AND_ASSIGN, token.AND_ASSIGN: token.OR_ASSIGN,
}

// reversed are the comparisons of floats with the other side: a boundary is a value that hardly occurs among floats.
var reversed = map[token.Token]token.Token{
	token.LSS: token.GTR, token.LEQ: token.GEQ, token.GTR: token.LSS, token.GEQ: token.LEQ,
}

func (s *scan) operator(n *ast.BinaryExpr) {
	if s.isConstant(n) {
		return
	}
	other, known := others[n.Op]
	switch n.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		if s.basic(n.X)&types.IsFloat != 0 {
			other = reversed[n.Op]
		}
		s.binary(boundary, n, other)
	case token.EQL, token.NEQ:
		if !s.isErrorCheck(n) {
			s.binary(equality, n, other)
		}
	case token.LAND, token.LOR:
		s.binary(logic, n, other)
	default:
		if known && s.isNumber(n.X) && s.isNumber(n.Y) {
			s.binary(arithmetic, n, other)
		}
	}
}

func (s *scan) binary(k kind, n *ast.BinaryExpr, other token.Token) {
	s.replace(k, n, s.text(n.X)+" "+other.String()+" "+s.text(n.Y))
}

// isErrorCheck reports whether a comparison is err != nil, whose reversal any test would notice.
func (s *scan) isErrorCheck(n *ast.BinaryExpr) bool {
	return n.Op == token.NEQ && s.isError(n.X) && s.text(n.Y) == "nil"
}

func (s *scan) isError(e ast.Expr) bool {
	t := s.info.TypeOf(e)
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

func (s *scan) unary(n *ast.UnaryExpr) {
	switch {
	case n.Op == token.NOT:
		s.replace(negation, n, s.text(n.X))
	case n.Op == token.SUB && !s.isConstant(n):
		s.replace(arithmetic, n, s.text(n.X))
	}
}

// literal changes numbers. Modes of files are left alone.
func (s *scan) literal(n *ast.BasicLit) {
	if s.isBesideError(n) {
		return
	}
	value := constant.MakeFromLiteral(n.Value, n.Kind, 0)
	switch {
	case n.Kind == token.INT && !strings.HasPrefix(n.Value, "0o"):
		if v, exact := constant.Int64Val(value); exact {
			s.replace(number, n, strconv.FormatInt(nextNumber(v), 10))
		}
	case n.Kind == token.FLOAT:
		v, _ := constant.Float64Val(value)
		if v == 0 {
			v = 0.5
		}
		text := strconv.FormatFloat(2*v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		s.replace(number, n, text)
	}
}

// nextNumber is the next integer of a small one, and twice a larger one, because one more than a large number
// is seldom a mistake.
func nextNumber(v int64) int64 {
	if v < 10 {
		return v + 1
	}
	return 2 * v
}

// name changes true and false.
func (s *scan) name(n *ast.Ident) {
	if s.info.Uses[n] == types.Universe.Lookup(n.Name) && !s.isBesideError(n) {
		switch n.Name {
		case "true":
			s.replace(boolean, n, "false")
		case "false":
			s.replace(boolean, n, "true")
		}
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"text/template/parse"
)

func init() { ops["template.parse"] = templateParse }

// templateParse parses a template and shows what came of it: each tree by name, printed, and as a dump of its nodes
// with their positions. Text is base64 in JSON, since it need not be UTF-8.
func templateParse(request []byte) (any, error) {
	var in struct {
		Name      string   `json:"name"`
		Text      []byte   `json:"text"`
		Functions []string `json:"functions"`
		Comments  bool     `json:"comments"`
		Left      string   `json:"left"`
		Right     string   `json:"right"`
	}
	if err := json.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	functions := map[string]any{}
	for _, name := range in.Functions {
		functions[name] = true
	}
	tree := parse.New(in.Name)
	if in.Comments {
		tree.Mode = parse.ParseComments
	}
	set := map[string]*parse.Tree{}
	if _, err := tree.Parse(string(in.Text), in.Left, in.Right, set, functions); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	var out strings.Builder
	for _, name := range names {
		t := set[name]
		fmt.Fprintf(&out, "tree %q empty=%v\n%q\n", name, parse.IsEmptyTree(t.Root), t.Root.String())
		dumpNode(&out, t, t.Root)
	}
	return out.String(), nil
}

func dumpNode(out *strings.Builder, t *parse.Tree, node parse.Node) {
	location, context := t.ErrorContext(node)
	line := func(kind string, more ...any) {
		fmt.Fprintf(out, "%s %d %s", kind, node.Position(), location)
		for _, m := range more {
			fmt.Fprintf(out, " %v", m)
		}
		out.WriteByte('\n')
	}
	list := func(l *parse.ListNode) {
		if l != nil {
			dumpNode(out, t, l)
		}
	}
	branch := func(kind string, n *parse.BranchNode) {
		line(kind, n.Line, n.ElseList != nil)
		dumpNode(out, t, n.Pipe)
		list(n.List)
		list(n.ElseList)
	}
	switch n := node.(type) {
	case *parse.ListNode:
		line("list", len(n.Nodes))
		for _, child := range n.Nodes {
			dumpNode(out, t, child)
		}
	case *parse.TextNode:
		line("text", strconv.Quote(string(n.Text)))
	case *parse.CommentNode:
		line("comment", strconv.Quote(n.Text))
	case *parse.ActionNode:
		line("action", n.Line)
		dumpNode(out, t, n.Pipe)
	case *parse.BreakNode:
		line("break", n.Line)
	case *parse.ContinueNode:
		line("continue", n.Line)
	case *parse.IfNode:
		branch("if", &n.BranchNode)
	case *parse.RangeNode:
		branch("range", &n.BranchNode)
	case *parse.WithNode:
		branch("with", &n.BranchNode)
	case *parse.TemplateNode:
		line("template", n.Line, strconv.Quote(n.Name))
		if n.Pipe != nil {
			dumpNode(out, t, n.Pipe)
		}
	case *parse.PipeNode:
		line("pipe", n.Line, n.IsAssign, len(n.Decl), strconv.Quote(context))
		for _, v := range n.Decl {
			dumpNode(out, t, v)
		}
		for _, c := range n.Cmds {
			dumpNode(out, t, c)
		}
	case *parse.CommandNode:
		line("command")
		for _, a := range n.Args {
			dumpNode(out, t, a)
		}
	case *parse.IdentifierNode:
		line("identifier", n.Ident)
	case *parse.VariableNode:
		line("variable", strings.Join(n.Ident, " "))
	case *parse.DotNode:
		line("dot")
	case *parse.NilNode:
		line("nil")
	case *parse.FieldNode:
		line("field", strings.Join(n.Ident, " "))
	case *parse.ChainNode:
		line("chain", strings.Join(n.Field, " "))
		dumpNode(out, t, n.Node)
	case *parse.BoolNode:
		line("bool", n.True)
	case *parse.NumberNode:
		var faces []any
		if n.IsInt {
			faces = append(faces, fmt.Sprintf("int=%d", n.Int64))
		}
		if n.IsUint {
			faces = append(faces, fmt.Sprintf("uint=%d", n.Uint64))
		}
		if n.IsFloat {
			faces = append(faces, fmt.Sprintf("float=%016x", math.Float64bits(n.Float64)))
		}
		if n.IsComplex {
			faces = append(faces, fmt.Sprintf("complex=%016x,%016x", math.Float64bits(real(n.Complex128)), math.Float64bits(imag(n.Complex128))))
		}
		line("number", faces...)
	case *parse.StringNode:
		line("string", strconv.Quote(n.Text))
	default:
		line("unknown")
	}
}

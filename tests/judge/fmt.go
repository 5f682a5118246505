package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
)

// fmt.sprintf formats: {"op": "fmt.sprintf", "format": base64, "args": [VALUE…]}, a VALUE as of func.call. Answers base64.
//
// fmt.sprint and fmt.sprintln print: {"op": …, "args": [VALUE…]}. Answer base64.
//
// template.call runs a template: {"op": "template.call", "text": "eq .a0 .a1", "args": [VALUE…]}; the arguments are .a0, .a1…
// Answers base64 of what text/template prints, or its error with the place cut off.
//
// json.marshal encodes: {"op": "json.marshal", "value": VALUE, "html": true, "indent": "  "}; html escapes <, > and &.
// Answers base64.
func init() {
	ops["fmt.sprintf"] = func(request []byte) (any, error) {
		var r struct{ Format []byte }
		args, err := withArgs(request, &r)
		return []byte(fmt.Sprintf(string(r.Format), args...)), err
	}
	ops["fmt.sprint"] = func(request []byte) (any, error) {
		args, err := withArgs(request, &struct{}{})
		return []byte(fmt.Sprint(args...)), err
	}
	ops["fmt.sprintln"] = func(request []byte) (any, error) {
		args, err := withArgs(request, &struct{}{})
		return []byte(fmt.Sprintln(args...)), err
	}
	parsed := map[string]*template.Template{}
	ops["template.call"] = func(request []byte) (any, error) {
		var r struct{ Text string }
		args, err := withArgs(request, &r)
		if err != nil {
			return nil, err
		}
		t := parsed[r.Text]
		if t == nil {
			t, err = template.New("t").Option("missingkey=zero").Parse("{{ " + r.Text + " }}")
			if err != nil {
				return nil, err
			}
			parsed[r.Text] = t
		}
		data := map[string]any{}
		for i, arg := range args {
			data[fmt.Sprintf("a%d", i)] = arg
		}
		var out bytes.Buffer
		if err := t.Execute(&out, data); err != nil {
			_, text, _ := strings.Cut(err.Error(), ">: ")
			return nil, fmt.Errorf("%s", text)
		}
		return out.Bytes(), nil
	}
	ops["json.marshal"] = func(request []byte) (any, error) {
		var r struct {
			Value  json.RawMessage
			HTML   bool
			Indent string
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		value, err := goValue(r.Value)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(r.HTML)
		encoder.SetIndent("", r.Indent)
		err = encoder.Encode(value)
		return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
	}
}

func withArgs(request []byte, into any) ([]any, error) {
	var r struct{ Args []json.RawMessage }
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(request, into); err != nil {
		return nil, err
	}
	args := make([]any, len(r.Args))
	for i, raw := range r.Args {
		var err error
		if args[i], err = goValue(raw); err != nil {
			return nil, err
		}
	}
	return args, nil
}

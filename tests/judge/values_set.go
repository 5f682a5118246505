package main

import (
	"encoding/json"
	"errors"

	"helm.sh/helm/v4/pkg/strvals"
)

// values.set parses a --set string.
//
// Request: {"op": "values.set", "style": "typed"|"text"|"json"|"literal"|"file", "text": …, "before": [texts of --set]}.
// A file's content is its path in angle brackets; one whose path begins with ! is missing.
//
// Answer: the values, dumped.
func init() {
	ops["values.set"] = func(request []byte) (any, error) {
		var r struct {
			Style  string   `json:"style"`
			Text   string   `json:"text"`
			Before []string `json:"before"`
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		values := map[string]any{}
		for _, text := range r.Before {
			if err := strvals.ParseInto(text, values); err != nil {
				return nil, err
			}
		}
		var err error
		switch r.Style {
		case "typed":
			err = strvals.ParseInto(r.Text, values)
		case "text":
			err = strvals.ParseIntoString(r.Text, values)
		case "json":
			if err := strvals.ParseJSON(r.Text, values); err != nil {
				return nil, errors.New("json") // Helm does not show why.
			}
		case "literal":
			err = strvals.ParseLiteralInto(r.Text, values)
		default:
			err = strvals.ParseIntoFile(r.Text, values, func(path []rune) (any, error) {
				if len(path) > 0 && path[0] == '!' {
					return nil, errors.New("open " + string(path) + ": no such file or directory")
				}
				return "<" + string(path) + ">", nil
			})
		}
		if err != nil {
			return nil, err
		}
		return dump(values), nil
	}
}

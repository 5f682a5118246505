package main

import (
	"encoding/json"

	"helm.sh/helm/v4/pkg/chart/common/util"
)

// values.schema holds values against a JSON Schema.
//
// Request: {"op": "values.schema", "schema": TEXT, "values": {…}, "ints": whether whole numbers are int64}.
//
// Answer: nothing, or Helm's error.
func init() {
	ops["values.schema"] = func(request []byte) (any, error) {
		var r struct {
			Schema string         `json:"schema"`
			Values map[string]any `json:"values"`
			Ints   bool           `json:"ints"`
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		if r.Ints {
			r.Values = ints(r.Values).(map[string]any)
		}
		return nil, util.ValidateAgainstSingleSchema(r.Values, []byte(r.Schema))
	}
}

func ints(v any) any {
	switch v := v.(type) {
	case float64:
		if whole := int64(v); float64(whole) == v {
			return whole
		}
	case map[string]any:
		for key, inner := range v {
			v[key] = ints(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = ints(inner)
		}
	}
	return v
}

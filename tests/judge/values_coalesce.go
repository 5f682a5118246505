package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"

	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
)

type judgedChart struct {
	Metadata chart.Metadata `json:"metadata"`
	Values   map[string]any `json:"values"`
	Charts   []judgedChart  `json:"charts"`
}

func (c judgedChart) chart() *chart.Chart {
	made := &chart.Chart{Metadata: &c.Metadata, Values: c.Values}
	for _, sub := range c.Charts {
		made.AddDependency(sub.chart())
	}
	return made
}

func tree(c *chart.Chart) any {
	charts := []any{}
	for _, sub := range c.Dependencies() {
		charts = append(charts, tree(sub))
	}
	dependencies := []string{}
	for _, d := range c.Metadata.Dependencies {
		dependencies = append(dependencies, fmt.Sprintf("%s %t %s", d.Name, d.Enabled, dump(d.ImportValues)))
	}
	return map[string]any{"name": c.Name(), "charts": charts, "dependencies": dependencies}
}

// values.coalesce processes a chart's dependencies and merges its values.
//
// Request: {"op": "values.coalesce", "chart": {"metadata": as Chart.yaml, "values": {…}, "charts": [the same…]}, "user": {…}}.
//
// Answer: {"values": dumped, "shared": groups of paths at which one map stands, "tree": the charts that are left}.
func init() {
	log.SetOutput(io.Discard)
	slog.SetDefault(slog.New(slog.DiscardHandler))
	ops["values.coalesce"] = func(request []byte) (any, error) {
		var r struct {
			Chart judgedChart    `json:"chart"`
			User  map[string]any `json:"user"`
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		c := r.Chart.chart()
		if err := chartutil.ProcessDependencies(c, r.User); err != nil {
			return nil, err
		}
		values, err := util.CoalesceValues(c, r.User)
		if err != nil {
			return nil, err
		}
		plain := map[string]any(values)
		return map[string]any{"values": dump(plain), "shared": shared(plain), "tree": tree(c)}, nil
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"

	"helm.sh/helm/v4/pkg/chart/common"
	anyloader "helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/ignore"
)

func names(files []*common.File) []string {
	list := []string{}
	for _, f := range files {
		list = append(list, f.Name)
	}
	return list
}

func loaded(c *chart.Chart) any {
	charts := map[string]any{}
	for _, sub := range c.Dependencies() {
		charts[sub.Name()] = loaded(sub)
	}
	return map[string]any{
		"metadata":  c.Metadata,
		"values":    dump(c.Values),
		"templates": names(c.Templates),
		"files":     names(c.Files),
		"charts":    charts,
	}
}

// chart.load makes a chart of files in memory.
//
// Request: {"op": "chart.load", "files": [{"Name": PATH, "Data": base64}]}.
// Answer: {"metadata", "values": dumped, "templates": names, "files": names, "charts": {name: the same}}.
//
// chart.archive: {"op": …, "data": base64 of a gzipped tar archive}, chart.folder: {"op": …, "path": PATH}; the same answer.
//
// chart.version: {"op": …, "constraint": TEXT, "version": TEXT}; whether the version satisfies it, or the error.
//
// chart.ignore: {"op": …, "rules": TEXT, "path": TEXT, "folder": BOOL}; whether .helmignore's rules leave it out.
//
// chart.match: {"op": …, "pattern": TEXT, "name": TEXT}; filepath.Match.
func init() {
	ops["chart.load"] = func(request []byte) (any, error) {
		var r struct {
			Files []*archive.BufferedFile `json:"files"`
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		c, err := loader.LoadFiles(r.Files)
		if err != nil {
			return nil, err
		}
		return loaded(c), nil
	}
	ops["chart.archive"] = func(request []byte) (any, error) {
		var r struct{ Data []byte }
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		c, err := loader.LoadArchive(bytes.NewReader(r.Data))
		if err != nil {
			return nil, err
		}
		return loaded(c), nil
	}
	ops["chart.folder"] = func(request []byte) (any, error) {
		var r struct{ Path string }
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		c, err := anyloader.Load(r.Path)
		if err != nil {
			return nil, err
		}
		return loaded(c.(*chart.Chart)), nil
	}
	ops["chart.version"] = func(request []byte) (any, error) {
		var r struct{ Constraint, Version string }
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		version, err := semver.NewVersion(r.Version)
		if err != nil {
			return nil, err
		}
		constraint, err := semver.NewConstraint(r.Constraint)
		if err != nil {
			return nil, err
		}
		return constraint.Check(version), nil
	}
	ops["chart.ignore"] = func(request []byte) (any, error) {
		var r struct {
			Rules, Path string
			Folder      bool
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		rules, err := ignore.Parse(strings.NewReader(r.Rules))
		if err != nil {
			return nil, err
		}
		rules.AddDefaults()
		return rules.Ignore(r.Path, kind(r.Folder)), nil
	}
	ops["chart.match"] = func(request []byte) (any, error) {
		var r struct{ Pattern, Name string }
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		return filepath.Match(r.Pattern, r.Name)
	}
}

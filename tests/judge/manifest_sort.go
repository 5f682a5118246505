package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"time"

	"helm.sh/helm/v4/pkg/release/v1/util"
)

// kind is the file info of a folder or a file.
type kind bool

func (k kind) Name() string       { return "" }
func (k kind) Size() int64        { return 0 }
func (k kind) ModTime() time.Time { return time.Time{} }
func (k kind) IsDir() bool        { return bool(k) }
func (k kind) Sys() any           { return nil }
func (k kind) Mode() fs.FileMode {
	if k {
		return fs.ModeDir
	}
	return 0
}

// manifest.sort splits and sorts rendered files.
//
// Request: {"op": "manifest.sort", "files": {PATH: TEXT}, "uninstall": BOOL}.
//
// Answer: {"hooks": [TEXT…], "objects": [TEXT…]}, each with all that was read from it.
func init() {
	ops["manifest.sort"] = func(request []byte) (any, error) {
		var r struct {
			Files     map[string]string
			Uninstall bool
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		order := util.InstallOrder
		if r.Uninstall {
			order = util.UninstallOrder
		}
		hooks, objects, err := util.SortManifests(r.Files, nil, order)
		if err != nil {
			return nil, err
		}
		shown := map[string][]string{"hooks": {}, "objects": {}}
		for _, h := range hooks {
			shown["hooks"] = append(shown["hooks"], fmt.Sprintf("%s %s/%s %v %d %v %v %q", h.Path, h.Kind, h.Name, h.Events, h.Weight, h.DeletePolicies, h.OutputLogPolicies, h.Manifest))
		}
		for _, m := range objects {
			name := ""
			if m.Head.Metadata != nil {
				name = m.Head.Metadata.Name
			}
			shown["objects"] = append(shown["objects"], fmt.Sprintf("%s %s %s/%s %q", m.Name, m.Head.Version, m.Head.Kind, name, m.Content))
		}
		return shown, nil
	}
}

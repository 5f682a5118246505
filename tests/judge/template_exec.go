package main

import (
	"encoding/json"

	"sigs.k8s.io/yaml"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	v2util "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
)

// template.exec renders a chart in memory as `helm template rel CHART --namespace ns` does, up to what the templates write.
//
// Request: {"op": "template.exec", "files": [{"Name": PATH, "Data": base64}], "values": YAML, "upgrade": BOOL}.
// Answer: base64 by the name of the rendered file.
func init() {
	ops["template.exec"] = func(request []byte) (any, error) {
		var r struct {
			Files   []*archive.BufferedFile `json:"files"`
			Values  string                  `json:"values"`
			Upgrade bool                    `json:"upgrade"`
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		c, err := loader.LoadFiles(r.Files)
		if err != nil {
			return nil, err
		}
		user := map[string]any{}
		if err := yaml.Unmarshal([]byte(r.Values), &user); err != nil {
			return nil, err
		}
		if err := v2util.ProcessDependencies(c, user); err != nil {
			return nil, err
		}
		release := common.ReleaseOptions{
			Name: "rel", Namespace: "ns", Revision: 1, IsInstall: !r.Upgrade, IsUpgrade: r.Upgrade,
		}
		values, err := util.ToRenderValuesWithSchemaValidation(c, user, release, common.DefaultCapabilities, true)
		if err != nil {
			return nil, err
		}
		rendered, err := engine.Render(c, values)
		if err != nil {
			return nil, err
		}
		files := map[string][]byte{}
		for name, text := range rendered {
			files[name] = []byte(text)
		}
		return files, nil
	}
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"helm.sh/helm/v4/pkg/chart/v2"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
	goYaml "sigs.k8s.io/yaml/goyaml.v3"
)

// yaml.parse reads a document: {"op": "yaml.parse", "text": base64, "target": TARGET, "strict": false}. The targets any, map
// and list unmarshal into an interface{}, a map[string]interface{} and a []interface{}, exact converts to JSON, metadata
// unmarshals into the Chart.yaml type. Answers the JSON in base64.
//
// yaml.print and yaml.pretty write as toYaml and toYamlPretty: {"op": …, "value": VALUE}, a VALUE as of func.call. Answer
// base64.
//
// yaml.documents splits a values file: {"op": "yaml.documents", "text": base64}. Answers the documents up to the first
// error in base64, and that error.
func init() {
	ops["yaml.parse"] = func(request []byte) (any, error) {
		var r struct {
			Text   []byte
			Target string
			Strict bool
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		unmarshal := func(into any) ([]byte, error) {
			var err error
			if r.Strict {
				err = yaml.UnmarshalStrict(r.Text, into)
			} else {
				err = yaml.Unmarshal(r.Text, into)
			}
			if err != nil {
				return nil, err
			}
			return json.Marshal(into)
		}
		switch r.Target {
		case "map":
			return unmarshal(&map[string]any{})
		case "list":
			return unmarshal(&[]any{})
		case "metadata":
			return unmarshal(&v2.Metadata{})
		case "exact":
			if r.Strict {
				return yaml.YAMLToJSONStrict(r.Text)
			}
			return yaml.YAMLToJSON(r.Text)
		default:
			var value any
			return unmarshal(&value)
		}
	}
	value := func(request []byte) (any, error) {
		var r struct{ Value json.RawMessage }
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		return goValue(r.Value)
	}
	ops["yaml.print"] = func(request []byte) (any, error) {
		v, err := value(request)
		if err != nil {
			return nil, err
		}
		return yaml.Marshal(v)
	}
	ops["yaml.pretty"] = func(request []byte) (any, error) {
		v, err := value(request)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		encoder := goYaml.NewEncoder(&out)
		encoder.SetIndent(2)
		err = encoder.Encode(v)
		return out.Bytes(), err
	}
	ops["yaml.documents"] = func(request []byte) (any, error) {
		var r struct{ Text []byte }
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(r.Text)))
		documents := [][]byte{}
		for {
			document, err := reader.Read()
			if errors.Is(err, io.EOF) {
				return map[string]any{"documents": documents}, nil
			}
			if err != nil {
				return map[string]any{"documents": documents, "error": err.Error()}, nil
			}
			documents = append(documents, document)
		}
	}
}

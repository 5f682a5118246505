package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/Masterminds/sprig/v3"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
)

// func.call calls one function of Helm's templates.
//
// Request: {"op": "func.call", "name": NAME, "args": [VALUE…]}, a VALUE being {"int": 1}, {"int64": 1}, {"uint64": 1},
// {"float": 1.5}, {"float": "NaN"}, {"string": "x"}, {"base64": "…"} (a string of any bytes), {"bytes": "…"} (base64 of a
// []byte), {"bool": true}, {"nil": null}, {"list": [VALUE…]}, {"strings": ["a"]} ([]string), {"map": {"k": VALUE}},
// {"time": {"unix": 1, "nanos": 0}} (UTC), {"duration": 1}, {"month": 1}, {"weekday": 0}, {"uint8": 1},
// {"certificate": {"cert": PEM, "key": PEM}}, {"stringmap": {"k": "v"}} (map[string]string), {"capabilities": null} and
// {"kubeversion": null} (fixed ones).
//
// Answer: {"type": as %T, "print": base64 of what a template prints, "json": base64 of toJson}, or Helm's error with the
// place cut off.
func init() {
	ops["func.call"] = func(request []byte) (any, error) {
		var r struct {
			Name string            `json:"name"`
			Args []json.RawMessage `json:"args"`
		}
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		args := make([]any, len(r.Args))
		for i, raw := range r.Args {
			v, err := goValue(raw)
			if err != nil {
				return nil, err
			}
			args[i] = v
		}
		call := r.Name
		for i := range args {
			call += fmt.Sprintf(" $.Values.a%d", i)
		}
		text := "{{ $r := " + call + " }}{{ typeOf $r }}\x00{{ $r }}\x00{{ toJson $r }}"
		values := map[string]any{}
		for i, arg := range args {
			values[fmt.Sprintf("a%d", i)] = arg
		}
		c := &chart.Chart{
			Metadata:  &chart.Metadata{Name: "c", Version: "1.0.0", APIVersion: "v2"},
			Templates: []*common.File{{Name: "t", Data: []byte(text)}},
		}
		out, err := engine.Render(c, map[string]any{"Values": values, "Chart": c.Metadata})
		if err != nil {
			text := err.Error()
			if at := strings.Index(text, ">: "); at >= 0 {
				text = text[at+3:]
			}
			return nil, fmt.Errorf("%s", text)
		}
		parts := strings.SplitN(out["c/t"], "\x00", 2)
		last := strings.LastIndexByte(parts[1], 0)
		return map[string]string{
			"type":  parts[0],
			"print": base64.StdEncoding.EncodeToString([]byte(parts[1][:last])),
			"json":  base64.StdEncoding.EncodeToString([]byte(parts[1][last+1:])),
		}, nil
	}
}

func goValue(raw json.RawMessage) (any, error) {
	var tagged map[string]json.RawMessage
	if err := json.Unmarshal(raw, &tagged); err != nil {
		return nil, err
	}
	for tag, body := range tagged {
		return goTagged(tag, body)
	}
	return nil, fmt.Errorf("empty value")
}

func goTagged(tag string, body json.RawMessage) (any, error) {
	switch tag {
	case "nil":
		return nil, nil
	case "int":
		return decoded[int](body)
	case "int64":
		return decoded[int64](body)
	case "uint64":
		return decoded[uint64](body)
	case "bool":
		return decoded[bool](body)
	case "string":
		return decoded[string](body)
	case "float":
		if body[0] == '"' {
			s, err := decoded[string](body)
			if err != nil {
				return nil, err
			}
			var f float64
			_, err = fmt.Sscan(s, &f)
			return f, err
		}
		return decoded[float64](body)
	case "base64", "bytes":
		b, err := decoded[[]byte](body)
		if tag == "base64" {
			return string(b), err
		}
		return b, err
	case "certificate":
		// Only sprig can make one: what it builds of the two is one.
		c, err := decoded[struct{ Cert, Key string }](body)
		if err != nil {
			return nil, err
		}
		encode := base64.StdEncoding.EncodeToString
		build := reflect.ValueOf(sprig.TxtFuncMap()["buildCustomCert"])
		made := build.Call([]reflect.Value{
			reflect.ValueOf(encode([]byte(c.Cert))), reflect.ValueOf(encode([]byte(c.Key))),
		})
		if err, failed := made[1].Interface().(error); failed {
			return nil, err
		}
		return made[0].Interface(), nil
	case "strings":
		return decoded[[]string](body)
	case "list":
		raws, err := decoded[[]json.RawMessage](body)
		if err != nil {
			return nil, err
		}
		list := make([]any, len(raws))
		for i, raw := range raws {
			if list[i], err = goValue(raw); err != nil {
				return nil, err
			}
		}
		return list, nil
	case "map":
		raws, err := decoded[map[string]json.RawMessage](body)
		if err != nil {
			return nil, err
		}
		m := make(map[string]any, len(raws))
		for k, raw := range raws {
			if m[k], err = goValue(raw); err != nil {
				return nil, err
			}
		}
		return m, nil
	case "time":
		t, err := decoded[struct{ Unix, Nanos int64 }](body)
		return time.Unix(t.Unix, t.Nanos).UTC(), err
	case "duration":
		d, err := decoded[int64](body)
		return time.Duration(d), err
	case "month":
		m, err := decoded[int](body)
		return time.Month(m), err
	case "weekday":
		d, err := decoded[int](body)
		return time.Weekday(d), err
	case "uint8":
		return decoded[uint8](body)
	case "stringmap":
		return decoded[map[string]string](body)
	case "capabilities":
		return capabilities, nil
	case "kubeversion":
		return capabilities.KubeVersion, nil
	}
	return nil, fmt.Errorf("unknown tag %s", tag)
}

var capabilities = func() *common.Capabilities {
	version, err := common.ParseKubeVersion("v1.33.4-gke.1")
	if err != nil {
		panic(err)
	}
	return &common.Capabilities{KubeVersion: *version, APIVersions: common.VersionSet{"v1", "apps/v1"}}
}()

func decoded[T any](body json.RawMessage) (T, error) {
	var v T
	err := json.Unmarshal(body, &v)
	return v, err
}

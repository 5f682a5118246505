package main

import (
	"reflect"
	"text/template"
	_ "unsafe" // for go:linkname

	_ "helm.sh/helm/v4/pkg/engine"
)

//go:linkname funcMap helm.sh/helm/v4/pkg/engine.funcMap
func funcMap() template.FuncMap

// func.list lists the functions that Helm adds to those of text/template, each with its Go type.
//
// Request: {"op": "func.list"}. Answer: {"NAME": "func(string) string", …}.
func init() {
	ops["func.list"] = func([]byte) (any, error) {
		types := map[string]string{}
		for name, function := range funcMap() {
			types[name] = reflect.TypeOf(function).String()
		}
		return types, nil
	}
}

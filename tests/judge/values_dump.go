package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// dump writes a value with its types: i5 is an int64, f5 a float64.
func dump(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quoted(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return "i" + strconv.FormatInt(v, 10)
	case float64:
		return "f" + strconv.FormatFloat(v, 'g', -1, 64)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = dump(item)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	if m := reflect.ValueOf(v); m.Kind() == reflect.Map {
		var parts []string
		for _, key := range m.MapKeys() {
			parts = append(parts, quoted(key.String())+":"+dump(m.MapIndex(key).Interface()))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	}
	return fmt.Sprintf("%T(%v)", v, v)
}

func quoted(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// shared lists the groups of paths at which the very same map stands.
func shared(v any) []string {
	at := map[uintptr][]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		m := reflect.ValueOf(v)
		switch m.Kind() {
		case reflect.Map:
			at[m.Pointer()] = append(at[m.Pointer()], path)
			for _, key := range m.MapKeys() {
				walk(path+"/"+key.String(), m.MapIndex(key).Interface())
			}
		case reflect.Slice:
			for i := range m.Len() {
				walk(path+"/"+strconv.Itoa(i), m.Index(i).Interface())
			}
		}
	}
	walk("", v)
	groups := []string{}
	for _, paths := range at {
		if len(paths) > 1 {
			slices.Sort(paths)
			groups = append(groups, strings.Join(paths, " "))
		}
	}
	slices.Sort(groups)
	return groups
}

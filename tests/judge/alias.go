package main

import (
	"encoding/json"
	"fmt"

	"github.com/mitchellh/copystructure"
)

// alias.run changes maps through their aliases: {"op": "alias.run", "steps": [STEP…]}. Each step works on numbered
// places, of which there are eight, nil at first:
//
//	["dict", to]             an empty map
//	["number", to, n]        an int
//	["list", to, [from…]]    a list of what is in other places
//	["set", map, key, from]  sets an entry
//	["unset", map, key]      removes one
//	["get", to, map, key]    reads one
//	["index", to, list, n]   reads an item of a list
//	["copy", to, from]       a deep copy
//
// A step that does not fit what is in its places does nothing. Answers the JSON of each place in the end, or its error.
func init() {
	ops["alias.run"] = func(request []byte) (any, error) {
		var r struct{ Steps [][]any }
		if err := json.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		var places [8]any
		number := func(v any) int { return int(v.(float64)) }
		for _, step := range r.Steps {
			to := number(step[1])
			m, isMap := places[to].(map[string]any)
			switch step[0] {
			case "dict":
				places[to] = map[string]any{}
			case "number":
				places[to] = number(step[2])
			case "list":
				list := []any{}
				for _, from := range step[2].([]any) {
					list = append(list, places[number(from)])
				}
				places[to] = list
			case "set":
				if isMap {
					m[step[2].(string)] = places[number(step[3])]
				}
			case "unset":
				if isMap {
					delete(m, step[2].(string))
				}
			case "get":
				if from, ok := places[number(step[2])].(map[string]any); ok {
					places[to] = from[step[3].(string)]
				}
			case "index":
				if from, ok := places[number(step[2])].([]any); ok && number(step[3]) < len(from) {
					places[to] = from[number(step[3])]
				}
			case "copy":
				if from := places[number(step[2])]; from != nil {
					copied, err := copystructure.Copy(from)
					if err != nil {
						return nil, err
					}
					places[to] = copied
				}
			default:
				return nil, fmt.Errorf("unknown step %v", step[0])
			}
		}
		answers := make([]string, len(places))
		for i, place := range places {
			text, err := json.Marshal(place)
			answers[i] = string(text)
			if err != nil {
				answers[i] = err.Error()
			}
		}
		return answers, nil
	}
}

// The judge answers what Helm and Go do: one JSON request a line on standard input, one JSON answer a line on
// standard output. Each file beside this one adds an operation.
//
// A request is {"op": NAME, …}; its answer {"ok": …} or {"error": TEXT}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"time"
)

// An op takes the request line and returns what to answer.
type op func(request []byte) (any, error)

var ops = map[string]op{}

func answer(request []byte) (result map[string]any) {
	defer func() {
		if r := recover(); r != nil {
			result = map[string]any{"error": fmt.Sprintf("panic: %v", r)}
		}
	}()
	var head struct {
		Op string `json:"op"`
	}
	if err := json.Unmarshal(request, &head); err != nil {
		return map[string]any{"error": "request: " + err.Error()}
	}
	f, known := ops[head.Op]
	if !known {
		return map[string]any{"error": "unknown op " + head.Op}
	}
	ok, err := f(request)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"ok": ok}
}

func main() {
	// What never ends shall end soon: what contains itself and is printed, and what takes too long.
	debug.SetMaxStack(64 << 20)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			late := time.AfterFunc(time.Minute, func() { os.Exit(3) })
			result := answer(line)
			late.Stop()
			if err := encoder.Encode(result); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			out.Flush()
		}
		if err != nil {
			return
		}
	}
}

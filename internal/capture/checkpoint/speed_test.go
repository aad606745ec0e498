package checkpoint

import (
	"encoding/json"
	"fmt"
	"testing"
)

func BenchmarkEncode(b *testing.B) {
	var documents [][]byte
	var bytes int64
	for i := range 1000 {
		var text string
		for j := range 40 {
			text += fmt.Sprintf("setting-%d=%d\n", (i*7+j*13)%500, i*j*7919%1_000_000)
		}
		d, err := json.Marshal(object(fmt.Sprint(i), map[string]any{"text": text}).Object)
		if err != nil {
			b.Fatal(err)
		}
		documents, bytes = append(documents, d), bytes+int64(len(d))
	}
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		e, err := NewEncoder(request, nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, d := range documents {
			if _, err := e.Add(d); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := e.End(); err != nil {
			b.Fatal(err)
		}
	}
}

package audit

import (
	"bytes"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// plain are parameters as values: the order of keys and the spaces of their text are lost, so that both readers of one
// object make one body.
func plain(parameters map[string]apiextensionsv1.JSON) (map[string]any, error) {
	if len(parameters) == 0 {
		return nil, nil
	}
	values := map[string]any{}
	for name, text := range parameters {
		decoder := json.NewDecoder(bytes.NewReader(text.Raw))
		decoder.UseNumber() // a float64 would round large integers
		var value any
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("read parameter %s: %w", name, err)
		}
		values[name] = value
	}
	return values, nil
}

// canonical is JSON with its keys in one order, and without escapes that only HTML needs.
func canonical(body any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return "", fmt.Errorf("write body: %w", err)
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n"))), nil
}

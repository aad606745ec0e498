package policy

import (
	"encoding/json"
	"fmt"
)

// Condition names a condition of the pack, and what it is asked with.
type Condition struct {
	Name       string         `json:"name"`
	Parameters map[string]any `json:"parameters,omitempty"`
}

// Question is what a pack is asked.
type Question struct {
	Pack       Pack        `json:"pack"`
	Input      Input       `json:"input"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// Encode writes the question for the process that answers it, without the tests of the pack.
func (q Question) Encode() ([]byte, error) {
	q.Pack, q.Input = q.Pack.Deciding(), q.Input.Filled()
	encoded, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("encode question: %w", err)
	}
	return encoded, nil
}

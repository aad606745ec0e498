package child

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// Serve reads one question, and writes the reply of a function to it. It limits its process before
// it reads anything, so nothing else can run in the process afterwards.
func Serve(in io.Reader, out io.Writer, answer func(policy.Question) policy.Reply) error {
	if err := limit(); err != nil {
		return err
	}
	// Most questions are answered before there is anything to collect.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(collectAt)
	return serve(in, out, answer)
}

func serve(in io.Reader, out io.Writer, answer func(policy.Question) policy.Reply) error {
	bounded := &io.LimitedReader{R: in, N: maxQuestion + 1}
	decoder := json.NewDecoder(bounded)
	decoder.UseNumber() // a float would change large numbers
	var q policy.Question
	if err := decoder.Decode(&q); err != nil {
		return fmt.Errorf("read question: %w", err)
	}
	encoded, err := json.Marshal(guarded(q, answer))
	if err != nil {
		return fmt.Errorf("encode reply: %w", err)
	}
	if len(encoded) > maxReply {
		return errors.New("encode reply: it is too long")
	}
	if _, err := out.Write(encoded); err != nil {
		return fmt.Errorf("write reply: %w", err)
	}
	return nil
}

// guarded denies if the evaluation panics: what pack and input are the cause of is no failure to ask.
func guarded(q policy.Question, answer func(policy.Question) policy.Reply) (r policy.Reply) {
	defer func() {
		if recover() != nil {
			r = policy.Deny(q, "The evaluation of the policy pack panicked. This is a bug of the evaluator, which the pack or its input sets off.")
		}
	}()
	return answer(q)
}

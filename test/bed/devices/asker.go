package devices

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// answerWithin is longer than the server keeps an agent that waits for news.
const answerWithin = 150 * time.Second

// ErrRefused is of a request that the server did not take.
var ErrRefused = errors.New("refused by Flight Control")

// asker speaks to the server as one client: an administrator by a token, an agent by a certificate.
type asker struct {
	url, token string
	http       http.Client
}

func newAsker(url, token string, transport *http.Transport) *asker {
	return &asker{url: url + "/api/v1", token: token, http: http.Client{Transport: transport, Timeout: answerWithin}}
}

// ask makes a request and reads the answer into out, if there is one. code is 204 if there is nothing to tell.
func (a *asker) ask(ctx context.Context, method, path string, in, out any) (code int, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return 0, fmt.Errorf("encode request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if a.token != "" {
		request.Header.Set("Authorization", "Bearer "+a.token)
	}
	answer, err := a.http.Do(request)
	if err != nil {
		return 0, fmt.Errorf("ask Flight Control: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, fmt.Errorf("ask Flight Control: %w", err)
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		return answer.StatusCode, fmt.Errorf("%s %s: %w: %s: %s", method, path, ErrRefused, answer.Status, text)
	}
	if out == nil || len(text) == 0 {
		return answer.StatusCode, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return answer.StatusCode, fmt.Errorf("%s %s: read answer: %w", method, path, err)
	}
	return answer.StatusCode, nil
}

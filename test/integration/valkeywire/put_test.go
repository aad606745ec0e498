package valkeywire

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// PutAt implements wiretest.Mover.
func (p *processes) PutAt(ctx context.Context, at wire.Target, slot, keys int) error {
	c, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{at.Addr}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		return fmt.Errorf("connect to %s: %w", at.Addr, wire.ErrUnreachable)
	}
	defer c.Close()
	now := time.Now().UnixNano()
	for i := range keys {
		key := fmt.Sprintf("{%s}%d-%d", tags()[slot], now, i)
		if err := c.Do(ctx, c.B().Set().Key(key).Value("v").Build()).Error(); err != nil {
			return fmt.Errorf("write slot %d to %s: %w: %w", slot, at.Addr, wire.ErrRefused, err)
		}
	}
	return nil
}

// tags has for every slot a word that falls into it.
var tags = sync.OnceValue(func() (words [topology.TotalSlots]string) {
	for i, found := 0, 0; found < len(words); i++ {
		word := strconv.Itoa(i)
		if slot := crc16(word) % topology.TotalSlots; words[slot] == "" {
			words[slot] = word
			found++
		}
	}
	return words
})

// crc16 is XMODEM's, by which keys fall into slots.
func crc16(text string) (crc uint16) {
	for _, b := range []byte(text) {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

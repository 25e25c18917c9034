package main

import (
	"encoding/binary"
	"net/netip"
)

// Frames between the JavaScript side and this module: length (4 bytes), kind (1), node (4), then the fields of the kind.
// Numbers are little-endian. Idle is the seconds after which a UDP flow without a datagram ends; 0 stands for TCP.
// client/netstack/frames.ts is the other side.
const (
	frameOpen      = 1  // in: call, MTU (2), 1 where it has an interface (1), address | out: call, error text
	frameClose     = 2  // in: nothing
	frameConfigure = 3  // in: call, UAPI request | out: call, UAPI answer
	frameAddress   = 4  // in: call, addresses | out: call, error text
	frameRules     = 5  // in: call, rules of both directions | out: call, error text
	frameDatagrams = 6  // both: address, port (2), segment (2), bytes
	frameDial      = 7  // in: connection, idle (2), address, port (2) | out: connection
	frameListen    = 8  // in: listener, idle (2), port (2) | out: listener, error text
	frameUnlisten  = 9  // in: listener
	frameData      = 10 // both: connection, bytes
	frameEnd       = 11 // both: connection; nothing more is sent
	frameReset     = 12 // in: connection | out: connection, reason
	frameCredit    = 13 // both: connection, bytes (4) that the receiver has taken
	framePing      = 14 // in: call, wait in ms (4), bytes of the packet (2), address | out: call, error text
	frameAccepted  = 15 // out: listener, connection, address, port (2)
	framePacket    = 16 // both: an IP packet of a node that has an interface
)

type reader struct {
	bytes []byte
	bad   bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.bytes) {
		r.bad = true
		return make([]byte, n)
	}
	taken := r.bytes[:n]
	r.bytes = r.bytes[n:]
	return taken
}

func (r *reader) u8() byte    { return r.take(1)[0] }
func (r *reader) u16() uint16 { return binary.LittleEndian.Uint16(r.take(2)) }
func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }

// Length, 4 or 16, then the bytes.
func (r *reader) address() netip.Addr {
	address, ok := netip.AddrFromSlice(r.take(int(r.u8())))
	if !ok {
		r.bad = true
	}
	return address
}

func newFrame(kind byte, node uint32, capacity int) []byte {
	frame := make([]byte, 4, 32+capacity)
	frame = append(frame, kind)
	return binary.LittleEndian.AppendUint32(frame, node)
}

func appendAddress(frame []byte, address netip.Addr) []byte {
	bytes := address.AsSlice()
	return append(append(frame, byte(len(bytes))), bytes...)
}

func numbered(kind byte, node, number uint32, rest string) []byte {
	frame := binary.LittleEndian.AppendUint32(newFrame(kind, node, len(rest)+4), number)
	return append(frame, rest...)
}

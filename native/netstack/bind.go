package main

import (
	"encoding/binary"
	"net"
	"net/netip"
	"sync"

	"golang.zx2c4.com/wireguard/conn"
)

const (
	// Packets that a device takes and gives at once. Each has a buffer of 64 KiB on either side.
	batchSize = 16
	// Packets that wait for the device at most; later ones are lost, as on the network.
	receiveQueue = 2048
	maxTrain     = 40
)

type endpoint netip.AddrPort

func (endpoint) ClearSrc()             {}
func (endpoint) SrcToString() string   { return "" }
func (endpoint) SrcIP() netip.Addr     { return netip.Addr{} }
func (e endpoint) DstToString() string { return netip.AddrPort(e).String() }
func (e endpoint) DstIP() netip.Addr   { return netip.AddrPort(e).Addr() }
func (e endpoint) DstToBytes() []byte {
	bytes, _ := netip.AddrPort(e).MarshalBinary()
	return bytes
}

type datagram struct {
	from  endpoint
	bytes []byte
}

// The UDP socket of a device, which the JavaScript side holds.
type bind struct {
	node   uint32
	mutex  sync.Mutex
	in     chan datagram
	closed chan struct{}
}

func newBind(node uint32) *bind {
	return &bind{node: node, in: make(chan datagram, receiveQueue)}
}

func (b *bind) Open(port uint16) ([]conn.ReceiveFunc, uint16, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.closed != nil {
		return nil, 0, conn.ErrBindAlreadyOpen
	}
	closed := make(chan struct{})
	b.closed = closed
	return []conn.ReceiveFunc{func(packets [][]byte, sizes []int, eps []conn.Endpoint) (int, error) {
		var first datagram
		select {
		case first = <-b.in:
		case <-closed:
			return 0, net.ErrClosed
		}
		count := 0
		for one, ok := first, true; ok; {
			sizes[count], eps[count] = copy(packets[count], one.bytes), one.from
			if count++; count == len(packets) {
				break
			}
			select {
			case one = <-b.in:
			default:
				ok = false
			}
		}
		return count, nil
	}}, port, nil
}

func (b *bind) receive(from endpoint, bytes []byte, segment int) {
	if segment == 0 {
		segment = len(bytes)
	}
	for len(bytes) > 0 {
		size := min(segment, len(bytes))
		select {
		case b.in <- datagram{from, bytes[:size]}:
		default:
		}
		bytes = bytes[size:]
	}
}

func (b *bind) Send(bufs [][]byte, ep conn.Endpoint) error {
	to, ok := ep.(endpoint)
	if !ok {
		return conn.ErrWrongEndpointType
	}
	for len(bufs) > 0 && !isBehind() {
		count := trainOf(bufs)
		segment := 0
		if count > 1 {
			segment = len(bufs[0])
		}
		frame := newFrame(frameDatagrams, b.node, count*len(bufs[0]))
		frame = appendAddress(frame, netip.AddrPort(to).Addr())
		frame = binary.LittleEndian.AppendUint16(frame, netip.AddrPort(to).Port())
		frame = binary.LittleEndian.AppendUint16(frame, uint16(segment))
		for _, one := range bufs[:count] {
			frame = append(frame, one...)
		}
		emit(frame)
		bufs = bufs[count:]
	}
	return nil
}

// Packets of one length, the last of which may be shorter, leave as one message.
func trainOf(bufs [][]byte) int {
	count := 1
	for count < len(bufs) && count < maxTrain && len(bufs[count-1]) == len(bufs[0]) && len(bufs[count]) <= len(bufs[0]) {
		count++
	}
	return count
}

func (b *bind) Close() error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.closed != nil {
		close(b.closed)
		b.closed = nil
	}
	return nil
}

func (b *bind) SetMark(uint32) error { return nil }
func (b *bind) BatchSize() int       { return batchSize }

func (b *bind) ParseEndpoint(text string) (conn.Endpoint, error) {
	address, err := netip.ParseAddrPort(text)
	return endpoint(address), err
}

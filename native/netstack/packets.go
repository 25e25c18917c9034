package main

import (
	"errors"
	"net/netip"
	"os"
	"slices"
	"sync"

	"golang.zx2c4.com/wireguard/tun"
)

// Where the IP packets of a node come from and go to, inside of its WireGuard. Every packet passes the filter.
type inside interface {
	tun.Device
	addAddress(netip.Addr) error
	removeAddress(netip.Addr)
}

// A TUN interface that the JavaScript side holds. It carries packets of the node's own addresses alone.
type packetLink struct {
	node      uint32
	filter    *filter
	mtu       int
	in        chan []byte
	events    chan tun.Event
	closed    chan struct{}
	closing   sync.Once
	mutex     sync.Mutex
	addresses []netip.Addr
}

func newPacketLink(node uint32, mtu int, address netip.Addr, filter *filter) *packetLink {
	l := &packetLink{
		node: node, filter: filter, mtu: mtu, addresses: []netip.Addr{address},
		in: make(chan []byte, linkQueue), events: make(chan tun.Event, 1), closed: make(chan struct{}),
	}
	l.events <- tun.EventUp
	return l
}

// Takes a packet of the interface; one that finds the queue full is lost, as on the network.
func (l *packetLink) receive(packet []byte) {
	select {
	case l.in <- packet:
	default:
	}
}

// The present one first.
func (l *packetLink) own() []netip.Addr {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.addresses
}

func (l *packetLink) addAddress(address netip.Addr) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.addresses = append([]netip.Addr{address}, l.addresses...)
	return nil
}

func (l *packetLink) removeAddress(address netip.Addr) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.addresses = slices.DeleteFunc(slices.Clone(l.addresses), func(one netip.Addr) bool { return one == address })
}

func (l *packetLink) passes(packet []byte, isFromPeer bool) bool {
	source, destination, ok := endsOf(packet)
	if !ok {
		return false
	}
	local := source
	if isFromPeer {
		local = destination
	}
	return slices.Contains(l.own(), local) && l.filter.judge(packet, isFromPeer)
}

func endsOf(b []byte) (source, destination netip.Addr, ok bool) {
	switch {
	case len(b) >= 20 && b[0]>>4 == 4:
		return netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20])), true
	case len(b) >= 40 && b[0]>>4 == 6:
		return netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40])), true
	}
	return source, destination, false
}

func (l *packetLink) Read(bufs [][]byte, sizes []int, offset int) (int, error) {
	for {
		var packet []byte
		select {
		case packet = <-l.in:
		case <-l.closed:
			return 0, os.ErrClosed
		}
		count := 0
		for packet != nil {
			if l.passes(packet, false) {
				sizes[count] = copy(bufs[count][offset:], packet)
				count++
			} else if refusal := refusalOf(packet, l.own()); refusal != nil {
				emit(append(newFrame(framePacket, l.node, len(refusal)), refusal...))
			}
			if count == len(bufs) {
				break
			}
			select {
			case packet = <-l.in:
			default:
				packet = nil
			}
		}
		if count > 0 {
			return count, nil
		}
	}
}

func (l *packetLink) Write(bufs [][]byte, offset int) (int, error) {
	for _, one := range bufs {
		if packet := one[offset:]; l.passes(packet, true) {
			emit(append(newFrame(framePacket, l.node, len(packet)), packet...))
		}
	}
	return len(bufs), nil
}

func (l *packetLink) Close() error {
	l.closing.Do(func() {
		close(l.closed)
		close(l.events)
	})
	return nil
}

func (l *packetLink) File() *os.File           { return nil }
func (l *packetLink) MTU() (int, error)        { return l.mtu, nil }
func (l *packetLink) Name() (string, error)    { return "packets", nil }
func (l *packetLink) Events() <-chan tun.Event { return l.events }
func (l *packetLink) BatchSize() int           { return batchSize }

var errNoStack = errors.New("this node has an interface")

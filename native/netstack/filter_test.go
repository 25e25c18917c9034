package main

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

var (
	own  = netip.MustParseAddr("10.96.0.1")
	peer = netip.MustParseAddr("10.96.0.2")
)

const moreFragments = 0x2000

func datagramOf(from, to netip.AddrPort, id, fragment uint16) []byte {
	b := make([]byte, 28)
	b[0], b[9] = 0x45, protocolUDP
	binary.BigEndian.PutUint16(b[4:], id)
	binary.BigEndian.PutUint16(b[6:], fragment)
	source, destination := from.Addr().As4(), to.Addr().As4()
	copy(b[12:], source[:])
	copy(b[16:], destination[:])
	binary.BigEndian.PutUint16(b[20:], from.Port())
	binary.BigEndian.PutUint16(b[22:], to.Port())
	return b
}

func udpPacket(from, to uint16) permissions {
	return permissions{{from: peer, to: peer, udp: []ports{{from, to}}}}
}

func expect(t *testing.T, what string, got, want bool) {
	t.Helper()
	if got != want {
		t.Errorf("%s: passes %v, want %v", what, got, want)
	}
}

func TestDatagramsPassAsTheirPortIsPermitted(t *testing.T) {
	f := newFilter()
	at, from := netip.AddrPortFrom(own, 5000), netip.AddrPortFrom(peer, 6000)
	expect(t, "a datagram without rules", f.judge(datagramOf(from, at, 1, 0), true), false)
	f.use(udpPacket(5000, 5001), nil)
	expect(t, "a permitted port", f.judge(datagramOf(from, at, 1, 0), true), true)
	expect(t, "its answer", f.judge(datagramOf(at, from, 1, 0), false), true)
	expect(t, "a port beside it", f.judge(datagramOf(from, netip.AddrPortFrom(own, 5002), 1, 0), true), false)
	other := netip.AddrPortFrom(netip.MustParseAddr("10.96.0.3"), 6000)
	expect(t, "another peer", f.judge(datagramOf(other, at, 1, 0), true), false)
	expect(t, "a datagram of this node", f.judge(datagramOf(netip.AddrPortFrom(own, 5000), netip.AddrPortFrom(peer, 53), 1, 0), false), false)
	if cut := f.use(nil, nil); len(cut) != 1 {
		t.Errorf("%d flows were cut, want 1", len(cut))
	}
	expect(t, "the answer once the rule is gone", f.judge(datagramOf(at, from, 1, 0), false), false)
}

func TestAnAnswerIsNoConnectionOfThePeer(t *testing.T) {
	f := newFilter()
	f.use(nil, udpPacket(53, 53))
	at, server := netip.AddrPortFrom(own, 5000), netip.AddrPortFrom(peer, 53)
	expect(t, "a datagram before any request", f.judge(datagramOf(server, at, 1, 0), true), false)
	expect(t, "a request", f.judge(datagramOf(at, server, 1, 0), false), true)
	expect(t, "its answer", f.judge(datagramOf(server, at, 1, 0), true), true)
	expect(t, "TCP to that port", f.mayOpen(protocolTCP, peer, 53), false)
}

func TestFragmentedDatagramsAreBounded(t *testing.T) {
	f := newFilter()
	f.use(udpPacket(5000, 5000), nil)
	at, from := netip.AddrPortFrom(own, 5000), netip.AddrPortFrom(peer, 6000)
	for id := range uint16(maxFragmented) {
		expect(t, "a first fragment", f.judge(datagramOf(from, at, id, moreFragments), true), true)
	}
	expect(t, "a later fragment", f.judge(datagramOf(from, at, 7, 185), true), true)
	expect(t, "one fragmented datagram too many", f.judge(datagramOf(from, at, maxFragmented, moreFragments), true), false)
	expect(t, "a whole datagram", f.judge(datagramOf(from, at, maxFragmented, 0), true), true)
	f.swept = time.Now().Add(-sweepInterval)
	for key := range f.fragments {
		f.fragments[key] = time.Now().Add(-fragmentLife)
	}
	expect(t, "one after those have ended", f.judge(datagramOf(from, at, maxFragmented, moreFragments), true), true)
}

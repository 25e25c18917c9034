import { expect, it } from 'vitest';
import { parseDump, peersFile } from './wg-tool.ts';

const KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER = Buffer.alloc(32, 2).toString('base64');

it('writes peers as wg reads them', () => {
  const text = peersFile([
    { publicKey: KEY, allowedIps: ['10.96.0.2/32'], endpoint: { address: '192.0.2.1', port: 9 }, keepalive: 25 },
    { publicKey: OTHER, allowedIps: ['10.96.0.3/32', '10.96.0.4/32'], keepalive: 0 },
  ]);
  expect(text).toBe(`[Peer]
PublicKey = ${KEY}
AllowedIPs = 10.96.0.2/32
PersistentKeepalive = 25
Endpoint = 192.0.2.1:9
[Peer]
PublicKey = ${OTHER}
AllowedIPs = 10.96.0.3/32, 10.96.0.4/32
PersistentKeepalive = 0
`);
});

it('reads a dump', () => {
  const dump = [
    `privatekey\tpublickey\t51820\toff`,
    `${KEY}\t(none)\t[2001:db8::1]:51821\t10.96.0.2/32\t1700000000\t1316\t380\t25`,
    `${OTHER}\t(none)\t(none)\t10.96.0.3/32\t0\t0\t0\toff`,
  ];
  expect(parseDump(`${dump.join('\n')}\n`)).toEqual({
    listenPort: 51_820,
    publicKey: 'publickey',
    peers: [
      {
        publicKey: KEY,
        allowedIps: ['10.96.0.2/32'],
        endpoint: { address: '2001:db8::1', port: 51_821 },
        handshakeAt: 1_700_000_000_000,
        receivedBytes: 1316,
        sentBytes: 380,
      },
      {
        publicKey: OTHER,
        allowedIps: ['10.96.0.3/32'],
        endpoint: null,
        handshakeAt: null,
        receivedBytes: 0,
        sentBytes: 0,
      },
    ],
  });
});

it('reads the dump of an interface without peers', () => {
  expect(parseDump('privatekey\tpublickey\t7\toff\n')).toEqual({ listenPort: 7, publicKey: 'publickey', peers: [] });
});

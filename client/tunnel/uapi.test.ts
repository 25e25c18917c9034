import { expect, it } from 'vitest';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import type { TunnelPeer } from './tunnel.ts';
import { encodeSet, errnoOf, formatEndpoint, parseEndpoint, parseGet } from './uapi.ts';

const KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER = Buffer.alloc(32, 2).toString('base64');
const [HEX, OTHER_HEX] = ['01'.repeat(32), '02'.repeat(32)];

it('writes a change in one request, removals first', () => {
  const put: TunnelPeer[] = [
    {
      publicKey: KEY,
      allowedIps: ['10.96.0.2/32', '10.96.0.3/32'],
      endpoint: { address: 'fd6c:7270::1', port: 51_830 },
      keepalive: 25,
    },
  ];
  const text = encodeSet({ privateKey: Buffer.alloc(32, 3), listenPort: 51_820, removed: [OTHER], put });
  expect(text).toBe(
    `set=1
private_key=${'03'.repeat(32)}
listen_port=51820
public_key=${OTHER_HEX}
remove=true
public_key=${HEX}
endpoint=[fd6c:7270::1]:51830
persistent_keepalive_interval=25
replace_allowed_ips=true
allowed_ip=10.96.0.2/32
allowed_ip=10.96.0.3/32

`,
  );
});

it('changes the endpoint of a peer only where there is that peer', () => {
  expect(encodeSet({ endpoints: [[KEY, { address: '192.0.2.1', port: 7 }]] })).toBe(
    `set=1\npublic_key=${HEX}\nupdate_only=true\nendpoint=192.0.2.1:7\n\n`,
  );
});

it('leaves the endpoint that is there where none is given', () => {
  expect(encodeSet({ put: [{ publicKey: KEY, allowedIps: [], keepalive: 0 }] })).toBe(
    `set=1\npublic_key=${HEX}\npersistent_keepalive_interval=0\nreplace_allowed_ips=true\n\n`,
  );
});

it('reads the state of a device and its peers', () => {
  const answer = `private_key=${'00'.repeat(32)}
listen_port=51820
public_key=${HEX}
preshared_key=${'00'.repeat(32)}
protocol_version=1
endpoint=[2001:db8::1]:51821
last_handshake_time_sec=1700000000
last_handshake_time_nsec=123456789
tx_bytes=380
rx_bytes=1316
persistent_keepalive_interval=25
allowed_ip=10.96.0.2/32
public_key=${OTHER_HEX}
last_handshake_time_sec=0
last_handshake_time_nsec=0
tx_bytes=0
rx_bytes=0
errno=0

`;
  expect(errnoOf(answer)).toBe(0);
  expect(parseGet(answer)).toEqual({
    listenPort: 51_820,
    publicKey: null,
    peers: [
      {
        publicKey: KEY,
        allowedIps: ['10.96.0.2/32'],
        endpoint: { address: '2001:db8::1', port: 51_821 },
        handshakeAt: 1_700_000_000_123,
        receivedBytes: 1316,
        sentBytes: 380,
      },
      { publicKey: OTHER, allowedIps: [], endpoint: null, handshakeAt: null, receivedBytes: 0, sentBytes: 0 },
    ],
  });
});

it('knows an answer that is not complete, and the number of a failure', () => {
  expect(['errno=', 'errno=0\n', 'listen_port=1\nerrno=0\n\n', 'errno=-98\n\n'].map(errnoOf)).toEqual([
    undefined,
    undefined,
    0,
    98,
  ]);
});

it.each([
  ['192.0.2.1:51820', { address: '192.0.2.1', port: 51_820 }],
  ['[fd6c:7270::1]:51830', { address: 'fd6c:7270::1', port: 51_830 }],
  ['[fe80::1%eth0]:1', { address: 'fe80::1%eth0', port: 1 }],
])('reads and writes the endpoint %s', (text, endpoint) => {
  expect(parseEndpoint(text)).toEqual(endpoint);
  expect(formatEndpoint(endpoint)).toBe(text);
});

it.each(['(none)', '', 'example.org:1', '192.0.2.1', '[::1]'])('reads no endpoint from "%s"', (text) => {
  expect(parseEndpoint(text)).toBeNull();
});

it('names the key of a device by its public half', () => {
  const { privateKey, publicKey } = generateKeyPair();
  const held = parseGet(`private_key=${Buffer.from(privateKey).toString('hex')}\nlisten_port=7\nerrno=0\n\n`);
  expect(held).toEqual({ listenPort: 7, publicKey: Buffer.from(publicKey).toString('base64'), peers: [] });
});

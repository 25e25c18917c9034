import { expect, test } from 'vitest';
import { busMannerOf } from './bus-address.ts';

test.each([
  ['nats://127.0.0.1:4222', false, true],
  ['nats://localhost:4222', false, true],
  ['nats://[::1]:4222', false, true],
  ['nats://192.0.2.1:4222', false, false],
  ['nats://plane.example.net:4222', false, false],
  ['nats://127.0.0.1.example.net:4222', false, false],
  ['no address', false, false],
  ['nats://plane.example.net:4222', true, true],
])('a node at %s, in clear asked for: %s, sends its credential without TLS: %s', (url, inClear, signsIn) => {
  expect(busMannerOf(url, inClear, [])).toMatchObject({ tls: undefined, signsIn });
});

test.each(['tls://127.0.0.1:4222', 'tls://[2001:db8::1]:4222', 'TLS://plane.example.net:4222'])(
  'at %s there is TLS or nothing',
  (url) => {
    expect(busMannerOf(url, false, [])).toMatchObject({ tls: { rejectUnauthorized: true }, signsIn: true });
  },
);

test('the certificate of a bus named by its IP address or of another server of it has to name one of them', () => {
  const check = busMannerOf('tls://192.0.2.1:4222', false, ['192.0.2.2:4222']).tls?.checkServerIdentity;
  const certificate = (name: string) => ({ subject: {}, subjectaltname: name }) as never;
  const verdicts = ['IP Address:192.0.2.1', 'IP Address:192.0.2.2', 'DNS:localhost'].map((name) =>
    check?.('localhost', certificate(name)),
  );
  expect(verdicts).toEqual([undefined, undefined, expect.objectContaining({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })]);
});

test.each([
  ['tls://plane.example.net:4222', false, true, true],
  ['nats://plane.example.net:4222', false, true, true],
  ['nats://127.0.0.1:4222', false, true, false],
  ['nats://127.0.0.1:4222', true, true, true],
])(
  'a node at %s, in clear asked for: %s, follows its bus to this machine: %s, and elsewhere: %s',
  (url, inClear, here, away) => {
    const { follows } = busMannerOf(url, inClear, []);
    expect(['127.0.0.1:4223', '192.0.2.1:4222'].map(follows)).toEqual([here, away]);
  },
);

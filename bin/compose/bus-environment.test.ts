import { expect, test } from 'vitest';
import { busProblems } from './bus-environment.ts';
import { environment } from './config.ts';

const URL = { MESH_BUS_URL: 'nats://a:4222' };
const TOKEN = { MESH_SIGNALING_AUTH: 'token' };
const KEYS = { MESH_BUS_KEYS_FILE: 'keys' };

test.each([
  [
    { ...URL, MESH_BUS_LISTEN: '0.0.0.0:4222' },
    'MESH_BUS_URL, MESH_BUS_LISTEN: the bus is either elsewhere or in this process',
  ],
  [{ MESH_BUS_CREDS: 'f' }, 'MESH_BUS_CREDS: is for a bus elsewhere'],
  [{ ...URL, ...TOKEN }, 'MESH_BUS_KEYS_FILE: with MESH_BUS_URL and MESH_SIGNALING_AUTH=token it names'],
  [{ ...URL, ...KEYS }, 'MESH_BUS_KEYS_FILE: is of no use without MESH_SIGNALING_AUTH=token'],
  [{ ...URL, ...TOKEN, ...KEYS, MESH_BUS_CREDS: 'f' }, 'MESH_BUS_CREDS, MESH_BUS_KEYS_FILE: leave MESH_BUS_CREDS out'],
  [{ ...URL, MESH_BUS_CA: 'f' }, 'MESH_BUS_CA: is for servers with TLS'],
])('%j does not go together, and the message says what to do', (given, problem) => {
  expect(busProblems(given)).toEqual([expect.stringContaining(problem)]);
});

test.each([{}, URL, { ...URL, MESH_BUS_LISTEN: 'off' }, { ...URL, ...TOKEN, ...KEYS }, TOKEN])(
  '%j goes together',
  (given) => expect(busProblems(given)).toEqual([]),
);

test('a login in the address of the bus is shown by nothing', () => {
  const parsed = environment.parse({ MESH_BUS_URL: 'nats://user:hunter2@a:4222' });
  expect([JSON.stringify(parsed), String(parsed.MESH_BUS_URL)].join()).not.toContain('hunter2');
});

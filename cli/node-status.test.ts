import { stripVTControlCharacters } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import type { NodeStatus } from '../client/agent/node-status.ts';
import { KEY_SHARED } from '../client/control/standing.ts';
import { asUser } from '../test/kits/process/as-user.ts';
import { OPEN, peerStatus as peer, nodeStatus as status } from '../test/kits/records/node-status.ts';
import { verifies } from '../test/verifies.ts';
import { reasonOf, statusText } from './node-status.ts';
import { runnable } from './own-command.ts';

// Others are told to use sudo.
beforeEach(() => asUser(0));
const NOW = Date.parse('2026-01-01T12:00:00.000Z');

test('people see this node, a row for each peer, and why a peer is not reached directly', () => {
  verifies('device-status', 'device-transport', 'device-handshake', 'device-relay-endpoint');
  const reason = { code: 'checks-failed', detail: 'Nothing came through.' };
  const relayed = {
    transport: 'lrp-ready',
    path: 'relayed',
    endpoint: '[fd6c:7270::1]:51830',
    handshake: null,
    reason,
  } as const;
  const probing = {
    transport: 'probing',
    path: null,
    endpoint: null,
    handshake: null,
    state: 'connecting',
    reason,
  } as const;
  const peers = [peer('web', {}), peer('db', { ...relayed, state: 'idle' }), peer('new', probing)];
  const text = statusText(status(peers), NOW);
  expect(stripVTControlCharacters(text).split('\n')).toEqual([
    'Node           a  10.96.0.1 in 10.96.0.0/24  mesh0 (kernel), UDP 51820',
    'Control plane  https://mesh.example.net  ready, heard 1m30s ago',
    'Bus            nats://mesh.example.net:4222  up',
    'Relay          lrp://mesh.example.net:6266  ready, dropped 3 queue-full',
    'Shared port    yes, seen as 198.51.100.1:51820',
    'Firewall       2 rules in, 1 out; graph version 12',
    'Names          prod.mesh.internal at 10.96.0.1:53, by systemd-resolved',
    'Audit log      41 entries verified 10m ago',
    '',
    'Peer  Address    Transport  Path     Handshake  State       Endpoint',
    'web   10.96.0.2  ice-ready  direct   12s ago    connected   203.0.113.7:51820',
    'db    10.96.0.2  lrp-ready  relayed  never      idle        [fd6c:7270::1]:51830',
    'new   10.96.0.2  probing    -        never      connecting  -',
    '',
    'db: relayed because nothing came through (checks-failed)',
    'new: probing because nothing came through (checks-failed)',
  ]);
});

test('a peer that does not answer is silent, then unreachable', () => {
  const peers = [
    peer('a', { silentMs: 9_000 }),
    peer('b', { silentMs: 12_400 }),
    peer('c', { state: 'unreachable', silentMs: 31_000 }),
  ];
  const text = stripVTControlCharacters(statusText(status(peers), NOW));
  for (const line of [
    /^a .* connected {2}/m,
    /^b .* silent for 12 s {2}/m,
    /^c .* unreachable, silent for 31 s {2}/m,
  ]) {
    expect(text).toMatch(line);
  }
});

test('a node that refuses its block says that this is why it has no peers', () => {
  const cidr = '10.96.0.0/24';
  const refused = { cidr, code: 'own-network', reason: 'it overlaps eth0', remedy: 'Move it.' } as const;
  const { routes, ...rest } = status([]);
  const text = statusText({ ...rest, routes: { ...routes, refused } }, NOW);
  expect(text).toContain(`The overlay of this node is down, because its block ${cidr} is not routed`);
  expect(text).not.toContain('No peers');
});

test('nothing that a control plane or a peer says is taken for a line, a color or a command of the terminal', () => {
  const forged = '\u001B[31mx\nRelay          none\u0007\u202E';
  const { node, control, ...rest } = status([peer(forged, { path: null, reason: { code: 'x', detail: forged } })]);
  const hostile = {
    ...rest,
    node: { ...node, name: forged, newName: { name: forged, detail: forged } },
    control: { ...control, server: forged, trouble: forged },
    trouble: forged,
  } as NodeStatus;
  const text = stripVTControlCharacters(statusText(hostile, NOW));
  expect(text.split('\n').filter((line) => line.startsWith('Relay'))).toHaveLength(1);
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(statusText(hostile, NOW)).not.toContain('\u001B[31m');
});

test('a reason begins with a small letter unless it begins with an abbreviation', () => {
  const because = (detail: string) => reasonOf(peer('db', { path: null, reason: { code: 'x', detail } }));
  expect([because('Nothing came.'), because('STUN is blocked.')]).toEqual([
    'ice-ready because nothing came (x)',
    'ice-ready because STUN is blocked (x)',
  ]);
});

test('a node without peers says what may be the reason, and who knows which it is', () => {
  const text =
    'No peers: this node is the only one in its network, or no policy lets it and another one talk. Which of both: ' +
    'mesh admin list-peers --server https://mesh.example.net';
  expect(statusText(status([]), NOW)).toContain(runnable(text));
});

test('a checkpoint of the audit log that the node refused stands in its status', () => {
  const { log, ...rest } = status([]);
  const finding = { code: 'forked', message: 'There are two histories.', at: '2026-01-01T11:59:00.000Z' };
  expect(statusText({ ...rest, log: { ...log, finding } }, NOW)).toContain(
    'Audit log      REFUSED (forked) 1m ago: There are two histories. Kept: 41 entries verified 10m ago.',
  );
  const none = { ...log, size: null, verifiedAt: null, trouble: 'the control plane is away' };
  expect(statusText({ ...rest, log: none }, NOW)).toContain('none verified yet; the control plane is away');
});

test.each([
  [
    'pending',
    'This node waits for approval, and connects by itself then. An administrator runs: mesh approve p_a --server https://mesh.example.net',
  ],
  [
    'revoked',
    'This node was revoked: its tunnels are down until it is let in again. An administrator runs: mesh approve p_a --server https://mesh.example.net',
  ],
  [
    'removed',
    'This node is not registered any more. With a new join token in a file: mesh init --force --server https://mesh.example.net --token @join-token',
  ],
] as const)('a node that is %s says so, and what lets it in', (standing, text) => {
  const { control, ...rest } = status([]);
  expect(statusText({ ...rest, control: { ...control, standing } }, NOW)).toContain(runnable(text));
});

test('a name that awaits approval stands beside the one that the node has', () => {
  const { node, ...rest } = status([]);
  const newName = { name: 'b', detail: 'another person has to approve wf_1.' };
  expect(statusText({ ...rest, node: { ...node, newName } }, NOW)).toContain(
    'Node           a  10.96.0.1 in 10.96.0.0/24  mesh0 (kernel), UDP 51820\nNew name       b not yet: another person has to approve wf_1.\n',
  );
});

test('a chain of the host that is closed to the overlay stands in the status, with a command that opens it as it stands', () => {
  const blocked = {
    table: 'inet filter',
    chain: 'input',
    rule: null,
    what: ['all'],
    text: 'inet filter input is closed. To open it: nft insert',
  };
  const rows = (host: Partial<NodeStatus['firewall']>) =>
    statusText({ ...status([]), firewall: { in: 1, out: 1, ...OPEN, ...host } }, NOW, '/srv/node')
      .split('\n')
      .filter((row) => row.startsWith('Host firewall  '))
      .map((row) => row.slice(15));
  const opens = runnable('mesh up --open-firewall --config-dir /srv/node');
  expect(rows({})).toEqual([]);
  expect(rows({ blocked: [blocked] })).toEqual([
    `inet filter input is closed. To open it: nft insert, or while this node is up: ${opens}`,
  ]);
  expect(rows({ opened: 'ufw' })).toEqual([
    runnable('accepts the overlay by ufw until mesh down --config-dir /srv/node'),
  ]);
  expect(rows({ opened: 'nft', lookedAt: '2026-01-01T11:59:57.000Z' })).toEqual([
    runnable('accepts the overlay by nft until mesh down --config-dir /srv/node (as of 3s ago)'),
  ]);
  expect(rows({ blocked: [blocked], openTrouble: 'not opened: ufw failed' })).toEqual([
    'not opened: ufw failed',
    'inet filter input is closed. To open it: nft insert',
  ]);
  expect(rows({ notJudged: [{ what: ['all'], why: 'nft failed' }] })).toEqual(['not judged for all: nft failed']);
  expect(rows({ translated: ['10.96.0.1 (chain KUBE-SERVICES of the table ip nat)'] })).toEqual([
    expect.stringMatching(
      /^translates 10\.96\.0\.1 \(chain KUBE-SERVICES .*is cut off\. Have an administrator .*mesh renumber default 10\.200\.0\.0\/24/,
    ),
  ]);
});

test('a node whose overlay is down says nothing of names, which there are none of', () => {
  const { node, ...rest } = status([]);
  const names = { domain: null, server: null, resolver: null, trouble: '' };
  const text = statusText({ ...rest, node: { ...node, address: null }, names }, NOW);
  expect(text).not.toMatch(/^Names|null/m);
});

test('a key that two machines use stands in the status with what gives one of them its own', () => {
  expect(statusText({ ...status([]), trouble: KEY_SHARED }, NOW)).toMatch(
    /^Trouble {8}another machine uses the key .*: bin\/mesh init --force --server https:\/\/mesh\.example\.net --token @join-token$/m,
  );
});

test('where there are several relays, it says how far each is, what for, and by which each peer is relayed', () => {
  const all = [
    {
      name: 'main',
      region: null,
      address: 'lrp://mesh.example.net:6266',
      state: 'ready',
      reason: null,
      roundTripMs: 90,
      peers: 0,
    },
    {
      name: 'eu',
      region: 'eu-west',
      address: 'lrp://eu.example.net:6266',
      state: 'ready',
      reason: null,
      roundTripMs: 12,
      peers: 1,
    },
    {
      name: 'us',
      region: null,
      address: 'lrps://us.example.net:443',
      state: 'away',
      reason: 'limit',
      roundTripMs: null,
      peers: 0,
    },
  ] as const;
  const relayed = peer('b', { transport: 'lrp-ready', path: 'relayed', relay: 'eu' });
  const one = status([relayed]);
  const text = stripVTControlCharacters(statusText({ ...one, relay: { ...one.relay, all: [...all] } }, NOW));
  for (const line of [
    '  main         lrp://mesh.example.net:6266  90 ms, kept ready',
    '  eu           eu-west, lrp://eu.example.net:6266  12 ms, ready, for 1 peer without a direct path',
    '  us           lrps://us.example.net:443  not measured, away (limit)',
    'b: relayed by eu because the peer answers (direct)',
  ]) {
    expect(text).toContain(line);
  }
});

test('a block that this node does not route is named with what to do, once; so are one of an earlier version and what is accepted', () => {
  const refusal = {
    cidr: '8.8.8.0/24',
    code: 'not-accepted',
    reason: 'its addresses are public',
    remedy: 'Ask.',
  } as const;
  const routes = { accepted: ['9.0.0.0/8'], refused: refusal, carried: null };
  const trouble = 'The block 8.8.8.0/24 is not routed: its addresses are public. Ask.';
  const text = statusText({ ...status([]), routes, trouble }, NOW);
  expect(text).toContain(`Accepted       9.0.0.0/8, beside private blocks\nNot routed     ${trouble}\n`);
  expect(text).not.toContain('Trouble');
  const carried = statusText({ ...status([]), routes: { accepted: [], refused: null, carried: refusal } }, NOW);
  expect(carried).toContain('Warning        The block 8.8.8.0/24 stays routed as by an earlier version, although its');
});

test.each([
  ['Nothing came through.', 'nothing came through'],
  ['STUN to UDP port 3478 has no answer.', 'STUN to UDP port 3478 has no answer'],
  ['A relay is used.', 'a relay is used'],
  ['IPv4 is off.', 'IPv4 is off'],
])('the reason %j reads as a part of the sentence', (detail, text) => {
  const reason = { code: 'checks-failed', detail };
  expect(reasonOf({ transport: 'probing', relay: null, reason } as Parameters<typeof reasonOf>[0])).toBe(
    `probing because ${text} (checks-failed)`,
  );
});

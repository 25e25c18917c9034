import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { Opener } from '../../net/seal/opener.ts';
import { Sealer } from '../../net/seal/sealer.ts';
import { initiates, SignalExchange, type SignalOutcome } from '../../net/signal/exchange.ts';
import type { SignalMessage } from '../../net/signal/message.ts';
import { busNode, type NodeIdentity } from '../kits/http/bus-node.ts';
import { startWiredPlane } from '../kits/http/wired-plane.ts';
import { verifies } from '../verifies.ts';

/** What two nodes say to each other on the bus, by the peers that their pushed graphs name. */
async function signallingNode(port: number, identity: NodeIdentity) {
  const node = await busNode(port, identity);
  await node.heartbeat();
  await node.fetch();
  const { pair, id, workspaceId } = identity;
  const peers = () =>
    (node.graph?.peers ?? []).map((peer) => ({ ...peer, key: Buffer.from(peer.publicKey, 'base64') }));
  const subjectOf = (peer: Uint8Array) => {
    const known = peers().find(({ key }) => key.equals(peer));
    return known && `mesh.${workspaceId}.${known.id}.signal`;
  };
  const exchange = new SignalExchange({
    sealer: new Sealer(pair, randomBytes(16)),
    opener: new Opener(pair, (sender) => subjectOf(sender) !== undefined),
    subjectOf,
    random: randomBytes,
  });
  /** Kinds in the order of their arrival; SYN and ACK as the events they make. */
  const heard: string[] = [];
  const dropped: string[] = [];
  const publish = (signals: SignalOutcome['send']) => {
    for (const { subject, payload } of signals) node.nats.publish(subject, payload);
  };
  const credentials = { ufrag: 'ufrag', pwd: 'password'.repeat(3), tieBreaker: 7n };
  const offer = (kind: 'OFFER' | 'ANSWER'): SignalMessage =>
    kind === 'OFFER' ? { kind, ...credentials, firstCheck: 'offerer' } : { kind, ...credentials };
  node.nats.subscribe(`mesh.${workspaceId}.${id}.signal`, {
    callback: (_error, { subject, data }) => {
      const { send, event, deliver, dropped: reason } = exchange.receive(subject, data, Date.now());
      publish(send);
      if (event) heard.push(event.type);
      if (deliver) heard.push(deliver.message.kind);
      if (reason) dropped.push(reason);
      if (event?.type === 'ready' && initiates(pair.publicKey, event.peer)) {
        publish(exchange.send(event.peer, offer('OFFER')));
      }
      if (deliver?.message.kind === 'OFFER') publish(exchange.send(deliver.from, offer('ANSWER')));
    },
  });
  await node.nats.flush();
  return {
    node,
    heard,
    dropped,
    pair,
    syn: (peer: Uint8Array) => publish(exchange.syn(peer, Date.now())),
    ping: (peer: Uint8Array) => publish(exchange.send(peer, { kind: 'PING' })),
  };
}

test('two nodes exchange SYN, OFFER and ANSWER over the bus of the plane, between graphs that are pushed to them', async () => {
  verifies('signaling-kinds', 'ports-bus');
  await using plane = await startWiredPlane();
  const { harness, admin, busPort } = plane;
  const identities = [await plane.join('a'), await plane.join('b')] as const;
  const nodes = await Promise.all(identities.map((identity) => signallingNode(busPort, identity)));
  // The larger public key makes the offer.
  const [caller, answerer] = nodes.sort((x, y) => Buffer.compare(y.pair.publicKey, x.pair.publicKey));
  if (!caller || !answerer) throw new Error('two nodes joined');

  caller.syn(answerer.pair.publicKey);
  const soon = { timeout: 10_000 };
  await expect.poll(() => caller.heard, soon).toContain('ANSWER');
  expect([caller.heard, answerer.heard].map((heard) => [...heard].sort())).toEqual([
    ['ANSWER', 'ready', 'syn'],
    ['OFFER', 'ready', 'syn'],
  ]);
  expect([...caller.dropped, ...answerer.dropped]).toEqual([]);

  // A node that leaves the graphs is nobody's peer any more: its signals are dropped.
  const lost = await harness.api('DELETE', `/api/v1/peers/${answerer.node.graph?.self.id}`, admin);
  expect(lost.status).toBeLessThan(300);
  await caller.node.until(() => caller.node.graph?.peers.length === 0);
  expect(caller.node.received.at(-1)?.kind).toBe('delta');
  answerer.ping(caller.pair.publicKey);
  await expect.poll(() => caller.dropped, soon).toEqual(['stranger']);
  await Promise.all(nodes.map(({ node }) => node.nats.close()));
});

import { describe, expect, test } from 'vitest';
import { ControlLink } from '../../client/control/control-link.ts';
import { GraphKeeper } from '../../client/control/graph-keeper.ts';
import { ControlSeals } from '../../client/control/seals.ts';
import { enrol } from '../../client/enrol/enrol.ts';
import { PlaneApi } from '../../client/enrol/plane-api.ts';
import { takenGraphShape } from '../../client/graph-shape.ts';
import { WIRE_TEXT } from '../../core/model/wire.ts';
import { Opener } from '../../net/seal/opener.ts';
import { Sealer } from '../../net/seal/sealer.ts';
import { generateKeyPair, keyPairOf } from '../../net/seal/x25519.ts';
import { type ConnectionSignal, SignalExchange } from '../../net/signal/exchange.ts';
import {
  answerOf,
  bareNode,
  configOf,
  graphOf,
  JOIN_TOKEN,
  joinAs,
  type NodeCall,
  otherPlane,
  problemOf,
} from '../kits/http/bare-node.ts';
import { joinTokenFor } from '../kits/http/joining.ts';
import { startWiredPlane } from '../kits/http/wired-plane.ts';
import { enrol as enrolDevice } from '../kits/plane/devices.ts';
import { releases } from '../releases/fixture.ts';
import { loadNode, wireOf } from '../releases/wire-fixture.ts';

/** 0.1.0 says nothing of its version. */
const saysItsVersion = (version: string) => version !== '0.1.0';
const SHUT = { name: 'shut', spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } };

describe.each(releases())('a node of %s and this control plane', (version) => {
  test('work together: it joins, each change of its network comes over the bus, and it hears that it is revoked', async () => {
    await using plane = await startWiredPlane();
    const { harness, admin, busPort } = plane;
    const node = await loadNode(version);
    const { config } = await joinAs(node, harness.url, await joinTokenFor(harness, admin));
    const { link, lines, standings, peers } = bareNode(node, {
      ...config,
      signalingUrl: `nats://127.0.0.1:${busPort}`,
    });
    await link.start();
    const shown = async () => (await harness.api('GET', '/api/v1/peers/db-1', admin)).body.status;
    await expect.poll(shown).toMatchObject({ online: true, version: saysItsVersion(version) ? '9.9.9' : null });
    await enrolDevice(harness, await joinTokenFor(harness, admin), 'web-1');
    await expect.poll(peers).toEqual(['web-1']);
    await harness.api('POST', '/api/v1/policies', { ...admin, body: SHUT });
    await expect.poll(peers).toEqual([]);
    await harness.api('DELETE', '/api/v1/policies/shut', admin);
    await expect.poll(peers).toEqual(['web-1']);
    expect(await shown()).not.toHaveProperty('mismatch');
    await harness.api('POST', '/api/v1/peers/db-1/revoke', { ...admin, body: {} });
    await expect.poll(() => standings).toEqual(['ready', 'revoked']);
    const fetched = lines.filter((line) => line.includes('fetching the graph over the API'));
    expect(fetched.filter((line) => !/the start of this node|shut out/.test(line))).toEqual([]);
    expect(lines.filter((line) => /not from the control plane|^error/.test(line))).toEqual([]);
  });

  test('do not lose its network where the control plane is too new for it: it keeps it, and says why', async () => {
    const refusal = 'The node speaks version 1 of the wire and the control plane versions 2 to 3: upgrade the node.';
    const plane = await otherPlane(() => ({ status: 400, answer: problemOf('unsupported_version', refusal) }), '2-3');
    const kept = graphOf(version);
    const { link, standings } = bareNode(await loadNode(version), configOf(version, plane.url), kept);
    await link.start();
    expect([link.graph, standings, link.status.trouble]).toEqual([kept, [], `No: ${refusal}`]);
  });
});

describe.each(releases())('a control plane of %s and this node', (version) => {
  /** Refuses fields that its own node did not send, as it does. */
  const answer = ({ call, sent }: NodeCall) => {
    const said = answerOf(version, call);
    const unknown = Object.keys(sent).filter((field) => !Object.hasOwn(said?.sent ?? {}, field));
    return unknown.length > 0 ? { status: 400, answer: problemOf('invalid_input', String(unknown)) } : said;
  };

  test('work together: it joins and is told its network, and says nothing that is refused', async () => {
    const plane = await otherPlane(answer);
    const { config } = await joinAs({ enrol }, plane.url, JOIN_TOKEN);
    const { id, deviceToken, name } = configOf(version, plane.url);
    expect(config).toMatchObject({ id, deviceToken, name });
    const { link, lines, graphs } = bareNode({ ControlLink }, { ...config, signalingUrl: 'nats://127.0.0.1:1' });
    await link.start();
    expect([graphs, link.status.trouble]).toEqual([[takenGraphShape(graphOf(version))], '']);
    expect(lines.filter((line) => line.startsWith('error'))).toEqual([]);
    const api = new PlaneApi(plane.url, config.deviceToken);
    const says = { paths: [], version: '9.9.9', witnessed: { size: 7 } };
    expect(await api.heartbeat(says)).toMatchObject({ phase: 'ready', version: expect.any(Number) });
    expect(new Set(plane.calls.map(({ wire }) => wire))).toEqual(new Set([WIRE_TEXT]));
  });

  test('understand each other over the bus: replies, the whole graph, each delta, and that the node is shut out', () => {
    const { node, bus } = wireOf(version);
    const pair = keyPairOf(Buffer.from(node.privateKey, 'base64'));
    const seals = new ControlSeals(pair, Buffer.from(node.controlKey, 'base64'));
    const keeper = new GraphKeeper();
    const kinds: string[] = [];
    for (const { subject, data } of bus) {
      const message = { subject, data: Buffer.from(data, 'base64') };
      if (subject.startsWith('_INBOX.')) {
        const reply = Object.keys(seals.openReply(message) as object);
        kinds.push(reply.includes('challenge') ? 'challenge' : 'reply');
      }
      if (subject !== `mesh.${node.workspaceId}.${node.id}.graph`) continue;
      const opened = seals.openGraph(message);
      const pushed = opened?.message;
      kinds.push(pushed?.kind ?? 'not opened');
      if (opened && (pushed?.kind === 'full' || pushed?.kind === 'delta')) {
        const taken = keeper.take(pushed, opened.isFresh);
        // Before the control plane has replied, a graph may be a recording: a node fetches it over the API.
        if (taken.do === 'confirm' && !kinds.includes('reply')) keeper.confirm(takenGraphShape(graphOf(version)));
        else expect(taken).toMatchObject({ do: 'use' });
      }
    }
    // A node may be sent its graph before it asks, and after.
    const isReply = (kind: string) => kind === 'challenge' || kind === 'reply';
    expect(kinds.filter(isReply)).toEqual(['challenge', 'reply']);
    expect(kinds.filter((kind) => !isReply(kind))).toEqual(['full', 'delta', 'delta', 'delta', 'gone']);
    expect(keeper.held).toMatchObject({ self: graphOf(version).self, peers: [{ name: 'web-1' }] });
  });
});

test.each(releases())(
  'a node of %s and this one prove themselves to each other and take every signal',
  async (version) => {
    const older = await loadNode(version);
    const [a, b] = [generateKeyPair(), generateKeyPair()];
    const common = {
      subjectOf: (key: Uint8Array) => Buffer.from(key).toString('hex'),
      random: (count: number) => crypto.getRandomValues(new Uint8Array(count)),
    };
    const exchanges = {
      ours: new SignalExchange({
        ...common,
        sealer: new Sealer(a, common.random(16)),
        opener: new Opener(a, () => true),
      }),
      theirs: new older.SignalExchange({
        ...common,
        sealer: new older.Sealer(b, common.random(16)),
        opener: new older.Opener(b, () => true),
      }),
    };
    const told: string[] = [];
    const carry = (sent: ReturnType<SignalExchange['send']>, to: keyof typeof exchanges): void => {
      for (const { subject, payload } of sent) {
        const { send, event, deliver, dropped } = exchanges[to].receive(subject, payload, 0);
        told.push(`${to} ${dropped ?? deliver?.message.kind ?? event?.type}`);
        carry(send, to === 'ours' ? 'theirs' : 'ours');
      }
    };
    carry(exchanges.ours.syn(b.publicKey, 0), 'theirs');
    expect(told).toEqual(['theirs syn', 'ours syn', 'theirs ready', 'ours ready']);
    const credentials = { ufrag: 'abcd', pwd: 'x'.repeat(24), tieBreaker: 6n };
    const signals: ConnectionSignal[] = [
      { kind: 'OFFER', ...credentials, firstCheck: 'both' },
      { kind: 'ANSWER', ...credentials },
      { kind: 'CANDIDATE', candidate: 'candidate:1 1 udp 1 192.0.2.1 51820 typ host' },
      { kind: 'PING' },
      { kind: 'BYE', reason: 'left' },
    ];
    told.length = 0;
    for (const signal of signals) carry(exchanges.ours.send(b.publicKey, signal), 'theirs');
    for (const signal of signals) carry(exchanges.theirs.send(a.publicKey, signal), 'ours');
    const received = (who: string) => signals.map(({ kind }) => `${who} ${kind}`);
    expect(told).toEqual([...received('theirs'), ...received('ours')]);
  },
);

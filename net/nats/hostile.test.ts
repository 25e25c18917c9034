import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Bench, type Line } from './bench.testkit.ts';
import { corpus } from './corpus.testkit.ts';
import { credentialDigest } from './credentials.ts';

const FUZZ_RUNS = Number(process.env['FUZZ_RUNS'] ?? 200);
const SHARE = { connections: 8, subscriptions: 20, subscriptionBytes: 50_000, partialBytes: 8_000 };
const LIMITS = { maxPayload: 5_000, maxTotalPartial: 20_000, node: SHARE, address: SHARE };
const LINES = 3;
/** What the control plane itself may hold by what it is sent in a run. */
const CONTROL_SUBSCRIPTIONS = 100;

const credential = { id: 'c1', digest: credentialDigest('secret'), workspace: 'w', peer: 'p' };
const signIn = 'CONNECT {"auth_token":"secret","verbose":false,"headers":true,"no_responders":true}\r\n';
const texts = [signIn, ...corpus.flatMap(({ turns }) => turns.map(([, text]) => text))];

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
const blank = fc.constantFrom(' ', '\t', '  ', '');
const subject = fc.constantFrom(
  'a',
  'a.b',
  'a.*',
  '>',
  '*.b',
  'mesh.w.p.signal',
  'mesh.w.p.graph',
  'mesh.control.x',
  '..',
);
const word = fc.oneof(subject, fc.constantFrom('0', '3', '12', '17', '5001', '-1', 'q', '_INBOX.p.1'));
/** Almost a line of the protocol: right words in any number and order, sizes that rarely fit. */
const almost = fc
  .tuple(
    fc.constantFrom('PUB', 'HPUB', 'SUB', 'UNSUB', 'PING', 'PONG', 'CONNECT', 'INFO', '+OK', '-ERR', 'pub', 'Sub'),
    fc.array(fc.tuple(blank, word), { maxLength: 4 }),
    fc.constantFrom('\r\n', '\n', '\r', ''),
    fc.constantFrom('', 'abc\r\n', 'NATS/1.0\r\n\r\n\r\n', 'NATS/1.0\r\n\r\nhello\r\n'),
  )
  .map(([name, args, end, body]) => name + args.flat().join('') + end + body);
const changed = fc
  .tuple(fc.constantFrom(...texts), fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 5 }))
  .map(([text, changes]) => {
    const bytes = Buffer.from(text, 'latin1');
    for (const [at, value] of changes) bytes[at % bytes.length] = value;
    return latin1(bytes);
  });
const random = fc.uint8Array({ maxLength: 60 }).map(latin1);
const sent = fc.oneof(fc.constantFrom(...texts), almost, changed, random);

const line = fc.nat({ max: LINES - 1 });
const step = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(fc.constant('send' as const), line, sent, fc.array(fc.nat(), { maxLength: 3 })) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('control' as const), sent) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('freeze' as const), line, fc.boolean()) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('reconnect' as const), line) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('tick' as const), fc.constantFrom(1, 1_000, 2_000, 120_000)) },
  { weight: 1, arbitrary: fc.constant(['revoke'] as const) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('identify' as const), line) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

it('a broker that is sent hostile bytes on several connections never throws, stays within its limits and keeps its books', () => {
  const start = fc.constantFrom('open' as const, 'token' as const);
  fc.assert(
    fc.property(start, fc.array(step, { maxLength: 24 }), (auth, steps) => {
      const bench = new Bench({ auth, limits: LIMITS });
      bench.broker.credentials.set(credential);
      const control = bench.control();
      control.send('SUB mesh.control.> 1\r\n');
      const lines = Array.from({ length: LINES }, () => bench.connect());
      for (const each of steps) {
        take(bench, control, lines, each);
        const { partial_bytes, subscriptions } = bench.broker.snapshot();
        expect(partial_bytes).toBeLessThanOrEqual(2 * SHARE.partialBytes);
        expect(subscriptions).toBeLessThanOrEqual(2 * SHARE.subscriptions + CONTROL_SUBSCRIPTIONS);
      }
      for (const { session } of [...lines, control]) bench.broker.disconnect(session, bench.now);
      expect(bench.broker.snapshot()).toMatchObject({
        connections: 0,
        subscriptions: 0,
        subscription_bytes: 0,
        partial_bytes: 0,
        pending_bytes: 0,
      });
      const places = Array.from({ length: SHARE.connections }, () => bench.connect().closed);
      expect(places).toEqual(places.map(() => undefined));
    }),
    { numRuns: FUZZ_RUNS },
  );
});

function take(bench: Bench, control: Line, lines: Line[], [kind, ...rest]: Step): void {
  switch (kind) {
    case 'send': {
      const [at, text, places] = rest as [number, string, number[]];
      for (const part of cut(text, places)) lines[at]?.send(part);
      return;
    }
    case 'control':
      control.send(rest[0] as string);
      return;
    case 'freeze': {
      const [at, isFrozen] = rest as [number, boolean];
      const each = lines[at];
      if (each) each.frozen = isFrozen;
      return;
    }
    case 'reconnect': {
      const [at] = rest as [number];
      const old = lines[at];
      if (old) bench.broker.disconnect(old.session, bench.now);
      lines[at] = bench.connect();
      return;
    }
    case 'tick':
      bench.tick(rest[0] as number);
      bench.broker.tickStalls(bench.now);
      return;
    case 'identify': {
      const [at] = rest as [number];
      bench.broker.identifyConnection(lines[at]?.session.id ?? 0, credential.id, bench.now);
      return;
    }
    case 'revoke':
      bench.broker.revoke(credential.id, bench.now);
      bench.broker.credentials.set(credential);
      return;
    default:
      kind satisfies never;
  }
}

function cut(text: string, places: readonly number[]): string[] {
  const ends = [...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
  return ends.map((end, n) => text.slice(n === 0 ? 0 : ends[n - 1], end));
}

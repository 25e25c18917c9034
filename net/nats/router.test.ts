import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type Routable, Router } from './router.ts';
import { covers, hashOf } from './subject.ts';

/** A loaded machine is slow; a test that hangs still ends. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const token = fc.constantFrom('a', 'b', '*');
const pattern = fc
  .tuple(fc.array(token, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([tokens, open]) => [...tokens, ...(open ? ['>'] : [])].join('.'));
const subjects = ['a', 'b', 'a.a', 'a.b', 'b.a', 'b.b', 'a.a.a', 'a.b.a', 'b.b.b.b'];
const queue = fc.constantFrom(undefined, 'q', 'r');
const step = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), subject: pattern, queue }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('route' as const), subject: fc.constantFrom(...subjects) }),
);

function routed(router: Router<Routable>, subject: string) {
  const bytes = Buffer.from(`PUB ${subject} 0`);
  const { plain, queues } = router.route(bytes, 4, 4 + subject.length, hashOf(subject));
  return {
    plain: plain.map(({ subscription }) => subscription.sid).sort(),
    queues: queues
      .map((group) =>
        group
          .map(({ subscription }) => subscription.sid)
          .sort()
          .join(),
      )
      .sort(),
  };
}

function expected(subscriptions: readonly Routable[], subject: string) {
  const matching = subscriptions.filter((subscription) => covers(subscription.subject, subject));
  const groups = Map.groupBy(
    matching.filter((subscription) => subscription.queue !== undefined),
    (subscription) => subscription.queue,
  );
  return {
    plain: matching.flatMap(({ queue, sid }) => (queue === undefined ? [sid] : [])).sort(),
    queues: [...groups.values()]
      .map((group) =>
        group
          .map(({ sid }) => sid)
          .sort()
          .join(),
      )
      .sort(),
  };
}

describe('router', () => {
  it('routes as a plain search through all subscriptions does, whatever changes between messages', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const router = new Router<Routable>();
        const live: Routable[] = [];
        let sid = 0;
        for (const step of steps) {
          if (step.kind === 'add') {
            const subscription = { subject: step.subject, queue: step.queue, sid: String(++sid) };
            live.push(subscription);
            router.add(subscription);
          } else if (step.kind === 'remove') {
            const [gone] = live.length > 0 ? live.splice(step.at % live.length, 1) : [];
            if (gone !== undefined) router.remove(gone);
          } else expect(routed(router, step.subject)).toEqual(expected(live, step.subject));
          expect(router.size).toBe(live.length);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('prepares the start of each frame', () => {
    const router = new Router<Routable>();
    router.add({ subject: 'a.*', queue: undefined, sid: '17' });
    router.add({ subject: 'a.b', queue: undefined, sid: 'x' });
    const { plain } = router.routeOf('a.b');
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
    expect(plain.map(({ msg, hmsg }) => [text(msg), text(hmsg)]).sort()).toEqual([
      ['MSG a.b 17 ', 'HMSG a.b 17 '],
      ['MSG a.b x ', 'HMSG a.b x '],
    ]);
  });

  it('remembers a route until a subscription that matters changes', () => {
    const router = new Router<Routable>();
    const first = router.routeOf('mesh.a.b.signal');
    router.add({ subject: 'mesh.other', queue: undefined, sid: '2' });
    expect(router.routeOf('mesh.a.b.signal')).toBe(first);
    router.add({ subject: 'mesh.*.b.signal', queue: undefined, sid: '3' });
    expect(router.routeOf('mesh.a.b.signal')).not.toBe(first);
  });

  it('keeps fewer routes of long subjects, so that these hold no more memory', () => {
    const router = new Router<Routable>();
    const first = router.routeOf('0');
    for (let at = 1; at < 5_000; at++) router.routeOf(String(at).padEnd(4_000, 'x'));
    expect(router.routeOf('0')).not.toBe(first);
  });

  it('holds no more of memory than the bytes of its subjects', () => {
    const { bytes } = new Router<Routable>().routeOf('mesh.a.b.signal');
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  });

  it('keeps a bounded number of routes', () => {
    const router = new Router<Routable>();
    const first = router.routeOf('0');
    for (let at = 1; at < 70_000; at++) router.routeOf(String(at));
    expect(router.routeOf('0')).not.toBe(first);
  });
});

import { describe, expect, test } from 'vitest';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import type { Commit, SecurityEvent } from '../../core/base/ports.ts';
import { draft, type OpenStore, opened, outcome, peer, START, testClock, WHY, WS } from './kit.ts';

export function logContract(open: OpenStore): void {
  describe('the log', () => {
    test('replays commits as they were answered, leaving out changes of kinds without history', async () => {
      const store = await opened(open);
      const token = draft('t', { kind: 'Token', uid: 'tok_1' });
      const answered = [
        await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY),
        await store.commit(
          WS,
          [
            { op: 'create', record: token },
            { op: 'update', record: draft('a', { spec: 2 }), revision: 1 },
          ],
          { ...WHY, direct: true },
        ),
        await store.commit(WS, [{ op: 'delete', key: peer('a') }], WHY),
        await store.commit(WS, [{ op: 'delete', key: { kind: 'Token', name: 't' } }], WHY),
      ];
      const expected = answered.map((commit) => ({
        ...commit,
        changes: commit.changes.filter(({ record }) => record.kind === 'MeshPeer'),
      }));
      expect(await store.commits(WS, 0, 10)).toEqual(expected);
      expect(await store.commits(WS, 1, 2)).toEqual(expected.slice(1, 3));
      expect(await store.commits(WS, 4, 2)).toEqual([]);
    });

    test('watches from a revision without a gap or a repeat under concurrent commits', async () => {
      const store = await opened(open);
      const total = 300;
      const write = (n: number) => store.commit(WS, [{ op: 'create', record: draft(`n${n}`) }], WHY);
      await Promise.all(Array.from({ length: 100 }, (_, n) => write(n)));
      const stop = new AbortController();
      const watchers = [0, 50, 100].map(async (from) => {
        const seen: number[] = [];
        for await (const { revision } of store.watch(WS, from, stop.signal)) {
          seen.push(revision);
          if (revision === total) break;
        }
        return { from, seen };
      });
      for (let n = 100; n < total; n += 4) await Promise.all([n, n + 1, n + 2, n + 3].map(write));
      for (const { from, seen } of await Promise.all(watchers)) {
        expect(seen).toEqual(Array.from({ length: total - from }, (_, n) => from + n + 1));
      }
    });

    test('ends a watch on abort, fails it when its start is compacted or the store closes', async () => {
      const store = await open(testClock());
      const drain = async (from: number, signal: AbortSignal): Promise<string> => {
        for await (const commit of store.watch(WS, from, signal)) expect(commit.workspace).toBe(WS);
        return 'ended';
      };
      const stop = new AbortController();
      const aborted = drain(0, stop.signal);
      await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
      stop.abort();
      expect(await aborted).toBe('ended');
      expect(await drain(0, stop.signal)).toBe('ended');
      await store.compact(WS, 1, []);
      const never = new AbortController().signal;
      expect(await outcome(drain(0, never))).toMatchObject({ code: 'compacted' });
      const waiting = outcome(drain(1, never));
      await store.close();
      expect(await waiting).toMatchObject({ code: 'unavailable' });
      expect(await outcome(store.revision(WS))).toMatchObject({ code: 'unavailable' });
      expect(await outcome(store.commit(WS, [], WHY))).toMatchObject({ code: 'unavailable' });
      expect(await outcome(store.caughtUp([WS]))).toMatchObject({ code: 'unavailable' });
    });

    test('is caught up, also with workspaces that are not there, once listeners were told of all that was acknowledged', async () => {
      const store = await opened(open);
      const heard: number[] = [];
      store.onCommit(({ revision }) => heard.push(revision));
      await store.caughtUp(['w_nowhere', SYSTEM_WORKSPACE]);
      await Promise.all([1, 2, 3].map((n) => store.commit(WS, [{ op: 'create', record: draft(`n${n}`) }], WHY)));
      await Promise.all([store.caughtUp([WS]), store.caughtUp([WS, 'w_nowhere']), store.caughtUp([])]);
      expect(heard).toEqual([1, 2, 3]);
    });

    test('tells listeners of each commit in order before its writer hears, until they leave', async () => {
      const store = await opened(open);
      const heard: Commit[] = [];
      const leave = store.onCommit((commit) => heard.push(commit));
      const token = draft('t', { kind: 'Token', uid: 'tok_1' });
      const first = await store.commit(WS, [{ op: 'create', record: token }], WHY);
      expect(heard).toEqual([first]);
      await store.commit(WS, [], WHY);
      const rest = await Promise.all(
        ['a', 'b', 'c'].map((name) => store.commit(WS, [{ op: 'create', record: draft(name) }], WHY)),
      );
      expect(heard).toEqual([first, ...rest]);
      leave();
      await store.commit(WS, [{ op: 'create', record: draft('d') }], WHY);
      expect(heard).toHaveLength(4);
    });

    test('survives a listener that throws', async () => {
      const store = await opened(open);
      const heard: number[] = [];
      store.onCommit(() => {
        throw new Error('broken');
      });
      store.onCommit(({ revision }) => heard.push(revision));
      await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
      expect(heard).toEqual([1]);
    });

    test('finds events by kind and name of the changes that they tell', async () => {
      const store = await opened(open, testClock());
      const settings = (name: string): SecurityEvent => ({
        type: 'settings',
        actor: 'user:ada',
        result: 'ok',
        detail: { changes: [{ type: 'updated', kind: 'Workspace', name, fields: [] }] },
      });
      const others: SecurityEvent = {
        ...settings('x'),
        detail: { changes: ['Workspace', null, { kind: 'Workspace' }] },
      };
      await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
      await store.record(WS, [settings('prod'), settings('test'), others]);
      const namesOf = async (query: object) =>
        (await store.audit(WS, { limit: 9, ...query })).map(({ event }) => event?.detail?.['changes']);
      const of = (name: string) => settings(name).detail?.['changes'];
      expect(await namesOf({ kind: 'Workspace' })).toEqual([others.detail?.['changes'], of('test'), of('prod')]);
      expect(await namesOf({ kind: 'Workspace', name: 'PROD' })).toEqual([of('prod')]);
      expect(await namesOf({ kind: 'MeshPolicy' })).toEqual([]);
    });

    test('tells what jobs wrote from what anyone else did, page by page', async () => {
      const store = await opened(open, testClock());
      const by = (actor: string): SecurityEvent => ({
        type: 'login',
        actor,
        result: 'ok',
        detail: { actor: 'system:a' },
      });
      const callers = ['user:ada', 'device:system:a', 'system:operator', 'systems', 'agent:"actor":"system:'];
      for (const actor of callers) await store.record(WS, [by('system:presence'), by(actor), by('system:operators')]);
      const actors = async (query: object) =>
        (await store.audit(WS, { limit: 99, ...query })).map(({ actor }) => actor);
      expect(await actors({ author: 'caller' })).toEqual(callers.toReversed());
      expect(new Set(await actors({ author: 'system' }))).toEqual(new Set(['system:presence', 'system:operators']));
      const [newest, second] = await store.audit(WS, { author: 'caller', limit: 2 });
      expect(await actors({ author: 'caller', before: second?.seq })).toEqual(callers.toReversed().slice(2));
      expect(await actors({ author: 'caller', actors: [newest?.actor] })).toEqual([newest?.actor]);
      expect(await actors({ author: 'system', actors: [newest?.actor] })).toEqual([]);
    });

    test('answers the audit log newest first by actor, time, kind, name and type, page by page', async () => {
      const clock = testClock();
      const store = await opened(open, clock);
      const refusal: SecurityEvent = { type: 'login', actor: 'user:eve', result: 'refused', origin: '192.0.2.1' };
      await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
      clock.set(START + 10);
      await store.record(WS, [{ ...refusal, requestId: 'req-2' }]);
      clock.set(START + 20);
      await store.commit(WS, [{ op: 'create', record: draft('B', { kind: 'MeshPolicy', uid: 'pol_b' }) }], {
        ...WHY,
        actor: 'user:bob',
      });
      const all = await store.audit(WS, { limit: 10 });
      const [newest, event, oldest] = all;
      expect(all.map(({ at, actor, type }) => [at, actor, type])).toEqual([
        [START + 20, 'user:bob', 'commit'],
        [START + 10, 'user:eve', 'event'],
        [START, 'user:ada', 'commit'],
      ]);
      expect(event?.event).toEqual({ ...refusal, requestId: 'req-2' });
      expect(oldest?.commit).toEqual({
        ...WHY,
        revision: 1,
        at: START,
        changes: [
          { type: 'created', kind: 'MeshPeer', name: 'a', uid: 'p_a', digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
        ],
      });
      expect(await store.audit(WS, { limit: 9, actors: ['user:eve'] })).toEqual([event]);
      expect(await store.audit(WS, { limit: 9, actors: ['user:eve', 'user:bob'] })).toEqual([newest, event]);
      expect(await store.audit(WS, { limit: 9, from: START + 15 })).toEqual([newest]);
      expect(await store.audit(WS, { limit: 9, to: START + 15, type: 'commit' })).toEqual([oldest]);
      expect(await store.audit(WS, { limit: 9, kind: 'MeshPolicy', name: 'b' })).toEqual([newest]);
      expect(all.map(({ seq }) => seq)).toEqual([2, 1, 0]);
      expect(await store.audit(WS, { limit: 1, before: newest?.seq ?? 0 })).toEqual([event]);
      expect(await store.audit('w_none', { limit: 1 })).toEqual([]);
    });

    test('tells the installation of a change of members in a workspace, and of nothing else there', async () => {
      const store = await opened(open);
      const member = draft('ada', { kind: 'Member', uid: 'mem_1' });
      const ops = [draft('a'), member].map((record) => ({ op: 'create', record }) as const);
      await store.commit(WS, ops, WHY);
      await store.commit(WS, [{ op: 'create', record: draft('b') }], WHY);
      const told = (await store.audit(SYSTEM_WORKSPACE, { limit: 9 })).map(({ event }) => event);
      const changes = [{ type: 'created', kind: 'Member', name: 'ada' }];
      const detail = { workspace: WS, reason: WHY.reason, changes };
      expect(told).toEqual([{ type: 'members', actor: WHY.actor, result: 'ok', requestId: WHY.requestId, detail }]);
    });

    test('tells what changed in the settings of a workspace in its own log too, and keeps no secret', async () => {
      const store = await opened(open);
      const workspace = (spec: object) =>
        draft('prod', { kind: 'Workspace', uid: WS, spec } as Parameters<typeof draft>[1]);
      const account = (spec: object) =>
        draft('ada', { kind: 'Account', uid: 'u_1', spec } as Parameters<typeof draft>[1]);
      const [before, after] = [false, true].map((requireApproval) => workspace({ settings: { requireApproval } }));
      await store.commit(
        SYSTEM_WORKSPACE,
        [before, account({ passwordHash: 'one' })].map((record) => ({ op: 'create', record: record as never })),
        WHY,
      );
      const ops = [after, account({ passwordHash: 'another' })].map(
        (record) => ({ op: 'update', record: record as never, revision: 1 }) as const,
      );
      await store.commit(SYSTEM_WORKSPACE, ops, { ...WHY, reason: 'changed workspace prod' });
      const fields = [{ field: 'requireApproval', from: 'off', to: 'on' }];
      const [system] = await store.audit(SYSTEM_WORKSPACE, { limit: 1 });
      expect(system?.commit?.changes).toMatchObject([
        { kind: 'Workspace', fields },
        { kind: 'Account', fields: [{ field: 'passwordHash', isSecret: true }] },
      ]);
      expect(JSON.stringify(system)).not.toContain('another');
      const told = (await store.audit(WS, { limit: 9 })).map(({ event }) => event);
      const detail = {
        reason: 'changed workspace prod',
        changes: [{ type: 'updated', kind: 'Workspace', name: 'prod', fields }],
      };
      expect(told).toEqual([{ type: 'settings', actor: WHY.actor, result: 'ok', requestId: WHY.requestId, detail }]);
    });

    test('finds a rare entry behind many others', async () => {
      const store = await opened(open);
      await store.commit(WS, [{ op: 'create', record: draft('rare') }], WHY);
      const noise: SecurityEvent = { type: 'token.use', actor: 'agent:x', result: 'ok' };
      await store.record(
        WS,
        Array.from({ length: 1_000 }, () => noise),
      );
      const found = await store.audit(WS, { limit: 5, name: 'RARE' });
      expect(found.map(({ commit }) => commit?.revision)).toEqual([1]);
    });
  });

  describe('leases', () => {
    test('have one holder at a time, whose fence rises with each change of holder', async () => {
      const clock = testClock();
      const store = await opened(open, clock);
      expect(await store.acquire('leader', 'a', 1_000)).toEqual({ fence: 1, expiresAt: START + 1_000 });
      expect(await store.acquire('leader', 'b', 1_000)).toBeUndefined();
      expect(await store.acquire('other', 'b', 1_000)).toEqual({ fence: 1, expiresAt: START + 1_000 });
      clock.set(START + 500);
      expect(await store.acquire('leader', 'a', 1_000)).toEqual({ fence: 1, expiresAt: START + 1_500 });
      clock.set(START + 1_500);
      expect(await store.acquire('leader', 'b', 1_000)).toEqual({ fence: 2, expiresAt: START + 2_500 });
      await store.release('leader', 'a');
      expect(await store.acquire('leader', 'a', 1_000)).toBeUndefined();
      await store.release('leader', 'b');
      expect(await store.acquire('leader', 'a', 1_000)).toEqual({ fence: 3, expiresAt: START + 2_500 });
    });

    test('are renewed together by their holder, and not where one is no longer held', async () => {
      const clock = testClock();
      const store = await opened(open, clock);
      for (const name of ['one', 'two']) await store.acquire(name, 'a', 1_000);
      await store.acquire('three', 'b', 1_000);
      const [one, two] = [
        { lease: 'one', fence: 1 },
        { lease: 'two', fence: 1 },
      ];
      clock.set(START + 500);
      expect(await store.renew([one, two], 'a', 1_000)).toBe(true);
      clock.set(START + 1_200);
      expect(await store.acquire('one', 'b', 1_000)).toBeUndefined();
      expect(await store.acquire('two', 'b', 1_000)).toBeUndefined();
      for (const lost of [
        { lease: 'three', fence: 1 },
        { lease: 'two', fence: 2 },
        { lease: 'never', fence: 0 },
      ])
        expect(await store.renew([one, lost], 'a', 1_000)).toBe(false);
      await store.release('two', 'a');
      expect(await store.renew([two], 'a', 1_000)).toBe(false);
    });

    test('are listed with their holders, by the beginning of their names', async () => {
      const clock = testClock();
      const store = await opened(open, clock);
      for (const name of ['part/b', 'part/a', 'part', 'other/a']) await store.acquire(name, `of ${name}`, 1_000);
      await store.acquire('part/c', 'c', 500);
      await store.release('part/b', 'of part/b');
      clock.set(START + 500);
      const listed = [{ name: 'part/a', holder: 'of part/a' }, { name: 'part/b' }, { name: 'part/c' }];
      expect(await store.leases('part/')).toEqual(listed);
      expect(await store.leases('none')).toEqual([]);
    });

    test('let their holder write, and nobody who has lost or released them', async () => {
      const clock = testClock();
      const store = await opened(open, clock);
      const { fence = 0 } = (await store.acquire('leader', 'a', 1_000)) ?? {};
      const as = (held: number) => (name: string) =>
        outcome(
          store.commit(WS, [{ op: 'create', record: draft(name) }], {
            ...WHY,
            fence: { lease: 'leader', fence: held },
          }),
        );
      const byA = as(fence);
      const written = await byA('first');
      expect(written).toMatchObject({ revision: 1 });
      expect(written).not.toHaveProperty('fence');
      clock.set(START + 5_000);
      // Nobody else has begun yet.
      expect(await byA('late')).toMatchObject({ revision: 2 });
      const taken = (await store.acquire('leader', 'b', 1_000))?.fence ?? 0;
      const fenced = { code: 'fenced', subject: 'leader' };
      expect(await byA('too late')).toEqual(fenced);
      expect(await as(taken)('second')).toMatchObject({ revision: 3 });
      await store.release('leader', 'b');
      expect(await as(taken)('after the release')).toEqual(fenced);
      const never = { ...WHY, fence: { lease: 'never held', fence: 0 } };
      expect(await outcome(store.commit(WS, [], never))).toEqual({ code: 'fenced', subject: 'never held' });
      const names = (await store.list(WS, 'MeshPeer')).items.map(({ name }) => name);
      expect(names).toEqual(['first', 'late', 'second']);
      expect((await store.audit(WS, { limit: 1 }))[0]?.commit).not.toHaveProperty('fence');
    });

    test('of writers who share a group with one that has lost its lease, only that one is refused', async () => {
      const store = await opened(open);
      const { fence = 0 } = (await store.acquire('leader', 'a', 1_000)) ?? {};
      const write = (name: string, held?: number) =>
        outcome(
          store.commit(WS, [{ op: 'create', record: draft(name) }], {
            ...WHY,
            ...(held !== undefined && { fence: { lease: 'leader', fence: held } }),
          }),
        );
      const answers = await Promise.all([write('a'), write('b', fence), write('c', fence + 1), write('d', fence)]);
      expect(answers).toMatchObject([{ revision: 1 }, { revision: 2 }, { code: 'fenced' }, { revision: 3 }]);
    });

    test('go to exactly one of many that ask at once', async () => {
      const store = await opened(open);
      const asked = await Promise.all(Array.from({ length: 10 }, (_, n) => store.acquire('leader', `h${n}`, 1_000)));
      expect(asked.filter((lease) => lease !== undefined)).toEqual([{ fence: 1, expiresAt: START + 1_000 }]);
    });
  });
}

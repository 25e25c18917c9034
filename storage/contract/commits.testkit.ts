import { describe, expect, test } from 'vitest';
import type { Op, Store } from '../../core/base/ports.ts';
import type { RecordDraft, RecordGroup } from '../../core/base/record.ts';
import { draft, type OpenStore, opened, outcome, peer, START, stored, testClock, WHY, WS } from './kit.ts';

export function commitContract(open: OpenStore): void {
  describe('commit', () => {
    test('writes several records as one revision and says who and why', async () => {
      const store = await opened(open);
      const [a, b] = [draft('a'), draft('b', { kind: 'MeshPolicy', uid: 'pol_b' })];
      const commit = await store.commit(
        WS,
        [
          { op: 'create', record: a },
          { op: 'create', record: b },
        ],
        { ...WHY, approval: { workflowId: 'wf_1', reviewedBy: 'user:bob' }, direct: false },
      );
      expect(commit).toEqual({
        ...WHY,
        approval: { workflowId: 'wf_1', reviewedBy: 'user:bob' },
        direct: false,
        workspace: WS,
        revision: 1,
        at: START,
        changes: [
          { type: 'created', record: stored(a, 1) },
          { type: 'created', record: stored(b, 1) },
        ],
      });
      expect(await store.get(WS, peer('a'))).toEqual(stored(a, 1));
    });

    test.each<[string, RecordGroup, readonly Op[]]>([
      ['created', 'MeshPolicy', [{ op: 'create', record: draft('b', { kind: 'MeshPolicy', uid: 'pol_b' }) }]],
      ['updated', 'MeshPeer', [{ op: 'update', record: draft('a'), revision: 1 }]],
      ['deleted', 'MeshPeer', [{ op: 'delete', key: peer('a') }]],
      ['created among some of a kind', 'Token/join.', [{ op: 'create', record: draft('join.b', { kind: 'Token' }) }]],
    ])('writes nothing once a record of its basis was %s', async (_what, group, ops) => {
      const store = await opened(open);
      await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
      const readSet = { groups: ['MeshPeer', 'MeshPolicy', 'Token/join.'], revision: 1 } as const;
      const concluded = (name: string) =>
        outcome(store.commit(WS, [{ op: 'create', record: draft(name, { kind: 'Token' }) }], { ...WHY, readSet }));
      expect(await concluded('t1')).toEqual(expect.not.objectContaining({ readSet: expect.anything() }));
      expect(await concluded('t2')).toMatchObject({ revision: 3 });
      // In the same transaction as the commit that is refused.
      const [, refused] = await Promise.all([store.commit(WS, ops, WHY), concluded('t3')]);
      expect(refused).toEqual({ code: 'changed', subject: group });
      expect(await store.get(WS, { kind: 'Token', name: 't3' })).toBeUndefined();
      expect(await concluded('t4')).toEqual({ code: 'changed', subject: group });
    });

    test('writes nothing when one op of the batch fails', async () => {
      const store = await opened(open);
      await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
      const failed = store.commit(
        WS,
        [
          { op: 'create', record: draft('b', { unique: ['ip:1'] }) },
          { op: 'create', record: draft('a') },
        ],
        { ...WHY, securityEvents: [{ type: 'login', actor: 'user:ada', result: 'ok' }] },
      );
      expect(await outcome(failed)).toEqual({ code: 'already_exists', subject: 'MeshPeer/a' });
      expect(await store.revision(WS)).toBe(1);
      expect(await store.get(WS, peer('b'))).toBeUndefined();
      expect(await store.lookup('ip:1', WS)).toBeUndefined();
      expect((await store.audit(WS, { limit: 10 })).map(({ type }) => type)).toEqual(['commit']);
    });

    test('lets one of many writers of the same version win and tells the others of the conflict', async () => {
      const store = await opened(open);
      await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          outcome(store.commit(WS, [{ op: 'update', record: draft('a', { spec: { n } }), revision: 1 }], WHY)),
        ),
      );
      expect(answers.filter((answer) => 'revision' in answer)).toHaveLength(1);
      expect(answers.filter((answer) => 'code' in answer)).toEqual(
        Array.from({ length: 19 }, () => ({ code: 'conflict', subject: 'MeshPeer/a' })),
      );
    });

    test('refuses a stale delete, a missing record, a name taken again and a check that no longer holds', async () => {
      const store = await opened(open);
      await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
      const tries = [
        store.commit(WS, [{ op: 'delete', key: peer('a'), revision: 7 }], WHY),
        store.commit(WS, [{ op: 'delete', key: peer('x') }], WHY),
        store.commit(WS, [{ op: 'update', record: draft('x'), revision: 1 }], WHY),
        store.commit(WS, [{ op: 'update', record: draft('a', { uid: 'p_other' }), revision: 1 }], WHY),
        store.commit(WS, [{ op: 'check', key: peer('a'), revision: 0 }], WHY),
        store.commit(WS, [{ op: 'check', key: peer('x'), revision: 1 }], WHY),
      ];
      expect(await Promise.all(tries.map(outcome))).toEqual([
        { code: 'conflict', subject: 'MeshPeer/a' },
        { code: 'not_found', subject: 'MeshPeer/x' },
        { code: 'not_found', subject: 'MeshPeer/x' },
        { code: 'conflict', subject: 'MeshPeer/a' },
        { code: 'conflict', subject: 'MeshPeer/a' },
        { code: 'conflict', subject: 'MeshPeer/x' },
      ]);
    });

    test('makes no revision of checks and security events alone', async () => {
      const store = await opened(open);
      const event = { type: 'token.use', actor: 'agent:x', result: 'ok' } as const;
      await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
      const commit = await store.commit(WS, [{ op: 'check', key: peer('a'), revision: 1 }], {
        ...WHY,
        securityEvents: [event],
      });
      expect({ revision: commit.revision, changes: commit.changes }).toEqual({ revision: 1, changes: [] });
      expect(await store.revision(WS)).toBe(1);
      const [newest] = await store.audit(WS, { limit: 1 });
      expect(newest?.event).toEqual({ ...event, requestId: 'req-1' });
    });

    test('keeps creation time over updates and raises generation when spec or labels change, not status', async () => {
      const clock = testClock();
      const store = await opened(open, clock);
      await store.commit(WS, [{ op: 'create', record: draft('a', { spec: { x: 1, y: 2 } }) }], WHY);
      clock.set(START + 50);
      const sameSpec = draft('a', { spec: { y: 2, x: 1 }, status: { phase: 'revoked' } });
      await store.commit(WS, [{ op: 'update', record: sameSpec, revision: 1 }], WHY);
      expect(await store.get(WS, peer('a'))).toEqual(stored(sameSpec, 2));
      const relabelled = draft('a', { spec: { y: 2, x: 1 }, labels: { role: 'db' } });
      await store.commit(WS, [{ op: 'update', record: relabelled, revision: 2 }], WHY);
      expect(await store.get(WS, peer('a'))).toEqual(stored(relabelled, 3, { generation: 2 }));
    });

    test('never lets commit times fall when the clock is set back', async () => {
      const clock = testClock();
      const store = await opened(open, clock);
      await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
      clock.set(START - 60_000);
      expect((await store.commit(WS, [{ op: 'create', record: draft('b') }], WHY)).at).toBe(START);
    });

    test('treats names that differ in case as one and answers the spelling last written', async () => {
      const store = await opened(open);
      await store.commit(WS, [{ op: 'create', record: draft('Web-1') }], WHY);
      const again = store.commit(WS, [{ op: 'create', record: draft('WEB-1', { uid: 'p_2' }) }], WHY);
      expect(await outcome(again)).toEqual({ code: 'already_exists', subject: 'MeshPeer/WEB-1' });
      expect((await store.get(WS, peer('wEb-1')))?.name).toBe('Web-1');
      await store.commit(WS, [{ op: 'create', record: draft('Web-1', { kind: 'MeshPolicy', uid: 'pol_1' }) }], WHY);
      expect((await store.list(WS, 'MeshPeer')).items.map(({ name }) => name)).toEqual(['Web-1']);
    });

    test('holds unique values over kinds, frees them on update and delete, and finds their record', async () => {
      const store = await opened(open);
      const a = draft('a', { unique: ['ip:1', 'pubkey:a'] });
      await store.commit(WS, [{ op: 'create', record: a }], WHY);
      const token = draft('t', { kind: 'Token', uid: 'tok_1', unique: ['ip:1'] });
      expect(await outcome(store.commit(WS, [{ op: 'create', record: token }], WHY))).toEqual({
        code: 'unique',
        subject: 'ip:1',
      });
      expect(await store.lookup('ip:1')).toEqual(stored(a, 1));
      await store.commit(WS, [{ op: 'update', record: { ...a, unique: ['pubkey:a'] }, revision: 1 }], WHY);
      await store.commit(WS, [{ op: 'create', record: token }], WHY);
      expect((await store.lookup('ip:1', WS))?.name).toBe('t');
      await store.commit(WS, [{ op: 'delete', key: peer('a') }], WHY);
      expect(await store.lookup('pubkey:a', WS)).toBeUndefined();
    });

    test('keeps workspaces apart: names, unique values, ids and revisions', async () => {
      const store = await opened(open);
      const record = draft('a', { unique: ['ip:1'] });
      await store.commit(WS, [{ op: 'create', record }], WHY);
      await store.commit('w_other', [{ op: 'create', record: draft('a', { ...record, spec: 'other' }) }], WHY);
      expect([await store.revision(WS), await store.revision('w_other')]).toEqual([1, 1]);
      expect((await store.lookup('ip:1', 'w_other'))?.spec).toBe('other');
      expect((await store.getById(WS, 'MeshPeer', 'p_a'))?.spec).toEqual({ hostname: 'a' });
      expect(await store.workspaces()).toEqual([WS, 'w_other']);
      expect(await store.get('w_none', peer('a'))).toBeUndefined();
      expect(await store.list('w_none', 'MeshPeer')).toEqual({ items: [], revision: 0 });
    });

    test('moves a unique value and a name to another record within one batch', async () => {
      const store = await opened(open);
      const a = draft('a', { unique: ['ip:1'] });
      await store.commit(WS, [{ op: 'create', record: a }], WHY);
      const replaced = { ...a, uid: 'p_new' };
      const commit = await store.commit(
        WS,
        [
          { op: 'delete', key: peer('a'), revision: 1 },
          { op: 'create', record: replaced },
        ],
        WHY,
      );
      const changes = [
        { type: 'deleted', record: stored(a, 1), before: stored(a, 1) },
        { type: 'created', record: stored(replaced, 2) },
      ];
      expect(commit.changes).toEqual(changes);
      expect((await store.commits(WS, 1, 10))[0]?.changes).toEqual(changes);
      expect(await store.get(WS, peer('a'), { revision: 1 })).toEqual(stored(a, 1));
      expect((await store.lookup('ip:1', WS))?.uid).toBe('p_new');
    });

    test('refuses to write a key twice in one batch and to give one id to two records', async () => {
      const store = await opened(open);
      const twice = store.commit(
        WS,
        [
          { op: 'create', record: draft('a') },
          { op: 'delete', key: peer('a') },
        ],
        WHY,
      );
      expect(await outcome(twice)).toMatchObject({ code: 'conflict' });
      const sameId = store.commit(
        WS,
        [
          { op: 'create', record: draft('a') },
          { op: 'create', record: draft('b', { uid: 'p_a' }) },
        ],
        WHY,
      );
      expect(await outcome(sameId)).toEqual({ code: 'unique', subject: 'p_a' });
    });

    test('refuses a record over 8 KB compressed whether or not its kind keeps history', async () => {
      const store = await opened(open);
      const noise = Array.from({ length: 4_000 }, (_, n) => Math.imul(n, 2_654_435_761) >>> 0);
      const compressible = 'x'.repeat(100_000);
      const tries = (['MeshPeer', 'Plan'] as const).map((kind) =>
        outcome(store.commit(WS, [{ op: 'create', record: draft('big', { kind, spec: noise }) }], WHY)),
      );
      expect(await Promise.all(tries)).toMatchObject([{ code: 'too_large' }, { code: 'too_large' }]);
      await store.commit(WS, [{ op: 'create', record: draft('a', { spec: compressible }) }], WHY);
      expect((await store.get(WS, peer('a')))?.spec).toBe(compressible);
    });

    test('has room for the status of a record that is as large as may be, and for nothing else', async () => {
      const store = await opened(open);
      const specOf = (length: number) => NOISE.slice(0, length);
      const fits = await largest(store, (length) =>
        draft(`of-${length}`, { uid: `p_${length}`, spec: specOf(length) }),
      );
      const name = `of-${fits}`;
      const { revision = 0 } = (await store.get(WS, peer(name))) ?? {};
      const update = (change: object) => {
        const record = draft(name, { uid: `p_${fits}`, spec: specOf(fits), ...change });
        return outcome(store.commit(WS, [{ op: 'update', record, revision }], WHY));
      };
      const words = 'The quick brown fox jumps over the lazy dog, as no other one does.';
      const tooLarge = { code: 'too_large', subject: expect.stringContaining(`MeshPeer/${name}`) };
      expect(await update({ spec: [...specOf(fits), words] })).toEqual(tooLarge);
      expect(await update({ labels: { words } })).toEqual(tooLarge);
      expect(await update({ annotations: { words } })).toEqual(tooLarge);
      expect(await update({ status: { more: [...NOISE, ...NOISE] } })).toEqual(tooLarge);
      expect(await update({ status: { words } })).toMatchObject({ revision: expect.any(Number) });
    });

    test('has room for what the control plane says in the spec of a record that is as large as may be', async () => {
      const store = await opened(open);
      const agent = (length: number, spec: object = {}) =>
        draft(`of-${length}`, {
          kind: 'AgentIdentity',
          uid: `a_${length}`,
          spec: { person: 'ada', reach: NOISE.slice(0, length), ...spec },
        });
      const fits = await largest(store, agent);
      const { revision = 0 } = (await store.get(WS, { kind: 'AgentIdentity', name: `of-${fits}` })) ?? {};
      const update = (spec: object) =>
        outcome(store.commit(WS, [{ op: 'update', record: agent(fits, spec), revision }], WHY));
      const words = 'The quick brown fox jumps over the lazy dog, as no other one does.';
      expect(await update({ person: words, more: words })).toMatchObject({ code: 'too_large' });
      expect(await update({ person: words })).toMatchObject({ revision: expect.any(Number) });
    });
  });
}

/** Numbers that hardly get smaller by compression. */
const NOISE = Array.from({ length: 4_000 }, (_, n) => Math.imul(n, 2_654_435_761) >>> 0);

/** Returns how many numbers the largest accepted record has; creates that record and smaller ones. */
async function largest(store: Store, recordOf: (length: number) => RecordDraft): Promise<number> {
  let [fits, tooMany] = [0, NOISE.length];
  while (tooMany - fits > 1) {
    const length = Math.floor((fits + tooMany) / 2);
    const made = await outcome(store.commit(WS, [{ op: 'create', record: recordOf(length) }], WHY));
    if ('code' in made) tooMany = length;
    else fits = length;
  }
  return fits;
}

import { expect, test } from 'vitest';
import type { Op } from '../../core/base/ports.ts';
import { newToken } from '../../core/model/token.ts';
import { tokenDraft } from '../../core/model/token-record.ts';
import { buildReviewKit } from '../../test/kits/plane/review-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const HOLDERS = 10_000;

test('ten thousand items come in pages, each once, and are confirmed by one call', async () => {
  await using kit = await buildReviewKit();
  const ops = Array.from({ length: HOLDERS }, (_, at): Op => {
    const spec = {
      kind: 'join',
      name: `token-${at}`,
      owner: '',
      createdBy: 'user:ada',
      expiresAt: kit.clock.time + 9e9,
    } as const;
    return { op: 'create', record: tokenDraft(newToken('join'), spec) };
  });
  await kit.services.store.commit(kit.workspace, ops, { actor: 'user:ada', reason: 'test', requestId: 'r' });
  const { id, items_count: count } = await kit.ask('start_review', { kind: 'access' });
  expect(count).toBe(HOLDERS);
  const seen = new Set<string>();
  let pages = 0;
  for (let cursor: string | undefined; ; ) {
    const page = await kit.ask('get_review', { id, limit: 200, ...(cursor !== undefined && { cursor }) });
    for (const { name } of page.items) seen.add(name);
    pages += 1;
    cursor = page.next_cursor;
    if (cursor === undefined || pages === 3) break;
  }
  expect(seen.size).toBe(600);
  const last = await kit.ask('get_review', { id, limit: 200, cursor: String(HOLDERS - 101) });
  expect([last.items.length, last.next_cursor]).toEqual([100, undefined]);
  expect(await kit.ask('decide_review_items', { id, confirm_rest: true })).toMatchObject({
    decided: HOLDERS,
    undecided: 0,
  });
  expect((await kit.ask('finish_review', { id })).finished.confirmed).toBe(HOLDERS);
});

test('a review is shown to auditors of its workspace, and to nobody of another one', async () => {
  await using kit = await buildReviewKit();
  const id = await kit.reviewed('policies');
  expect(await kit.as('auditor')('get_review', { id })).toMatchObject({ id, state: 'finished' });
  expect(await refusalOf(kit.foreign('get_review', { id }))).toBe('not_found');
  expect(await refusalOf(kit.ask('get_review', { id: 'rev_none' }))).toBe('not_found');
  expect(await refusalOf(kit.ask('get_review', { id, cursor: 'x' }))).toBe('invalid_input /cursor');
  expect(await refusalOf(kit.as('viewer')('get_review', { id }))).toBe('forbidden compliance:assess');
});

test('an agent that another agent delegated does not see what others hold', async () => {
  await using kit = await buildReviewKit();
  const id = await kit.reviewed('access');
  const root = kit.holding('compliance:assess', 'network:read');
  expect(await root('get_review', { id })).toMatchObject({ id });
  const scopes = ['compliance:assess', 'network:read', 'agents:delegate'];
  await kit.ask('create_agent', { name: 'lead', scopes, ttl: '24h' });
  const lead = (await kit.services.states.current(kit.workspace)).agents.get('lead');
  const draft = {
    ...{ kind: 'AgentIdentity', name: 'scout', uid: 'agt_scout', labels: {}, annotations: {}, unique: [] },
    spec: { ...lead?.spec, parentRef: { name: 'lead', namespace: 'own' } },
    status: { phase: 'Active', depth: 1 },
  };
  const why = { actor: 'user:test', reason: 'test', requestId: 'r' };
  await kit.services.store.commit(kit.workspace, [{ op: 'create', record: draft as never }], why);
  const scout = { ...kit.agent(['compliance:assess', 'network:read'], kit.workspace), id: 'agt_scout', name: 'scout' };
  const call = kit.call('get_review', { id }, { as: scout, workspace: kit.workspace });
  expect(await refusalOf(call)).toBe('beyond_delegation');
});

import { expect, test } from 'vitest';
import { accountDraft } from '../../core/identity/accounts.ts';
import { buildReviewKit, itemNamed } from '../../test/kits/plane/review-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a review of access lists people, agents, tokens and devices, with who granted what and since when', async () => {
  await using kit = await buildReviewKit();
  await kit.member('ada', 'operator');
  await kit.join('web-1');
  await kit.ask('create_agent', { name: 'scout', scopes: ['network:read'], ttl: '24h' });
  const { id, items_count: count } = await kit.ask('start_review', { kind: 'access' });
  const shown = await kit.ask('get_review', { id });
  expect(shown.items).toHaveLength(count);
  expect(shown.items.map(({ type }: { type: string }) => type)).toEqual(
    expect.arrayContaining(['person', 'agent', 'join token', 'device']),
  );
  expect(itemNamed(shown, 'ada')).toMatchObject({
    type: 'person',
    facts: { role: 'operator', granted_by: 'user:admin', since: '2026-01-05T12:00:00.000Z' },
    may: expect.arrayContaining(['approve changes of others']),
    standing: 'same',
    decision: null,
  });
  expect(itemNamed(shown, 'scout')).toMatchObject({ facts: { granted_by: 'user:admin', line: 'user:admin' } });
  expect(itemNamed(shown, 'web-1')).toMatchObject({ type: 'device', facts: { network: 'default' } });
});

test('each platform administrator is an item by name, confirmed by itself, and a device shows its labels', async () => {
  await using kit = await buildReviewKit();
  const { store } = kit.services;
  const spec = { displayName: '', passwordHash: '', passwordState: 'own', disabled: false, epoch: 1 } as const;
  for (const name of ['root', 'rita']) {
    const record = accountDraft(name, { ...spec, role: 'platform_admin' });
    const why = { actor: 'user:test', reason: 'test', requestId: 'r' };
    await store.commit('w_system', [{ op: 'create', record }], why);
  }
  await kit.join('web-1');
  await kit.ask('update_peer', { id: 'web-1', labels: { role: 'web', env: 'prod' } });
  const { id } = await kit.ask('start_review', { kind: 'access' });
  const shown = await kit.ask('get_review', { id });
  expect(itemNamed(shown, 'web-1').facts.labels).toBe('env=prod, role=web');
  for (const name of ['root', 'rita']) {
    expect(itemNamed(shown, name)).toMatchObject({
      type: 'platform administrator',
      facts: { role: 'platform_admin' },
      end_by: { operation: 'update_user', id: name },
    });
  }
  const items = [{ item: itemNamed(shown, 'rita').id, verdict: 'confirmed' }];
  await kit.ask('decide_review_items', { id, items });
  const open = await kit.ask('get_review', { id, show: 'open' });
  expect([itemNamed(open, 'rita'), itemNamed(open, 'root')?.name]).toEqual([undefined, 'root']);
});

test('a join token shows the labels that it gives and those that its devices may ask for, an agent what it may reach', async () => {
  await using kit = await buildReviewKit();
  const grants = { labels: { env: 'prod' }, deviceLabels: ['role'], usageLimit: 3 };
  await kit.ask('generate_join_token', { name: 'dba', ...grants });
  const reach = [{ ports: [{ protocol: 'TCP', port: 443 }] }];
  await kit.ask('create_agent', { name: 'scout', scopes: ['network:read', 'tokens:write'], tokenUses: 9, reach });
  const { id } = await kit.ask('start_review', { kind: 'access' });
  const shown = await kit.ask('get_review', { id });
  expect(itemNamed(shown, 'dba').facts).toMatchObject({
    labels: 'env=prod',
    device_labels: 'role',
    network: 'default',
    uses: '3',
  });
  expect(itemNamed(shown, 'scout').facts).toMatchObject({
    preset: 'inherit',
    reach: '[{"ports":[{"port":443,"protocol":"TCP"}]}]',
    token_uses: '9',
  });
});

test('a review holds no secret, not even the digest of one', async () => {
  await using kit = await buildReviewKit();
  const { token } = await kit.ask('generate_join_token', { name: 'for-all' });
  const { id } = await kit.ask('start_review', { kind: 'access' });
  const text = JSON.stringify(await kit.ask('get_review', { id }));
  expect(text).toContain('for-all');
  expect(text).not.toContain(token);
  expect(text).not.toMatch(/passwordHash|token:[0-9a-f]{64}/);
});

test('one review of a kind is open at a time, of each kind one', async () => {
  await using kit = await buildReviewKit();
  await kit.ask('start_review', { kind: 'access' });
  expect(await refusalOf(kit.ask('start_review', { kind: 'access' }))).toBe('conflict');
  await kit.ask('start_review', { kind: 'policies' });
  await kit.ask('start_review', { kind: 'activity' });
});

test('a review of policies says who answers for each, what lint finds, and what changed since the last one', async () => {
  await using kit = await buildReviewKit();
  const annotations = { 'compliance.owner': 'ada', 'compliance.justification': 'the base' };
  await kit.ask('create_policy', { name: 'base', annotations, spec: { action: 'DENY', peerSelector: {} } });
  await kit.ask('create_policy', { name: 'old', spec: { action: 'DENY', peerSelector: { matchLabels: { a: 'b' } } } });
  const first = await kit.reviewed('policies');
  await kit.ask('delete_policy', { id: 'old' });
  await kit.ask('update_policy', { id: 'base', spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } });
  await kit.ask('create_policy', { name: 'new', spec: { action: 'ALLOW', peerSelector: {}, ingress: [{}] } });
  const before = await kit.ask('get_review', { id: first });
  expect(itemNamed(before, 'old').told.findings).toContain('SELECTS_NO_PEER');
  const { id, previous, notes } = await kit.ask('start_review', { kind: 'policies' });
  const shown = await kit.ask('get_review', { id });
  expect(previous.id).toBe(first);
  expect(notes).toEqual(['Gone since the review before: old.']);
  expect(itemNamed(shown, 'base').told).toMatchObject({
    owner: 'ada',
    justification: 'the base',
    since_last: 'changed',
  });
  expect(itemNamed(shown, 'new').told).toMatchObject({ owner: 'none', since_last: 'added' });
});

test('a review of activity counts what the log has by types, and goes on where the last one ended', async () => {
  await using kit = await buildReviewKit();
  const refused = { type: 'refused', actor: 'user:eve', result: 'refused' } as const;
  await kit.services.store.record(kit.workspace, [refused, refused, { ...refused, type: 'login' }]);
  const spec = { action: 'DENY', peerSelector: {} };
  await kit.ask('create_policy', { name: 'base', spec });
  const size = await kit.services.store.auditTree(kit.workspace).size();
  const { id, range } = await kit.ask('start_review', { kind: 'activity' });
  expect(range).toMatchObject({ from_seq: 0, to_seq: size - 1, left: 0 });
  const shown = await kit.ask('get_review', { id });
  expect(itemNamed(shown, 'refused').facts).toMatchObject({ count: '2', actors: '1' });
  expect(itemNamed(shown, 'login (refused)').facts).toMatchObject({ count: '1' });
  const counts = shown.items.map(({ facts }: { facts: { count: string } }) => Number(facts.count));
  expect(counts.reduce((sum: number, one: number) => sum + one, 0)).toBe(size);
  await kit.ask('decide_review_items', { id, confirm_rest: true });
  await kit.ask('finish_review', { id });
  const { range: next } = await kit.ask('start_review', { kind: 'activity' });
  expect(next.from_seq).toBe(size);
});

test('a denied approval is counted as one', async () => {
  await using kit = await buildReviewKit();
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  const spec = { action: 'DENY', peerSelector: {}, ingress: [{}] };
  const { workflow_id: held } = await kit.as('operator')('create_policy', { name: 'shut', spec });
  await kit.ask('reject_workflow', { id: held });
  const { id } = await kit.ask('start_review', { kind: 'activity' });
  expect(itemNamed(await kit.ask('get_review', { id }), 'approval denied').facts.count).toBe('1');
});

test('entries that there are not, a reversed range, and entries of another kind of review are refused', async () => {
  await using kit = await buildReviewKit();
  await kit.member('ada', 'viewer');
  await kit.member('eva', 'viewer');
  const start = (raw: object) => refusalOf(kit.ask('start_review', { kind: 'activity', ...raw }));
  expect(await start({ to_seq: 1_000_000 })).toBe('invalid_input /to_seq');
  expect(await start({ from_seq: 1_000_000 })).toBe('invalid_input /from_seq');
  expect(await start({ from_seq: 1, to_seq: 0 })).toBe('invalid_input /to_seq');
  expect(await start({ kind: 'access', to_seq: 0 })).toBe('invalid_input /to_seq');
  expect(await start({ kind: 'people' })).toBe('invalid_input /kind');
});

test('neither an agent nor who may not assess starts a review', async () => {
  await using kit = await buildReviewKit();
  const start = (ask: typeof kit.ask) => refusalOf(ask('start_review', { kind: 'access' }));
  expect(await start(kit.holding('compliance:assess', 'network:read'))).toBe('forbidden');
  expect(await start(kit.as('operator'))).toBe('forbidden compliance:assess');
});

test('the Community edition has no reviews', async () => {
  await using kit = await buildReviewKit({ edition: 'community' });
  expect(await refusalOf(kit.ask('start_review', { kind: 'access' }))).toBe('edition_required');
});

import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { ADMIN_PASSWORD, buildIdentityKit, buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const DENY = { action: 'DENY', peerSelector: {} };

test('a change is listed with who, why and when, and whether anyone approved it', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  kit.clock.time = NOON + 1_000;
  await kit.ask('create_policy', { name: 'base', spec: DENY });
  const { items } = await kit.ask('list_audit', { limit: 1 });
  expect(items).toEqual([
    {
      seq: expect.any(Number),
      at: formatInstant(NOON + 1_000),
      type: 'commit',
      actor: 'user:admin',
      requestId: expect.stringMatching(/^r_/),
      revision: expect.any(Number),
      reason: 'created policy base',
      direct: true,
      changes: [
        {
          type: 'created',
          kind: 'MeshPolicy',
          name: 'base',
          uid: expect.stringMatching(/^pol_/),
          digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ],
    },
  ]);
});

test('filters narrow the log and pages join up', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  for (let index = 0; index < 5; index += 1) {
    kit.clock.time = NOON + index * 1_000;
    await kit.ask('create_policy', { name: `base-${index}`, spec: DENY });
  }
  const names = ({ items }: { items: { changes: { name: string }[] }[] }) =>
    items.map(({ changes }) => changes[0]?.name);
  const all = ['base-4', 'base-3', 'base-2', 'base-1', 'base-0'];
  const query = { kind: 'MeshPolicy', limit: 3 };
  const first = await kit.ask('list_audit', query);
  const second = await kit.ask('list_audit', { ...query, cursor: first.next_cursor });
  expect([...names(first), ...names(second)]).toEqual(all);
  expect(second).not.toHaveProperty('next_cursor');
  expect(names(await kit.ask('list_audit', { name: 'base-2', kind: 'MeshPolicy' }))).toEqual(['base-2']);
  const range = { from: formatInstant(NOON + 1_000), to: formatInstant(NOON + 2_000), kind: 'MeshPolicy' };
  expect(names(await kit.ask('list_audit', range))).toEqual(['base-2', 'base-1']);
  expect(names(await kit.ask('list_audit', { actor: 'user:nobody' }))).toEqual([]);
});

test('a plain name finds what the person or the agent of that name did, and nobody else', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  const by = (actor: string) => ({ type: 'probe', actor, result: 'ok' }) as const;
  const actors = ['user:ada', 'agent:ada', 'device:ada', 'token:ada', 'user:adam'];
  await kit.services.store.record(kit.workspace, actors.map(by));
  const found = async (actor: string) =>
    (await kit.ask('list_audit', { actor })).items.map((entry: { actor: string }) => entry.actor).toSorted();
  expect(await found('ada')).toEqual(['agent:ada', 'user:ada']);
  expect(await found('device:ada')).toEqual(['device:ada']);
});

test('what jobs of the control plane wrote is left out on request, and every page of the rest is full', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  const presence = { type: 'presence', actor: 'system:presence', result: 'ok' } as const;
  for (let index = 0; index < 5; index += 1) {
    await kit.ask('create_policy', { name: `base-${index}`, spec: DENY });
    await kit.services.store.record(
      kit.workspace,
      Array.from({ length: 9 }, () => presence),
    );
  }
  const query = { author: 'caller', kind: 'MeshPolicy', limit: 2 };
  const sizes: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await kit.ask('list_audit', { ...query, ...(cursor && { cursor }) });
    sizes.push(page.items.length);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  expect(sizes).toEqual([2, 2, 1]);
  const { items } = await kit.ask('list_audit', { author: 'system', limit: 200 });
  expect(new Set(items.map(({ event }: { event?: string }) => event))).toContain('presence');
  expect(items.every(({ actor }: { actor: string }) => actor.startsWith('system:'))).toBe(true);
});

test.each([
  ['an unknown author', { author: 'robot' }],
  ['an unknown kind', { kind: 'Pod' }],
  ['a time that is none', { from: 'monday' }],
  ['a cursor that is none', { cursor: 'abc' }],
])('a query with %s is refused', async (_what, query) => {
  await using kit = await buildHistoryKit();
  await expect(kit.ask('list_audit', query)).rejects.toMatchObject({ code: 'invalid_input' });
});

test('a platform administrator who names no workspace reads logins, logouts, failed logins, accounts and members', async () => {
  await using kit = await buildIdentityKit();
  const workspace = await kit.workspace();
  const bearer = await kit.login('admin', ADMIN_PASSWORD, '203.0.113.7');
  await expect(kit.login('admin', 'a wrong Password 1', '203.0.113.8')).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  const user = { username: 'ada', password: 'another Password 1', displayName: 'Ada' };
  await kit.call({ name: 'create_user' }, user, { bearer });
  await kit.call({ name: 'set_member' }, { username: 'ada', role: 'operator' }, { bearer, workspace });
  await kit.call({ name: 'remove_member' }, { username: 'ada' }, { bearer, workspace });
  await kit.call({ name: 'log_out' }, {}, { bearer: await kit.login('admin', ADMIN_PASSWORD) });
  const { items } = await kit.call<{ items: Record<string, unknown>[] }>(
    { name: 'list_audit' },
    { limit: 200 },
    { bearer },
  );
  const events = items
    .filter(({ type }) => type === 'event')
    .map(({ event, result, actor, origin, detail }) => {
      const { changes = [] } = (detail ?? {}) as { changes?: { type: string; name: string }[] };
      return [event, result, actor, origin ?? changes.map(({ type, name }) => `${type} ${name}`).join()];
    });
  expect(events).toEqual([
    ['logout', 'ok', 'user:admin', '127.0.0.1'],
    ['login', 'ok', 'user:admin', '127.0.0.1'],
    ['members', 'ok', 'user:admin', 'deleted ada'],
    ['members', 'ok', 'user:admin', 'created ada'],
    ['login', 'refused', 'user:admin', '203.0.113.8'],
    ['login', 'ok', 'user:admin', '203.0.113.7'],
  ]);
  expect(items.map(({ reason }) => reason)).toContain('created account ada');
  expect(JSON.stringify(items)).not.toMatch(/assword 1|argon2|eyJ/);

  const ask = (query: object) =>
    kit.call<{ items: object[]; next_cursor?: string }>({ name: 'list_audit' }, { ...query }, { bearer });
  const first = await ask({ type: 'event', limit: 4 });
  const second = await ask({ type: 'event', limit: 4, cursor: first.next_cursor });
  expect([...first.items, ...second.items]).toEqual(items.filter(({ type }) => type === 'event'));
  expect((await ask({ kind: 'Account', name: 'ada' })).items).toHaveLength(1);
});

test('the log of the installation is for platform administrators: others name a workspace', async () => {
  await using kit = await buildIdentityKit();
  const [one, two] = [await kit.workspace(), await kit.workspace()];
  await kit.person('ada', 'admin', one);
  const both = { username: 'ada', role: 'admin' };
  await kit.call({ name: 'set_member' }, both, { bearer: await kit.admin(), workspace: two });
  const bearer = await kit.sessionOf('ada');
  const refused = kit.call({ name: 'list_audit' }, {}, { bearer });
  await expect(refused).rejects.toMatchObject({ code: 'invalid_input' });
  const named = kit.call({ name: 'list_audit' }, {}, { bearer, workspace: 'w_system' });
  await expect(named).rejects.toMatchObject({ code: 'not_found' });
});

test('who changed a setting, an account, a member or a token, and from what to what, is in the log, and no secret is', async () => {
  await using kit = await buildIdentityKit();
  const workspace = await kit.workspace();
  const bearer = await kit.admin();
  const within = { bearer, workspace };
  const password = 'another Password 1';
  await kit.call('create_user', { username: 'ada', password, displayName: 'Ada' }, { bearer });
  await kit.call('update_user', { username: 'ada', role: 'platform_admin', password: `${password}2` }, { bearer });
  await kit.call('set_member', { username: 'ada', role: 'viewer' }, within);
  await kit.call('set_member', { username: 'ada', role: 'admin' }, within);
  await kit.call('generate_join_token', { name: 'ci', labels: { role: 'ci' }, usageLimit: 3 }, within);
  await kit.call('update_workspace', { settings: { requirePeerApproval: true, timeZone: 'Europe/Berlin' } }, within);

  interface Item {
    readonly actor: string;
    readonly fields?: readonly { readonly kind: string; readonly name: string; readonly text: string }[];
  }
  const told = async (as: object) => {
    const { items } = await kit.call<{ items: Item[] }>('list_audit', { limit: 200 }, as);
    const texts = items.flatMap(({ actor, fields = [] }) =>
      fields.map(({ kind, name, text }) => `${actor} ${kind} ${name} ${text}`),
    );
    return { texts, all: JSON.stringify(items) };
  };
  const [own, installation] = [await told(within), await told({ bearer })];
  const settings = [
    'user:admin Workspace default requirePeerApproval: off → on',
    'user:admin Workspace default timeZone: UTC → Europe/Berlin',
  ].map((line) => line.replace('default', own.texts.find((text) => text.includes('timeZone'))?.split(' ')[2] ?? ''));
  const member = ['user:admin Member ada role: unset → viewer', 'user:admin Member ada role: viewer → admin'];
  expect(own.texts).toEqual(expect.arrayContaining([...settings, ...member]));
  const ofToken = own.texts.filter((text) => text.includes(' Token '));
  expect(ofToken.join()).toMatch(/usageLimit: unset → 3.*role: unset → ci/);
  expect(installation.texts).toEqual(
    expect.arrayContaining([
      ...settings,
      ...member,
      'user:admin Account ada role: user → platform_admin',
      'user:admin Account ada passwordHash: changed',
    ]),
  );
  expect(own.all + installation.all).not.toMatch(/assword 1|argon2|eyJ/);
});

test('a refused call is listed with who tried what, how often, and why it was refused', async () => {
  await using kit = await buildPeopleKit();
  for (let call = 0; call < 2; call += 1) {
    await expect(kit.vic('create_policy', { name: 'open', spec: DENY })).rejects.toMatchObject({ code: 'forbidden' });
  }
  await kit.gate.flushRefusals();
  const { items } = await kit.ada('list_audit', { type: 'event', limit: 1 });
  expect(items[0]).toMatchObject({
    actor: 'user:vic',
    event: 'refused',
    result: 'refused',
    reason: expect.stringContaining('network:write'),
    detail: { operation: 'create_policy', code: 'forbidden', count: 2 },
  });
});

test('a filter by kind or name finds events that tell changes of such records', async () => {
  await using kit = await buildIdentityKit();
  const workspace = await kit.workspace();
  const within = { bearer: await kit.admin(), workspace };
  await kit.person('ada', 'viewer', workspace);
  await kit.call('update_workspace', { settings: { requirePeerApproval: true } }, within);
  const found = async (query: Record<string, unknown>) => {
    const { items } = await kit.call<{ items: { event?: string; fields?: { text: string }[] }[] }>(
      'list_audit',
      query,
      within,
    );
    return items.map(({ event, fields = [] }) => [event, ...fields.map(({ text }) => text)]);
  };
  expect(await found({ kind: 'Workspace' })).toEqual([['settings', 'requirePeerApproval: off → on']]);
  expect(await found({ kind: 'Workspace', type: 'commit' })).toEqual([]);
  expect(await found({ kind: 'Workspace', name: 'nowhere' })).toEqual([]);
});

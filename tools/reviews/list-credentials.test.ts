import { expect, test } from 'vitest';
import { buildReviewKit } from '../../test/kits/plane/review-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const DAY_MS = 86_400_000;

test('keys and tokens are listed with their ages, and none of their secrets', async () => {
  await using kit = await buildReviewKit();
  const ada = await kit.member('ada', 'admin');
  const { id, deviceToken } = await kit.join('web-1');
  const { token } = await ada.ask('create_api_token', { name: 'ci' });
  kit.clock.time += 3 * DAY_MS;
  const answer = await kit.ask('list_credentials', { limit: 200 });
  const of = (type: string) => answer.items.filter((one: { type: string }) => one.type === type);
  expect(of('WireGuard key')).toMatchObject([{ id, name: 'web-1', age_days: 3, state: 'in use' }]);
  expect(of('API token')).toMatchObject([{ name: 'ci', age_days: 3, made_by: 'user:ada', state: 'in use' }]);
  expect(of('device token')).toMatchObject([{ name: 'web-1', ends: null }]);
  expect(of('join token')).toMatchObject([{ age_days: 3 }]);
  expect(of('log signing key')).toEqual([]);
  const text = JSON.stringify(answer);
  for (const secret of [token, deviceToken]) expect(text).not.toContain(secret);
  expect(text).not.toMatch(/mesh-(join|dlg|agt|dev|api)-/);
});

test('each entry says what it grants, also to devices that may ask for more', async () => {
  await using kit = await buildReviewKit();
  await kit.join('web-1');
  await kit.ask('update_peer', { id: 'web-1', labels: { role: 'web' } });
  const grants = { labels: { env: 'prod' }, deviceLabels: ['role', 'tier=1'], usageLimit: 3 };
  await kit.ask('generate_join_token', { name: 'dba', ...grants });
  const ada = await kit.member('ada', 'admin');
  await ada.ask('create_api_token', { name: 'ci', scopes: ['network:read'] });
  const { items } = await kit.ask('list_credentials', { limit: 200 });
  const granted = (name: string) =>
    items.flatMap((one: { name: string; grants: string }) => (one.name === name ? [one.grants] : []));
  expect(granted('dba')).toEqual(['usage_limit: 3; labels: env=prod; network: default; device_labels: role, tier=1']);
  expect(granted('web-1')).toContain('labels: role=web; network: default');
  expect(granted('ci')).toEqual(['scopes: network:read']);
});

test('what belongs to the installation is for platform administrators, with an unknown age where none is recorded', async () => {
  await using kit = await buildReviewKit();
  const { items } = await kit.as('platform_admin')('list_credentials', { limit: 200 });
  const types = items.map(({ type }: { type: string }) => type);
  expect(types).toEqual(['log signing key', 'control key', 'session key', 'relay token', 'bus token', 'sessions']);
  expect(items[1]).toMatchObject({ since: 'unknown', age_days: null });
  expect((await kit.as('auditor')('list_credentials')).items).toEqual([]);
});

test('pages go on from one type to the next, each entry once', async () => {
  await using kit = await buildReviewKit();
  for (const name of ['a', 'b', 'c']) await kit.join(name);
  const all = (await kit.as('platform_admin')('list_credentials', { limit: 200 })).items;
  const paged: unknown[] = [];
  for (let cursor: string | undefined; ; ) {
    const query = { limit: 2, ...(cursor !== undefined && { cursor }) };
    const page = await kit.as('platform_admin')('list_credentials', query);
    paged.push(...page.items);
    cursor = page.next_cursor;
    if (cursor === undefined) break;
  }
  expect(paged).toEqual(all);
  expect(all.length).toBeGreaterThan(9);
});

test('it is for who may assess the workspace, and shows nothing of others', async () => {
  await using kit = await buildReviewKit();
  await kit.join('web-1');
  expect((await kit.foreign('list_credentials')).items).toEqual([]);
  expect(await refusalOf(kit.as('operator')('list_credentials'))).toBe('forbidden compliance:assess');
  expect(await refusalOf(kit.ask('list_credentials', { cursor: 'x' }))).toBe('invalid_input /cursor');
});

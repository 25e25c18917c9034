import { expect, test } from 'vitest';
import { removeSpentTokens } from '../../core/identity/remove-spent-tokens.ts';
import { enrol } from '../../test/kits/plane/devices.ts';
import { buildReviewKit, itemNamed } from '../../test/kits/plane/review-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('what somebody holds themselves is confirmed by another person, while there is one', async () => {
  await using kit = await buildReviewKit();
  const [ada, eva] = [await kit.member('ada', 'admin'), await kit.member('eva', 'auditor')];
  const { id } = await ada.ask('start_review', { kind: 'access' });
  const own = itemNamed(await ada.ask('get_review', { id }), 'ada').id;
  const confirm = { id, items: [{ item: own, verdict: 'confirmed' }] };
  expect(await refusalOf(ada.ask('decide_review_items', confirm))).toBe('forbidden');
  expect(await ada.ask('decide_review_items', { id, confirm_rest: true })).toMatchObject({
    held_by_caller: 1,
    undecided: 1,
  });
  expect(await refusalOf(ada.ask('finish_review', { id }))).toBe('conflict');
  expect(await eva.ask('decide_review_items', confirm)).toMatchObject({ decided: 1, undecided: 0 });
  expect((await ada.ask('finish_review', { id })).finished).toMatchObject({ alone: false, own: 0, by: 'user:ada' });
});

test('a single person confirms what they hold, and the record says that nobody else could', async () => {
  await using kit = await buildReviewKit();
  const ada = await kit.member('ada', 'admin');
  await kit.member('olga', 'operator');
  const { id } = await ada.ask('start_review', { kind: 'access' });
  await ada.ask('decide_review_items', { id, confirm_rest: true });
  const { finished } = await ada.ask('finish_review', { id });
  expect(finished).toMatchObject({ alone: true, own: 1, flagged: 0 });
  expect(itemNamed(await ada.ask('get_review', { id }), 'ada').decision).toMatchObject({ own: true, by: 'user:ada' });
});

test('anybody may flag what they hold themselves', async () => {
  await using kit = await buildReviewKit();
  const ada = await kit.member('ada', 'admin');
  await kit.member('eva', 'auditor');
  const { id } = await ada.ask('start_review', { kind: 'access' });
  const own = itemNamed(await ada.ask('get_review', { id }), 'ada').id;
  const flag = { id, items: [{ item: own, verdict: 'flagged', note: 'I leave' }] };
  const bare = { id, items: [{ item: own, verdict: 'flagged' }] };
  expect(await refusalOf(kit.ask('decide_review_items', bare))).toBe('invalid_input /items/0/note');
  expect(await ada.ask('decide_review_items', flag)).toMatchObject({ decided: 1 });
});

test('access that changes while the review is open is shown so, and looked at again', async () => {
  await using kit = await buildReviewKit();
  const ada = await kit.member('ada', 'admin');
  await kit.member('olga', 'viewer');
  const { id } = await ada.ask('start_review', { kind: 'access' });
  await ada.ask('decide_review_items', { id, confirm_rest: true });
  kit.clock.time += 60_000;
  await kit.ask('set_member', { username: 'olga', role: 'admin' });
  const changed = itemNamed(await ada.ask('get_review', { id, show: 'open' }), 'olga');
  expect(changed).toMatchObject({ standing: 'changed', facts: { role: 'admin' } });
  expect(await refusalOf(ada.ask('finish_review', { id }))).toBe('conflict');
  expect(await ada.ask('decide_review_items', { id, confirm_rest: true })).toMatchObject({ decided: 0, changed: 1 });
  const item = { item: changed.id, verdict: 'confirmed' };
  expect(await refusalOf(ada.ask('decide_review_items', { id, items: [item] }))).toBe('conflict');
  await ada.ask('decide_review_items', { id, items: [{ ...item, digest: changed.digest }] });
  // Olga administers by now, so somebody else could have reviewed.
  expect((await ada.ask('finish_review', { id })).finished).toMatchObject({ alone: false });
  expect(itemNamed(await ada.ask('get_review', { id }), 'olga')).toMatchObject({ facts: { role: 'admin' } });
});

test('what ends while the review is open need not be decided, and what comes is for the next one', async () => {
  await using kit = await buildReviewKit();
  const ada = await kit.member('ada', 'admin');
  await kit.member('olga', 'viewer');
  const { id } = await ada.ask('start_review', { kind: 'access' });
  await kit.ask('remove_member', { username: 'olga' });
  await kit.ask('set_member', { username: 'nora', role: 'viewer' });
  expect(await ada.ask('get_review', { id })).toMatchObject({ new_since: 1 });
  await ada.ask('decide_review_items', { id, confirm_rest: true });
  expect((await ada.ask('finish_review', { id })).finished).toMatchObject({ ended: 1 });
});

test('items that the review does not have are refused, and nothing is decided with them', async () => {
  await using kit = await buildReviewKit();
  const ada = await kit.member('ada', 'admin');
  const { id } = await ada.ask('start_review', { kind: 'access' });
  const own = itemNamed(await ada.ask('get_review', { id }), 'ada').id;
  const items = [own, 'Member/mem_forged'].map((item) => ({ item, verdict: 'confirmed' }));
  expect(await refusalOf(ada.ask('decide_review_items', { id, items }))).toBe('invalid_input /items/1/item');
  expect(itemNamed(await ada.ask('get_review', { id }), 'ada').decision).toBe(null);
  const twice = [items[0], items[0]];
  expect(await refusalOf(ada.ask('decide_review_items', { id, items: twice }))).toBe('invalid_input /items/0/item');
  expect(await refusalOf(ada.ask('decide_review_items', { id }))).toBe('invalid_input /items');
  expect(await refusalOf(ada.ask('decide_review_items', { id: 'rev_none', confirm_rest: true }))).toBe('not_found');
});

test('neither an agent, nor somebody of another workspace, nor a person by a token decides', async () => {
  await using kit = await buildReviewKit();
  const ada = await kit.member('ada', 'admin');
  const { id } = await ada.ask('start_review', { kind: 'access' });
  const raw = { id, confirm_rest: true };
  expect(await refusalOf(kit.holding('compliance:assess', 'network:read')('decide_review_items', raw))).toBe(
    'forbidden',
  );
  expect(await refusalOf(kit.foreign('decide_review_items', raw))).toBe('not_found');
  const byToken = { ...ada.caller, interactive: false };
  const call = kit.call('decide_review_items', raw, { as: byToken, workspace: kit.workspace });
  expect(await refusalOf(call)).toBe('forbidden');
});

test('a device is of who made the token that it came with, also when the token is used up and gone', async () => {
  await using kit = await buildReviewKit();
  const [ada] = [await kit.member('ada', 'admin'), await kit.member('eva', 'auditor')];
  const { token } = await ada.ask('generate_join_token', { name: 'own', expiry: '', usageLimit: 1 });
  await enrol(kit, token, 'laptop');
  await removeSpentTokens(kit.services);
  const { id } = await ada.ask('start_review', { kind: 'access' });
  const device = itemNamed(await ada.ask('get_review', { id }), 'laptop').id;
  const confirm = { id, items: [{ item: device, verdict: 'confirmed' }] };
  expect(await refusalOf(ada.ask('decide_review_items', confirm))).toBe('forbidden');
});

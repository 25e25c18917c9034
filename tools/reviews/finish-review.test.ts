import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { RETENTION_MS } from '../../core/compliance/retention.ts';
import { removeOldReviews } from '../../core/compliance/reviews/reminders.ts';
import { buildKit } from '../../test/kits/plane/kit.ts';
import { buildReviewKit, itemNamed } from '../../test/kits/plane/review-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a review with undecided items is not finished, one of which all are decided is, once', async () => {
  await using kit = await buildReviewKit();
  const ada = await kit.member('ada', 'admin');
  const { id, digest } = await ada.ask('start_review', { kind: 'access' });
  expect(await refusalOf(ada.ask('finish_review', { id }))).toBe('conflict');
  await ada.ask('decide_review_items', { id, confirm_rest: true, note: 'as agreed' });
  const done = await ada.ask('finish_review', { id, note: 'first half of the year' });
  expect(done).toMatchObject({ state: 'finished', finished: { by: 'user:ada', note: 'first half of the year' } });
  expect(done.digest).not.toBe(digest);
  expect(await refusalOf(ada.ask('finish_review', { id }))).toBe('conflict');
  expect(await refusalOf(ada.ask('decide_review_items', { id, confirm_rest: true }))).toBe('conflict');
});

test('no agent finishes a review, nor anybody of another workspace', async () => {
  await using kit = await buildReviewKit();
  const { id } = await kit.ask('start_review', { kind: 'access' });
  await kit.ask('decide_review_items', { id, confirm_rest: true });
  expect(await refusalOf(kit.holding('compliance:assess', 'network:read')('finish_review', { id }))).toBe('forbidden');
  expect(await refusalOf(kit.foreign('finish_review', { id }))).toBe('not_found');
  expect(await refusalOf(kit.as('operator')('finish_review', { id }))).toBe('forbidden compliance:assess');
});

test('a finished review says whether what it flagged has ended, also when less is held', async () => {
  await using kit = await buildReviewKit();
  const ada = await kit.member('ada', 'admin');
  for (const name of ['olga', 'nora']) await kit.member(name, 'operator');
  const { id } = await ada.ask('start_review', { kind: 'access' });
  const shown = await ada.ask('get_review', { id });
  const items = ['olga', 'nora'].map((name) => ({ item: itemNamed(shown, name).id, verdict: 'flagged', note: 'left' }));
  await ada.ask('decide_review_items', { id, items });
  await ada.ask('decide_review_items', { id, confirm_rest: true });
  await ada.ask('finish_review', { id });
  const flagged = async () => {
    const { flagged_in_force: inForce, items: found } = await ada.ask('get_review', { id, show: 'flagged' });
    return [inForce, found.map((item: { in_force: boolean }) => item.in_force)];
  };
  expect(await flagged()).toEqual([2, [true, true]]);
  expect(itemNamed(await ada.ask('get_review', { id }), 'olga').end_by).toEqual({
    operation: 'remove_member',
    id: 'olga',
  });
  await kit.ask('remove_member', { username: 'olga' });
  await kit.ask('set_member', { username: 'nora', role: 'viewer' });
  expect((await flagged())[0]).toBe(0);
  await kit.ask('set_member', { username: 'nora', role: 'admin' });
  expect((await flagged())[0]).toBe(1);
});

test('a review is there after a restart, and goes after three years with all its pages', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reviews-'));
  const file = path.join(folder, 'mesh.db');
  try {
    const ids: string[] = [];
    let workspace = '';
    let time = 0;
    {
      await using kit = await buildReviewKit({ path: file });
      ids.push(await kit.reviewed('access'), (await kit.ask('start_review', { kind: 'policies' })).id);
      [workspace, time] = [kit.workspace, kit.clock.time];
    }
    await using again = await buildKit({ path: file, now: time });
    const { clock } = again;
    const { store } = again.services;
    expect((await store.list(workspace, 'Review')).items.map(({ uid }) => uid).sort()).toEqual([...ids].sort());
    clock.time += RETENTION_MS - 1;
    expect(await removeOldReviews({ store, clock }, workspace)).toBe(0);
    clock.time += 60_000;
    expect(await removeOldReviews({ store, clock }, workspace)).toBe(1);
    // One that is open stays, whatever its age.
    expect((await store.list(workspace, 'Review')).items.map(({ uid }) => uid)).toEqual([ids[1]]);
    expect((await store.list(workspace, 'ReviewPage')).items.every(({ spec }) => spec.review === ids[1])).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('reviews go with their workspace', async () => {
  await using kit = await buildReviewKit();
  await kit.reviewed('access');
  await kit.as('platform_admin')('delete_workspace', {});
  for (const kind of ['Review', 'ReviewPage'] as const) {
    expect((await kit.services.store.list(kit.workspace, kind)).items).toEqual([]);
  }
});

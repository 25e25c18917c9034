import { expect, test } from 'vitest';
import { announceDueReviews, removeOldReviews } from '../../core/compliance/reviews/reminders.ts';
import { buildReviewKit } from '../../test/kits/plane/review-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const DAY_MS = 86_400_000;

test('reviews are listed newest first, by kind, with when the next one is due', async () => {
  await using kit = await buildReviewKit();
  const access = await kit.reviewed('access');
  kit.clock.time += DAY_MS;
  const { id: open } = await kit.ask('start_review', { kind: 'activity' });
  const listed = await kit.as('auditor')('list_reviews');
  expect(listed.items.map(({ id }: { id: string }) => id)).toEqual([open, access]);
  expect(listed.due).toEqual([
    {
      kind: 'access',
      due_at: '2026-07-08T12:00:00.000Z',
      overdue: false,
      reminders: true,
      last_id: access,
      open_id: null,
    },
    {
      kind: 'policies',
      due_at: '2026-07-08T12:00:00.000Z',
      overdue: false,
      reminders: false,
      last_id: null,
      open_id: null,
    },
    {
      kind: 'activity',
      due_at: '2026-04-07T12:00:00.000Z',
      overdue: false,
      reminders: false,
      last_id: null,
      open_id: open,
    },
  ]);
  expect((await kit.ask('list_reviews', { kind: 'access' })).items).toHaveLength(1);
  expect((await kit.foreign('list_reviews')).items).toEqual([]);
  expect(await refusalOf(kit.as('operator')('list_reviews'))).toBe('forbidden compliance:assess');
});

test('a workspace sets its own cadences, and gets those of the docs back by null', async () => {
  await using kit = await buildReviewKit();
  await kit.ask('update_workspace', { settings: { reviews: { access: 30 } } });
  const [access] = (await kit.ask('list_reviews')).due;
  expect(access).toMatchObject({ due_at: '2026-02-04T12:00:00.000Z', reminders: true });
  await kit.ask('update_workspace', { settings: { reviews: null } });
  expect((await kit.ask('list_reviews')).due[0]).toMatchObject({ reminders: false });
  const set = (reviews: object) => refusalOf(kit.ask('update_workspace', { settings: { reviews } }));
  expect(await set({ access: 0 })).toBe('invalid_input /settings/reviews/access');
  expect(await set({ access: 10_000 })).toBe('invalid_input /settings/reviews/access');
});

test('a review that is due is told once for each instant at which one is, and not before', async () => {
  await using kit = await buildReviewKit();
  await kit.ask('update_workspace', { settings: { reviews: { access: 30, policies: 366, activity: 366 } } });
  const tell = () => announceDueReviews(kit.services, kit.workspace);
  expect(await tell()).toBe(0);
  kit.clock.time += 30 * DAY_MS;
  expect([await tell(), await tell()]).toEqual([1, 0]);
  const log = await kit.ask('list_audit', { type: 'event' });
  const reminders = log.items.filter(({ actor }: { actor: string }) => actor === 'system:reviews');
  expect(reminders).toMatchObject([
    { event: 'review.due', actor: 'system:reviews', detail: { kind: 'access', due_at: '2026-02-04T12:00:00.000Z' } },
  ]);
  await kit.reviewed('access');
  expect(await tell()).toBe(0);
  kit.clock.time += 30 * DAY_MS;
  expect(await tell()).toBe(1);
});

test('nobody is reminded who never asked for it, and nobody of a workspace that has gone', async () => {
  await using kit = await buildReviewKit();
  kit.clock.time += 400 * DAY_MS;
  expect(await announceDueReviews(kit.services, kit.workspace)).toBe(0);
  await kit.ask('update_workspace', { settings: { reviews: {} } });
  await kit.as('platform_admin')('delete_workspace', {});
  expect(await announceDueReviews(kit.services, kit.workspace)).toBe(0);
  expect(await removeOldReviews(kit.services, kit.workspace)).toBe(0);
});

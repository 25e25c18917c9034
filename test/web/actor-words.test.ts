import { expect, test } from 'vitest';
import { withPlainNames } from '../../web/src/design/actor-words.ts';
import { eventText } from '../../web/src/pages/audit/entry-words.ts';
import { titleText } from '../../web/src/pages/time/change.ts';

test.each([
  ['changed by user:admin and agent:ops.', 'changed by admin and agent ops.'],
  ['made by system:compliance with token:laptops', 'made by Mesh: compliance with join token laptops'],
  ['superuser:x, user: nobody', 'superuser:x, user: nobody'],
])('who acted is written in the text %j as elsewhere', (text, shown) => {
  expect(withPlainNames(text)).toBe(shown);
});

test('the slider of Time names who made a change as its row does', () => {
  const resources = [{ type: 'created', kind: 'MeshPolicy', name: 'base' }] as const;
  const titleBy = (actor: string | null) =>
    titleText({ resources, actor } as unknown as Parameters<typeof titleText>[0]);
  expect([titleBy('user:admin'), titleBy(null)]).toEqual([
    'policy base created, admin',
    'policy base created, expired',
  ]);
});

test.each([
  ['token_used', {}, 'token used'],
  ['compliance.schedule_failed', {}, 'compliance schedule failed'],
  [
    'compliance.drift',
    { control: 'PCI-DSS-1.3', from: 'pass', to: 'fail' },
    'compliance drift: PCI-DSS-1.3 pass → fail',
  ],
  ['refused', { operation: 'list_peers', count: 2 }, 'list peers refused 2 times'],
])('the event %s is written in words', (event, detail, words) => {
  expect(eventText({ event, detail } as unknown as Parameters<typeof eventText>[0])).toBe(words);
});

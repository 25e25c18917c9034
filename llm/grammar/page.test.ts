import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import type { PolicySpec } from '../../core/model/policy.ts';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { readSentence } from './read.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const page = readFileSync(new URL('../../docs/sentences.md', import.meta.url), 'utf8');

interface Network {
  readonly peers: readonly { readonly name: string; readonly labels: Record<string, string> }[];
  readonly policies: readonly { readonly name: string; readonly spec: PolicySpec }[];
}

const { peers, policies } = load(/```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '') as Network;
const state = stateWith(
  ...peers.map(({ name, labels }, index) => peer(name, { labels, address: `10.96.0.${index + 1}` })),
  ...policies.map(({ name, spec }) => policy(name, spec)),
);
const rows = [...page.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].map(([, sentence = '', result = '']) => ({
  sentence,
  result,
}));
const read = rows.filter(({ result }) => result.startsWith('`'));
const asked = rows.filter(({ result }) => !result.startsWith('`'));

/** Returns what a sentence becomes, in the words of the page. */
function told(sentence: string): string {
  const answer = readSentence(sentence, { state, now: NOW, timeZone: 'UTC' });
  if (answer.outcome === 'refused') return `asked: ${answer.reason}`;
  if (answer.outcome === 'revert') return '`revert`: the newest change is taken back';
  const { orders, documents = [], delete: deleted = [] } = answer;
  return [...[...orders, ...documents].map((one) => JSON.stringify(one)), ...deleted.map((name) => `delete ${name}`)]
    .map((text) => `\`${text}\``)
    .join('<br>');
}

test('the page shows some forty forms', () => {
  expect(read.length).toBeGreaterThanOrEqual(40);
});

test.each(read)('$sentence', ({ sentence, result }) => {
  expect(told(sentence)).toBe(result);
});

test.each(asked)('is asked about: $sentence', ({ sentence }) => {
  expect(readSentence(sentence, { state, now: NOW, timeZone: 'UTC' })).toMatchObject({
    outcome: 'refused',
    questions: [expect.stringMatching(/\?/)],
  });
});

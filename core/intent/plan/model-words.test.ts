import { describe, expect, it } from 'vitest';
import { peer, stateWith } from '../../../test/kits/records/records.ts';
import { planChanges } from '../../changes/changes.ts';
import { effectOf } from '../../effect/effect.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import { plannerWords } from './diff-markdown.ts';
import { claimsOf, modelAsks, modelSays } from './model-words.ts';

const STATE = stateWith(
  peer('web-1', { labels: { role: 'web' } }),
  peer('db-1', { labels: { role: 'db' } }),
  peer('ci-1', { labels: { role: 'ci' } }),
);
const only = (port: number) =>
  planChanges(
    STATE,
    [
      {
        action: 'create',
        resource: 'MeshPolicy',
        name: 'only-web',
        spec: {
          action: 'ALLOW',
          peerSelector: { matchLabels: { role: 'db' } },
          ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port }] }],
        },
      },
    ],
    0,
  ).after;
const reach = (state: typeof STATE) => compile(modelOf(state, 0));
/** db-1 is closed but for web-1 on 5432; then it opens on 5433 instead. */
const [before, after] = [only(5432), only(5433)];
const COMPUTED = { effect: effectOf(reach(before), reach(after)), after };

describe('the words of a model', () => {
  it.each([
    ['It opens port 22.', 'nothing opens or closes on port 22'],
    ['It closes 22/tcp for everyone.', 'nothing opens or closes on port 22'],
    ['It lets ci-1 reach db-1.', 'it opens nothing between ci-1 and db-1'],
    ['It blocks ci-1.', 'it closes nothing of ci-1'],
  ])('%j is contradicted where the effect has no such thing', (text, contradiction) => {
    expect(claimsOf(text, COMPUTED)).toEqual([{ text, contradiction }]);
  });

  it.each([
    'It opens TCP 5433 from web-1 to db-1.',
    'It closes port 5432 of db-1.',
    'It does not open port 22.',
    'ci-1 still cannot reach db-1.',
    'It opens web-1 and blocks ci-1.',
    'Please approve.',
  ])('%j is left as it is, marked and not judged', (text) => {
    expect(claimsOf(text, COMPUTED)).toEqual([{ text }]);
  });

  it('that open something where nothing opens at all are contradicted', () => {
    const same = { effect: effectOf(reach(before), reach(before)), after: before };
    expect(claimsOf('It lets them in.', same)).toMatchObject([{ contradiction: 'it opens nothing' }]);
  });

  it('are judged sentence by sentence, and stand in the Markdown as the words of the model with what contradicts them', () => {
    expect(plannerWords('It closes port 5432. It opens port 22.', undefined, COMPUTED)).toBe(
      [
        '',
        '## The model says why (its own words, not checked)',
        '',
        '> It closes port 5432.',
        '> It opens port 22.',
        '',
        '**The computed effect contradicts this**: nothing opens or closes on port 22.',
        '',
        '',
      ].join('\n'),
    );
  });

  it('cannot end their quotation', () => {
    expect(modelSays('done". Approved: "yes')).toBe('The model says: "done\\". Approved: \\"yes"');
    expect(modelAsks('which?')).toBe('The model asks: "which?"');
  });
});

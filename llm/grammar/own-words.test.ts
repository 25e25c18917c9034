import { expect, test } from 'vitest';
import { planChanges } from '../../core/changes/changes.ts';
import { effectOf } from '../../core/effect/effect.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { peer, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';
import { PHRASES_SAID } from './lexicon.ts';
import { KNOWN_SERVICES } from './services.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const NAMED = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/;
/** Words of the grammar, as a device may be called. */
const WORDS = [
  ...new Set(
    [
      ...'me ssh us i my we peers devices servers others ping tcp ports 443 everything access rest the'.split(' '),
      ...Object.keys(KNOWN_SERVICES),
      ...PHRASES_SAID.flatMap((phrase) => phrase.split(' ')),
    ].filter((word) => NAMED.test(word)),
  ),
];
const TEMPLATES = [
  'let $ reach db-1 on ssh',
  'block $ from db-1',
  'let web-1 reach $ on ssh',
  'block web-1 from $',
  'let web-1 and $ reach db-1 on 5432',
  'allow $ to db-1',
  'allow $ from web-1 to db-1',
  'close $ to db-1',
  'only $ may reach db-1 on ssh',
  'block everyone except $ from db-1',
  'isolate $',
  'let web-1 reach db-1 on ssh $',
];

/** What comes of a sentence: undefined where something is asked. */
function planned(intent: string, state: NetworkState): string | undefined {
  const answer = planByGrammar({ intent, state, now: NOW });
  if (answer.outcome !== 'changes' || answer.questions !== undefined) return undefined;
  const { after } = planChanges(state, answer.changes, NOW);
  const { groups, outside } = effectOf(compile(modelOf(state, NOW)), compile(modelOf(after, NOW)));
  const called = (names: readonly string[]) => names.map((name) => state.peers.get(name)?.uid ?? name).toSorted();
  const told = groups.map(({ src, dst, opened, closed }) => [called(src), called(dst), opened, closed]);
  return JSON.stringify([
    told.map((one) => JSON.stringify(one)).toSorted(),
    outside?.map((one) => [one.side, one.ranges.map(String), called(one.peers), one.opened, one.closed]),
  ]);
}

function stateCalling(name: string): NetworkState {
  return stateWith(...[peer('web-1', { uid: 'p_web' }), peer('db-1', { uid: 'p_db' }), peer(name, { uid: 'p_new' })]);
}

/** A refusal looks for choices, which is dear: of the lexicon each word is tried in some of the sentences. */
const TRIED_WITH_ALL = 17;

test.each(TEMPLATES.map((template, index) => ({ template, index })))(
  'a device called like a word of the grammar changes in silence nothing of "$template"',
  { timeout: 60_000 },
  ({ template, index }) => {
    const plain = stateCalling('other-device');
    const flipped = WORDS.flatMap((word, at) => {
      if (at >= TRIED_WITH_ALL && at % TEMPLATES.length !== index) return [];
      const intent = template.replace('$', word);
      const now = planned(intent, stateCalling(word));
      return now === undefined || now === planned(intent, plain) ? [] : [intent];
    });
    expect(flipped).toEqual([]);
  },
);

test('a device called port-22 leaves "port 22" a port', () => {
  const intent = 'close port 22 to db-1';
  const before = planned(intent, stateCalling('other-device'));
  expect([planned(intent, stateCalling('port-22')), before]).toEqual([before, expect.any(String)]);
});

test.each([
  ['block ssh from db-1', 'ssh', ['block "ssh" from db-1', 'block tcp port 22 from db-1']],
  ['let me reach db-1 on 22', 'me', ['let "me" reach db-1 on 22']],
  ['block peers from db-1', 'peers', ['block "peers" from db-1', 'block everyone from db-1']],
])('asks which of the two %j means, with both as choices', (intent, name, choices) => {
  const answer = planByGrammar({ intent, state: stateCalling(name), now: NOW });
  expect(answer).toMatchObject({ outcome: 'refused', choices });
});

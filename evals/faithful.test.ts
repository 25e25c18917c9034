import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planChanges } from '../core/changes/changes.ts';
import { effectOf } from '../core/effect/effect.ts';
import { spansOf } from '../core/effect/port-spans.ts';
import { compile } from '../core/reachability/engine.ts';
import { modelOf } from '../core/state/network-model.ts';
import { planByGrammar } from '../llm/grammar/builtin.ts';
import { network, peer, stateWith } from '../test/kits/records/records.ts';
import { runs } from '../test/kits/runs.ts';
import { EVAL_NOW } from './case.ts';

const SITES = { prod: 'berlin', staging: 'lyon' };
type Env = keyof typeof SITES;

function inEnv(env: Env, labels: Record<string, string>): Record<string, string> {
  return { ...labels, env, site: SITES[env] };
}

const PEERS: Readonly<Record<string, Record<string, string>>> = {
  'web-1': inEnv('prod', { role: 'web', owner: 'alice' }),
  'web-2': inEnv('prod', { role: 'web', owner: 'alice' }),
  'web-3': inEnv('staging', { role: 'web', owner: 'alice' }),
  'db-1': inEnv('prod', { role: 'db', owner: 'bob' }),
  'db-2': inEnv('prod', { role: 'db', owner: 'bob' }),
  'db-3': inEnv('staging', { role: 'db', owner: 'bob' }),
  'app-1': inEnv('prod', { role: 'app', owner: 'carol' }),
  'app-2': inEnv('prod', { role: 'app', owner: 'carol' }),
  'app-3': inEnv('staging', { role: 'app', owner: 'carol' }),
  'ci-1': inEnv('staging', { role: 'ci', owner: 'carol' }),
  'historian-1': inEnv('prod', { role: 'historian', owner: 'dave' }),
  'historian-2': inEnv('staging', { role: 'historian', owner: 'dave' }),
  'plc-1': { role: 'plc', site: 'lyon', owner: 'dave' },
  'alice-laptop': { role: 'laptop', site: 'berlin', owner: 'alice' },
  'bob-laptop': { role: 'laptop', site: 'lyon', owner: 'bob' },
  'carol-laptop': { role: 'laptop', site: 'berlin', owner: 'carol' },
  'gw-berlin': inEnv('prod', { role: 'gateway', owner: 'dave' }),
  'gw-lyon': inEnv('staging', { role: 'gateway', owner: 'dave' }),
  phone: { role: 'phone' },
  nas: { role: 'storage' },
  tv: { role: 'media' },
  mail: { role: 'mail', site: 'berlin' },
};

const STATES = Object.fromEntries(
  (['ALLOW', 'DENY'] as const).map((defaultAction) => [
    defaultAction,
    stateWith(
      network('default', { defaultAction }),
      ...Object.entries(PEERS).map(([name, labels], at) =>
        peer(name, { labels, uid: `p_${name}`, address: `10.96.0.${at + 1}` }),
      ),
    ),
  ]),
);
type On = 'ALLOW' | 'DENY';

function stateOn(on: On) {
  const state = STATES[on];
  if (!state) throw new Error('no such network');
  return state;
}

function choicesFor(intent: string, on: On): readonly string[] {
  const answer = planByGrammar({ intent, state: stateOn(on), now: EVAL_NOW });
  return answer.outcome === 'refused' ? answer.choices : [];
}

/** What a choice does when it is sent: the ends of its policies, and who may reach whom afterwards and may not now. */
function done(intent: string, on: On) {
  const state = stateOn(on);
  const answer = planByGrammar({ intent, state, now: EVAL_NOW });
  if (answer.outcome !== 'changes') throw new Error(`not planned: ${intent}`);
  const { after } = planChanges(state, answer.changes, EVAL_NOW);
  const [was, is] = [state, after].map((one) => compile(modelOf(one, EVAL_NOW)));
  if (!was || !is) throw new Error('not compiled');
  const rows = effectOf(was, is).groups.flatMap(({ src, dst, opened: spans }) =>
    src.flatMap((from) => dst.filter((to) => to !== from).map((to) => ({ src: from, dst: to, opened: spans }))),
  );
  const ends = answer.changes.flatMap((change) =>
    change.resource === 'MeshPolicy' && change.action === 'create' ? [change.spec.expiresAt] : [],
  );
  const reaches = (src: string, dst: string) =>
    spansOf(is.allowed(src, dst)).some(
      ({ protocol, from = 1, to = from }) => protocol === 'TCP' && from <= 5432 && to >= 5432,
    );
  return { ends, rows, reaches };
}

describe('a choice', () => {
  it.each<[On, string]>([
    ['DENY', 'web may reach db (not db-3) on 5432'],
    ['DENY', 'let alice-laptop reach mail on 993 for 2 hours and web-1 on 443 for 3 hours'],
    ['DENY', 'carol-laptop can reach app-1 from monday to wednesday'],
    ['DENY', 'let phone reach nas on 445 in 2 hours'],
    ['DENY', 'let phone reach nas on 445 for 3 days starting monday'],
    ['ALLOW', 'block ci from prod after friday'],
    ['ALLOW', 'block ci from prod for 10 years'],
    ['DENY', 'let historian-1 and 2 reach plc-1 on 502'],
    ['DENY', 'web-1 and web-2 shall be allowed to talk to app-1 resp. app-2 on port 9000'],
    ['DENY', 'replace app-1 by app-2 in all rules'],
    ['DENY', 'label web-1 as role=db'],
    ['DENY', "let alice's and bob's laptops reach mail on 993"],
    ['DENY', 'expose web-1 to the internet on 443'],
    ['ALLOW', 'block nas for all but phone'],
    ['ALLOW', 'db accepts only app'],
    ['ALLOW', 'restrict laptops to web on 443'],
    ['DENY', 'connect phone with nas'],
    ['ALLOW', 'not everyone may reach nas'],
    ['ALLOW', 'not all web servers may reach nas'],
    ['DENY', 'phone may not only reach nas but also tv'],
    ['DENY', 'not only web but also app may reach db'],
    ['DENY', 'nas must be reachable by phone on 445, not by tv'],
    ['DENY', 'phone may reach nas on 445 not 22'],
    ['DENY', 'let web reach nas, but only web-1 and web-2'],
    ['DENY', 'the tv is broken so let phone reach nas on 445'],
    ['DENY', 'ci may reach app-3 on 443, as app-3 is staging'],
    ['DENY', 'ci may reach app-3 on 443 if it is staging'],
    ['DENY', 'let laptops outside berlin reach mail'],
    ['DENY', 'let laptops (all but bob-laptop) reach mail'],
    ['DENY', 'let alice-laptop reach mail on 993. bob-laptop too.'],
    ['DENY', 'let alice-laptop reach mail on 993. She must not reach it over ssh.'],
    ['DENY', 'let laptops reach mail on 993; bob-laptop is excluded'],
    ['ALLOW', 'separate prod from staging except that ci-1 may reach app-1 on 8080'],
    ['ALLOW', 'separate berlin from lyon except between gw-berlin and gw-lyon'],
    ['ALLOW', 'block the tv from nas and the phone from mail, both of them for 2 hours only'],
    ['DENY', 'let laptops in paris reach mail on 993'],
    ['DENY', 'let all trusted laptops reach mail on 993'],
  ])('is not offered where it would drop or change what was said (default %s): %s', (on, intent) => {
    expect(choicesFor(intent, on)).toEqual([]);
  });

  it.each<[string, readonly string[]]>([
    ["carol's laptop may reach app-1 on 22", ['let owner=carol,role=laptop reach app-1 on 22/tcp']],
    ["dave's historians may reach plc-1 on 502", ['let owner=dave,role=historian reach plc-1 on 502/tcp']],
    [
      "let alice's web servers reach bob's databases on 5432",
      ['let owner=alice,role=web reach owner=bob,role=db on 5432/tcp'],
    ],
    ["bob's databases may reach mail", ['let owner=bob,role=db reach mail']],
  ])('keeps whose machines are meant: %s', (intent, choices) => {
    const answer = planByGrammar({ intent, state: stateOn('DENY'), now: EVAL_NOW });
    if (answer.outcome === 'refused')
      expect(answer.choices.map((one) => one.replace('role=mail', 'mail'))).toEqual(choices);
  });

  it.each([
    ['everyone who joins with role=ci may reach app on 8443', 'everyone with role=ci may reach app on 8443'],
    ['any new device labelled role=web may reach nas on 6379', 'everyone with role=web may reach nas on 6379'],
    ['let devices that join later with role=ci reach mail on 25', 'let everyone with role=ci reach mail on 25'],
  ])('about those who join later is about their label, and says so: %s', (intent, choice) => {
    expect(planByGrammar({ intent, state: stateOn('DENY'), now: EVAL_NOW })).toMatchObject({
      choices: [choice],
      questions: [expect.stringContaining('join later')],
    });
  });

  it('ends with no comma', () => {
    const [choice] = choicesFor('staging must never reach prod, because of the audit on port 5432', 'ALLOW');
    expect(choice).toBe('staging must never reach prod');
  });
});

/** Sentences in words that are partly not known, so that they are asked about. */
const SUBJECTS = ['web', 'the laptops', 'ci-1', 'phone'] as const;
const TARGETS = ['db', 'mail', 'app'] as const;
const asking = fc
  .record({
    source: fc.constantFrom(...SUBJECTS),
    target: fc.constantFrom(...TARGETS),
    frame: fc.constantFrom(
      (s: string, t: string) => `${s} would love to reach ${t} on 5432`,
      (s: string, t: string) => `let ${s} reach ${t} on 5432`,
      (s: string, t: string) => `${s} wants to yodel ${t} on 5432`,
      (s: string, t: string) => `${s} to ${t} 5432 pls`,
      (s: string, t: string) => `${t} gets 5432 from ${s}`,
      (s: string, t: string) => `give ${s} access to ${t} on 5432`,
    ),
  })
  .map(({ source, target, frame }) => ({ source, target, text: frame(source, target) }));

interface Added {
  readonly words: string;
  /** Written without the grammar: what must not be so when a choice is done. */
  readonly wrong: (after: ReturnType<typeof done>) => boolean;
  /** The network that it shows in. */
  readonly on?: On;
}

const opened = ({ rows }: ReturnType<typeof done>) => rows.filter(({ opened: spans }) => spans.length > 0);
const names = (name: string) => (after: ReturnType<typeof done>) =>
  opened(after).some(({ src, dst }) => src === name || dst === name);
const onPort = (port: number) => (after: ReturnType<typeof done>) =>
  opened(after).some(({ opened: spans }) => spans.some(({ from = 1, to = from }) => from <= port && port <= to));
const lasts = ({ ends }: ReturnType<typeof done>) => ends.some((end) => end === undefined);
const any = ({ rows }: ReturnType<typeof done>) => rows.length > 0;
const untouched = (name: string) => (after: ReturnType<typeof done>) => !names(name)(after);

/** In an open network somebody who is not named still reaches all that is reached, and all who reach still reach others. */
const closesNothing = ({ reaches }: ReturnType<typeof done>) =>
  ['db-1', 'mail', 'app-1'].every((target) => reaches('tv', target)) &&
  ['web-1', 'alice-laptop', 'ci-1', 'phone'].every((source) => reaches(source, 'tv'));
/** Nobody who reaches is kept from others, so that only other ports, or nothing, can be closed. */
const leavesOthers = ({ reaches }: ReturnType<typeof done>) =>
  ['web-1', 'alice-laptop', 'ci-1', 'phone'].every((source) => reaches(source, 'tv'));

const ADDED: readonly Added[] = [
  ...['and nobody else', 'and no one else', 'alone', ', everything else closed'].map((words) => ({
    words,
    wrong: closesNothing,
    on: 'ALLOW' as const,
  })),
  ...['and to nobody else', 'and to nothing else', 'and with no one else'].map((words) => ({
    words,
    wrong: leavesOthers,
    on: 'ALLOW' as const,
  })),
  ...['until friday', 'for 2 hours', 'but only until friday', 'for two hours please'].map((words) => ({
    words,
    wrong: lasts,
  })),
  ...['starting monday', 'from monday on', 'on weekdays', 'in 2 hours', 'for 10 years', 'after friday'].map(
    (words) => ({
      words,
      wrong: any,
    }),
  ),
  ...['but not 22', 'not 22', 'never on 22', 'except port 22'].map((words) => ({ words, wrong: onPort(22) })),
  ...['(not db-3)', 'except db-3', 'but not db-3', 'outside lyon', 'without db-3', '; db-3 is excluded'].map(
    (words) => ({
      words,
      wrong: names('db-3'),
    }),
  ),
  ...['. bob-laptop too', ', and bob-laptop', '; the same goes for bob-laptop'].map((words) => ({
    words,
    wrong: untouched('bob-laptop'),
  })),
  ...[', as gw-lyon is down', 'because gw-lyon is down', ', since gw-lyon failed', 'so that gw-lyon can rest'].map(
    (words) => ({ words, wrong: names('gw-lyon') }),
  ),
  ...['if the boss agrees', 'unless it rains', 'when needed'].map((words) => ({ words, wrong: any })),
];

describe('what is added to a sentence', () => {
  it('is in the effect of every choice: a time, an exclusion, a second order, a reason, a condition', () => {
    fc.assert(
      fc.property(asking, fc.constantFrom(...ADDED), fc.constantFrom<On>('ALLOW', 'DENY'), ({ text }, added, on) => {
        const intent = `${text} ${added.words}`.replaceAll(/ (?=[.,;])/g, '');
        const shown = added.on ?? on;
        for (const choice of choicesFor(intent, shown)) {
          const after = done(choice, shown);
          if (added.wrong(after)) throw new Error(`${intent} => ${choice}`);
        }
      }),
      { numRuns: runs(800) },
    );
  });

  it.each(['alice', 'bob', 'carol', 'dave'])('names whose it is: %s', (owner) => {
    for (const noun of ['laptop', 'databases', 'web servers', 'historians', 'app', 'machines'])
      for (const frame of [`${owner}'s ${noun} may reach mail on 25`, `let ${owner}'s ${noun} push to mail on 25`])
        for (const choice of choicesFor(frame, 'DENY'))
          for (const { src } of opened(done(choice, 'DENY'))) {
            expect(PEERS[src]?.['owner'], `${frame} => ${choice}`).toBe(owner);
            const role = PEERS[src]?.['role'] ?? '';
            if (noun !== 'machines') expect(noun.startsWith(role) || noun.startsWith('data'), choice).toBe(true);
          }
  });
});

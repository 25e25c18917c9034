import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planChanges } from '../../core/changes/changes.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { runs } from '../../test/kits/runs.ts';
import { planByGrammar } from './builtin.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const HOUR_MS = 3_600_000;

/** What a sentence may mean: the names of those who are meant. Several that differ: it must be asked about. */
type Who = (readonly string[])[];
type Labels = Readonly<Record<string, string>>;
type Network = ReadonlyMap<string, Labels>;
type Said = (network: Network) => { readonly text: string; readonly readings: Who };

const ROLES = ['app', 'web', 'laptop', 'server', 'machine', 'team'];
/** Nouns that say nothing where no label has that value. */
const FILLERS = ['app', 'server', 'machine', 'team', 'service', 'host'];
const ADJECTIVES = ['lyon', 'berlin', 'alice', 'bob'];
const TARGET = 'target-1';

const networks = fc
  .array(
    fc.record({
      role: fc.constantFrom(...ROLES),
      site: fc.constantFrom('lyon', 'berlin', undefined),
      owner: fc.constantFrom('alice', 'bob', undefined),
    }),
    { minLength: 3, maxLength: 9 },
  )
  .map((all): Network => {
    const named = all.map((labels, at): [string, Labels] => [
      `p-${at + 1}`,
      Object.fromEntries(Object.entries(labels).filter((entry): entry is [string, string] => entry[1] !== undefined)),
    ]);
    return new Map([...named, [TARGET, { kind: 'target' }]]);
  });

/** Who every one of these words is true of; undefined where nothing is said. */
function meant(words: readonly string[], network: Network): string[] | undefined {
  const values = new Set([...network.values()].flatMap((labels) => Object.values(labels)));
  const telling = words.filter((word) => values.has(word) || !FILLERS.includes(word));
  if (telling.length === 0) return undefined;
  return [...network].flatMap(([name, labels]) =>
    telling.every((word) => Object.values(labels).includes(word)) ? [name] : [],
  );
}

/** Each reading is the words of those that are joined; one in which somebody is nobody is no reading. */
function readingsOf(network: Network, ...readings: (readonly (readonly string[])[])[]): Who {
  return readings.flatMap((joined) => {
    const groups = joined.map((words) => meant(words, network));
    return groups.some((group) => !group?.length) ? [] : [[...new Set(groups.flatMap((group) => group ?? []))].sort()];
  });
}

const noun = fc.constantFrom(...new Set([...ROLES, ...FILLERS]));
const adjective = fc.constantFrom(...ADJECTIVES);
const site = fc.constantFrom('lyon', 'berlin');
const place = fc.oneof(
  site.map((one) => ({ text: `in ${one}`, word: one })),
  fc.constantFrom('alice', 'bob').map((one) => ({ text: `of ${one}`, word: one })),
);
const who: fc.Arbitrary<Said> = fc.oneof(
  noun.map(
    (one): Said =>
      (on) => ({ text: `the ${one}s`, readings: readingsOf(on, [[one]]) }),
  ),
  fc.tuple(adjective, noun).map(
    ([a, one]): Said =>
      (on) => ({ text: `the ${a} ${one}s`, readings: readingsOf(on, [[a, one]]) }),
  ),
  fc.tuple(noun, place).map(
    ([one, { text, word }]): Said =>
      (on) => ({ text: `the ${one}s ${text}`, readings: readingsOf(on, [[one, word]]) }),
  ),
  fc.tuple(adjective, noun, noun).map(
    ([a, one, two]): Said =>
      (on) => ({
        text: `${a} ${one}s and ${two}s`,
        readings: readingsOf(
          on,
          [[a, one], [two]],
          [
            [a, one],
            [a, two],
          ],
        ),
      }),
  ),
  fc.tuple(adjective, adjective, noun).map(
    ([a, b, one]): Said =>
      (on) => ({
        text: `${a} and ${b} ${one}s`,
        readings: readingsOf(
          on,
          [
            [a, one],
            [b, one],
          ],
          ...(ofOneKind(a, b) ? [] : [[[a], [b, one]]]),
        ),
      }),
  ),
  fc.tuple(noun, noun, place).map(
    ([one, two, { text, word }]): Said =>
      (on) => ({
        text: `${one}s and ${two}s ${text}`,
        readings: readingsOf(
          on,
          [[one], [two, word]],
          [
            [one, word],
            [two, word],
          ],
        ),
      }),
  ),
  noun.map(
    (one): Said =>
      (on) => ({
        text: `${one}s of alice and bob`,
        readings: readingsOf(on, [
          [one, 'alice'],
          [one, 'bob'],
        ]),
      }),
  ),
  fc.constantFrom('the ones in lyon', 'those', 'the others in berlin', 'them').map(
    (text): Said =>
      () => ({ text, readings: [] }),
  ),
);

function ofOneKind(a: string, b: string): boolean {
  return ADJECTIVES.indexOf(a) < 2 === ADJECTIVES.indexOf(b) < 2;
}

/** A port, a time or nothing, and where it stands. */
const bound = fc.constantFrom('', '', 'on 445', 'for 2 hours');
const scenes = fc.record({
  network: networks,
  closes: fc.boolean(),
  lead: bound,
  orders: fc.array(fc.record({ who, own: bound, may: fc.boolean() }), { minLength: 1, maxLength: 2 }),
  joint: fc.constantFrom(' and ', '; ', ', and ', '. '),
});
type Scene = typeof scenes extends fc.Arbitrary<infer T> ? T : never;

interface Meant {
  readonly sources: readonly string[];
  readonly bounds: readonly string[];
}

/** The sentence, and everything that it may mean; undefined where it must be asked about. */
function told({ network, closes, lead, orders, joint }: Scene): { text: string; orders: Meant[] | undefined } {
  const parts = orders.map((order) => ({ ...order, said: order.who(network) }));
  const texts = parts.map(({ said, own, may }) => {
    const verb = closes
      ? may
        ? `${said.text} must not reach ${TARGET}`
        : `block ${said.text} from ${TARGET}`
      : may
        ? `${said.text} may reach ${TARGET}`
        : `let ${said.text} reach ${TARGET}`;
    return own === '' ? verb : `${verb} ${own}`;
  });
  const text = `${lead === '' ? '' : `${lead}, `}${texts.join(joint)}`;
  const apart = joint === '. ';
  const meanings = parts.map(({ said, own }, at): Meant | undefined => {
    const [sources, ...others] = said.readings;
    const clear = sources && others.every((other) => other.join() === sources.join());
    const led = lead !== '' && (at === 0 || !apart) ? [lead] : [];
    return clear ? { sources, bounds: [...led, ...(own === '' ? [] : [own])] } : undefined;
  });
  const last = parts.at(-1)?.own ?? '';
  const open =
    parts.length > 1 && !apart && last !== '' && meanings.slice(0, -1).some((one) => !one?.bounds.includes(last));
  const clear = meanings.filter((one) => one !== undefined);
  return { text, orders: open || clear.length < meanings.length ? undefined : clear };
}

/** Who reaches the target on which port, now and after the time is over. */
function reachOf(state: NetworkState, network: Network): string[] {
  return [NOW, NOW + 3 * HOUR_MS].flatMap((now) => {
    const reach = compile(modelOf(state, now));
    return [445, 9_999].flatMap((port) =>
      [...network.keys()].flatMap((name) =>
        name !== TARGET && reach.verdict(name, TARGET, 'TCP', port) ? [`${name} ${port} ${now}`] : [],
      ),
    );
  });
}

function expected(orders: readonly Meant[], network: Network, closes: boolean): string[] {
  return [NOW, NOW + 3 * HOUR_MS].flatMap((now) =>
    [445, 9_999].flatMap((port) =>
      [...network.keys()].flatMap((name) => {
        const holds = orders.some(
          ({ sources, bounds }) =>
            sources.includes(name) &&
            (port === 445 || !bounds.includes('on 445')) &&
            (now === NOW || !bounds.includes('for 2 hours')),
        );
        return name !== TARGET && holds !== closes ? [`${name} ${port} ${now}`] : [];
      }),
    ),
  );
}

describe('a sentence of parts', () => {
  it('that is planned has the one effect that all of its words allow; one that may have two is asked about', () => {
    let planned = 0;
    fc.assert(
      fc.property(scenes, (scene) => {
        const { network, closes } = scene;
        const peers = [...network].map(([name, labels]) => peer(name, { labels }));
        const base = closes ? [] : [policy('base', { action: 'DENY', peerSelector: {} })];
        const state = stateWith(...peers, ...base);
        const { text, orders } = told(scene);
        const answer = planByGrammar({ intent: text, state, now: NOW });
        if (answer.outcome !== 'changes') return;
        planned++;
        const { after } = planChanges(state, answer.changes, NOW);
        expect([text, reachOf(after, network)]).toEqual([text, orders && expected(orders, network, closes)]);
      }),
      { numRuns: runs(3_000), seed: 7 },
    );
    expect(planned).toBeGreaterThan(runs(300));
  });
});

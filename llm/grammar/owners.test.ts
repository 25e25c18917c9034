import { describe, expect, it } from 'vitest';
import { namesOf } from '../../core/state/terms.ts';
import { network, peer, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const LABELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'alice-laptop': { role: 'laptop', owner: 'alice' },
  'alice-tablet': { role: 'laptop', owner: 'alice' },
  'alice-phone': { role: 'phone', owner: 'alice' },
  'bob-laptop': { role: 'laptop', owner: 'bob' },
  'bob-phone': { role: 'phone', owner: 'bob' },
  'carla-laptop': { role: 'laptop' },
  'dora-laptop': { role: 'laptop' },
  'dora-phone': { role: 'phone' },
  nas: { role: 'storage', user: 'erik' },
  tv: { role: 'media', user: 'erik' },
  'web-1': { role: 'web' },
  'db-1': { role: 'db' },
};
const STATE = stateWith(
  network('default', { defaultAction: 'ALLOW' }),
  ...Object.entries(LABELS).map(([name, labels]) => peer(name, { labels })),
);
const NAMES = Object.keys(LABELS);
const ownedBy = (owners: readonly string[], role?: string) =>
  NAMES.filter((name) => {
    const labels = LABELS[name] ?? {};
    return owners.includes(labels['owner'] ?? labels['user'] ?? '') && (!role || labels['role'] === role);
  });

/** Who is closed to db-1 by a sentence; undefined where it is asked about. */
function closed(who: string) {
  const answer = planByGrammar({ intent: `block ${who} from db-1`, state: STATE, now: NOW });
  if (answer.outcome !== 'changes') return undefined;
  return [...new Set(answer.expectations.flatMap(({ src }) => namesOf(src, STATE)))].toSorted();
}

function choicesFor(who: string) {
  const answer = planByGrammar({ intent: `block ${who} from db-1`, state: STATE, now: NOW });
  return answer.outcome === 'refused' ? answer.choices : [];
}

describe('whose devices are meant', () => {
  it.each<[string, readonly string[], string?]>([
    ["alice's devices", ['alice']],
    ["all of alice's devices", ['alice']],
    ["all alice's machines", ['alice']],
    ['every device of bob', ['bob']],
    ['devices owned by alice', ['alice']],
    ['all devices that belong to alice', ['alice']],
    ['user alice', ['alice']],
    ['the user erik', ['erik']],
    ['owner bob', ['bob']],
    ['users alice and owner bob', ['alice', 'bob']],
    ["alice's laptops", ['alice'], 'laptop'],
    ["all of alice's laptops", ['alice'], 'laptop'],
    ["bob's phone", ['bob'], 'phone'],
    ["alice's and bob's laptops", ['alice', 'bob'], 'laptop'],
    ["alice's laptops and bob's laptop", ['alice', 'bob'], 'laptop'],
  ])('is told by the label of the owner: %s', (who, owners, role) => {
    expect(closed(who) ?? closed(choicesFor(who)[0]?.slice('block '.length, -' from db-1'.length) ?? '')).toEqual(
      ownedBy(owners, role).toSorted(),
    );
  });

  it('never reaches beyond what is owned, whatever stands beside it', () => {
    const wider: string[] = [];
    for (const owner of ['alice', 'bob'])
      for (const one of ['laptops', 'phones', 'laptop', 'phone', 'devices'])
        for (const lead of ['', 'all ', 'all of ', 'any of ', 'the '])
          for (const beside of ['', ' and web-1', ' and phones', ' and laptop', " and bob's laptop", ', web-1']) {
            const who = `${lead}${owner}'s ${one}${beside}`;
            const other = beside.includes('web-1') ? ['web-1'] : beside.includes('bob') ? ['bob-laptop'] : [];
            const role = one === 'devices' ? undefined : one.replace(/s$/, '');
            const meant = [...new Set([...ownedBy([owner], role), ...other])].toSorted();
            const found = closed(who);
            if (found && found.join() !== meant.join()) wider.push(`${who}: ${found}`);
          }
    expect(wider).toEqual([]);
  });

  it("is the peer of that name where nobody is labelled so: carla's laptop", () => {
    expect(closed("carla's laptop")).toEqual(['carla-laptop']);
  });

  it.each<[string, readonly string[]]>([
    ['carla', ['carla-laptop']],
    ['user carla', ['carla-laptop']],
    ['dora', ['dora-laptop and dora-phone', 'dora-laptop', 'dora-phone']],
    ['alice and carla', ['alice and carla-laptop']],
    [
      "alice's phone and laptop",
      ['role=phone,owner=alice and role=laptop,owner=alice', 'role=phone,owner=alice and role=laptop'],
    ],
    [
      "alice and bob's laptop",
      ['role=laptop,owner=alice and role=laptop,owner=bob', 'owner=alice and role=laptop,owner=bob'],
    ],
  ])('is asked about with names that are planned: %s', (who, names) => {
    const choices = choicesFor(who);
    expect(choices.length).toBeGreaterThan(0);
    expect(choices).toEqual(names.map((name) => `block ${name} from db-1`));
    for (const intent of choices) expect(planByGrammar({ intent, state: STATE, now: NOW }).outcome).toBe('changes');
  });
});

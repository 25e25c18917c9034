import { describe, expect, it } from 'vitest';
import { peer, stateWith } from '../../../test/kits/records/records.ts';
import type { EffectGroup } from '../../effect/connection-changes.ts';
import type { Effect } from '../../effect/effect.ts';
import { beyondNamed, namedBy } from './excess.ts';
import type { Expectation } from './expectation.ts';

const STATE = stateWith(
  peer('web-1', { labels: { role: 'web' } }),
  peer('web-2', { labels: { role: 'web' } }),
  peer('db-1', { labels: { role: 'db' } }),
  peer('laptop'),
);
const WEB: Expectation = { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'allow' };

function opening(src: readonly string[], dst: readonly string[], from = 5432, to = from): Effect {
  const opened = [{ protocol: 'TCP' as const, from, to }];
  const groups: EffectGroup[] = [{ src, dst, pairs: src.length * dst.length, opened, closed: [], open: opened }];
  return {
    routes: [],
    groups,
    outside: [],
    openedPairs: 0,
    closedPairs: 0,
    unchangedPairs: 0,
    pairsBefore: 0,
    lostPairs: 0,
    openedDigest: '',
    closedDigest: '',
    digest: '',
  };
}
const beyond = (effect: Effect, ...expectations: Expectation[]) =>
  beyondNamed(effect, 'opened', namedBy(expectations, 'opened', STATE));

describe('what opens beyond what was expected', () => {
  it('is nothing where every pair and port is named by some expectation', () => {
    expect(beyond(opening(['web-1', 'web-2'], ['db-1']), WEB)).toEqual([]);
    const [one, two] = [
      { ...WEB, port: 1, endPort: 3 },
      { ...WEB, port: 4, endPort: 9 },
    ];
    expect(beyond(opening(['web-1'], ['db-1'], 1, 9), one, two)).toEqual([]);
    expect(beyond(opening(['web-1'], ['web-1']), WEB)).toEqual([]);
  });

  it.each<[string, Effect, Expectation[], string]>([
    ['a peer more', opening(['web-1', 'laptop'], ['db-1']), [WEB], 'laptop to db-1 on TCP 5432'],
    ['a target more', opening(['web-1'], ['db-1', 'laptop']), [WEB], 'web-1 to laptop on TCP 5432'],
    ['a port more', opening(['web-1'], ['db-1'], 5432, 5433), [WEB], 'web-1 to db-1 on TCP 5433'],
    ['the other direction', opening(['db-1'], ['web-1']), [WEB], 'db-1 to web-1 on TCP 5432'],
    ['who was left out', opening(['web-2'], ['db-1']), [{ ...WEB, except: ['web-2'] }], 'web-2 to db-1 on TCP 5432'],
    ['what is to be closed', opening(['web-1'], ['db-1']), [{ ...WEB, expect: 'deny' }], 'web-1 to db-1 on TCP 5432'],
    [
      'sources of one with targets of another',
      opening(['web-1', 'laptop'], ['db-1', 'web-2']),
      [WEB, { ...WEB, src: 'laptop', dst: 'web-2' }],
      'web-1 to web-2 on TCP 5432',
    ],
  ])('is %s', (_name, effect, expectations, text) => {
    expect(beyond(effect, ...expectations)[0]).toBe(`it would open ${text}, which was not expected`);
  });

  it('is told by a few examples and how many more there are', () => {
    const groups = ['web-1', 'web-2', 'db-1', 'laptop'].flatMap(
      (src) => opening([src], ['web-1', 'laptop'], 22).groups,
    );
    expect(beyond({ ...opening([], []), groups })).toEqual([
      expect.stringContaining('web-1 to laptop'),
      expect.stringContaining('web-2 to laptop'),
      expect.stringContaining('db-1 to laptop'),
      'and so for 1 more group of peers',
    ]);
  });
});

import type { EvalCase } from '../case.ts';

/** Orders as they are spoken: bounds of several orders, words shared by what is joined, words that go back. */

const SHARED_BOUNDS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['studio'],
    says: [
      'until 18:00, ci may reach db on 5432 and api may reach db on 5432',
      'for 6 hours, let ci reach db on 5432 and let api reach db on 5432',
      'until 18:00 let ci reach db on 5432; let api reach db on 5432',
    ],
    gold: { opens: ['role=ci | role=api > role=db : tcp/5432'], ends: '2026-01-05T18:00:00.000Z' },
  },
  {
    on: ['studio'],
    says: ['on 443 ci may reach api and web may reach api', 'over tcp 443, let ci reach api and let web reach api'],
    gold: { opens: ['role=ci | role=web > role=api : tcp/443'] },
  },
];

const UNSHARED_BOUNDS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['studio'],
    says: [
      'ci may reach db on 5432 and api may reach db on 5432 until 18:00',
      'let ci reach db on 5432 and let api reach db on 5432 for 2 hours',
      'let ci reach db; let api reach db on 5432',
      'ci may reach db on 5432, until 18:00 api may reach db on 5432',
    ],
    gold: 'ask',
  },
];

const SHARED_WORDS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['office'],
    says: ['isolate prod and staging databases', 'quarantine the databases of prod and staging'],
    gold: { closes: ['role=db > * : all', '* > role=db : all'] },
  },
];

const UNSHARED_WORDS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['office'],
    says: [
      'block prod web and api from the printers',
      'block web and api in staging from the printers',
      'only prod web and api may reach printer-1',
      'block peers in prod and ci from printer-1',
    ],
    gold: 'ask',
  },
  {
    on: ['home'],
    says: ['the laptop may reach db on 5432 and ci on 22', 'ci may reach db-1 on 5432 and api on 443'],
    gold: 'ask',
  },
  {
    on: ['office'],
    says: [
      'let the api servers in prod reach the caches on 6379 and the ones in staging on 6380',
      'let web-1 and web-2 reach cache-1 and cache-2 respectively on 6379',
      'block those in staging from the printers',
    ],
    gold: 'ask',
  },
];

export const SPOKEN: readonly EvalCase[] = [
  ...SHARED_BOUNDS.map((one) => ({ family: 'multi-change' as const, ...one })),
  ...SHARED_WORDS.map((one) => ({ family: 'groups' as const, ...one })),
  ...[...UNSHARED_BOUNDS, ...UNSHARED_WORDS].map((one) => ({ family: 'ambiguous' as const, ...one })),
];

import type { EvalCase } from '../case.ts';

/** The same orders as operators put them: one of many, remarks, ports for each part, verbs of what is done over a port. */

const ONE_OF_MANY: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['plant'],
    says: ['let the hmis of the east reach the gateway on 443', 'block the historian from the cameras'],
    gold: 'ask',
  },
  {
    on: ['office'],
    says: ['let the gateway reach the cache on 6380', 'let web reach the database on 5432 and nobody else'],
    gold: 'ask',
  },
];

const REMARKS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['studio'],
    says: [
      'let ci-1 reach api-1 on 8080, the integration tests depend on it',
      'let ci-1 reach api-1 on 8080 - that is what the pipeline runs against',
      'ci-1 looks stuck. Let ci-1 reach api-1 on 8080.',
    ],
    gold: { opens: ['ci-1 > api-1 : tcp/8080'] },
  },
];

const NO_REMARKS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['office'],
    says: [
      'let web reach db on 5432, it is only for web-1',
      'let web reach db on 5432, this is for weekdays',
      'block dev from api, those are in staging',
      'let dev reach api on 443, ci is exempt',
      'let dev reach api on 443, printrs',
      'isolate dev-03, it is closed until 18:00 anyway',
    ],
    gold: 'refuse',
  },
];

const WORDS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['home'],
    says: [
      'ci should never initiate connections to db-1',
      'stop ci from touching db-1',
      'ci must not connect out to db-1',
      'block ci from going out to db-1',
    ],
    gold: { closes: ['ci-1 > db-1 : all'] },
  },
];

export const WORDINGS: readonly EvalCase[] = [
  ...ONE_OF_MANY.map((one) => ({ family: 'ambiguous' as const, ...one })),
  ...REMARKS.map((one) => ({ family: 'allow' as const, ...one })),
  ...NO_REMARKS.map((one) => ({ family: 'ambiguous' as const, ...one })),
  ...WORDS.map((one) => ({ family: 'deny' as const, ...one })),
];

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

const PARTS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['office'],
    says: ['let web reach db on 5432, cache on 6379', 'web may reach the databases on 5432 and the caches on 6379'],
    gold: { opens: ['role=web > role=db : tcp/5432', 'role=web > role=cache : tcp/6379'] },
  },
  {
    on: ['office'],
    says: [
      'let dev-01 reach db-1 (5432), cache-1 (redis) and cache-2 (port 6380)',
      'dev-01 needs access to db-1 on 5432, cache-1 on redis and cache-2 on 6380',
    ],
    gold: { opens: ['dev-01 > db-1 : tcp/5432', 'dev-01 > cache-1 : tcp/6379', 'dev-01 > cache-2 : tcp/6380'] },
  },
  {
    on: ['home'],
    says: ['block ci from db-1 on 5432 and web-1 on 443', 'ci must not reach db-1 on 5432 and web-1 on https'],
    gold: { closes: ['ci-1 > db-1 : tcp/5432', 'ci-1 > web-1 : tcp/443'] },
  },
  {
    on: ['studio'],
    says: ['let anna-laptop reach api-1 on both tcp 53 and udp 53', 'let anna-laptop reach api-1 on udp 53 and tcp 53'],
    gold: { opens: ['anna-laptop > api-1 : tcp/53, udp/53'] },
  },
];

const PLACES: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['plant'],
    says: [
      'let the cameras at the east site reach the gateways at the east site on 554',
      'the cameras in the east need tcp 554 to the gateways at the east site',
      'let cameras at east reach gateways in the east site on port 554',
    ],
    gold: { opens: ['role=camera & site=east > role=gateway & site=east : tcp/554'] },
  },
];

const TERSE: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['studio'],
    says: ['vnc from ci-1 to api-1', 'ci-1 -> api-1 vnc', 'vnc (5900) from ci-1 to api-1', 'ci-1 -> api-1:5900'],
    gold: { opens: ['ci-1 > api-1 : tcp/5900'] },
  },
  {
    on: ['studio'],
    says: [
      'api-1 has to upload its nightly archives to ci-1 on 8443',
      'let api-1 push images to ci-1 over 8443/tcp',
      'api-1 should be able to pull packages from ci-1 on tcp 8443',
      'api-1 may also write to ci-1 on 8443',
    ],
    gold: { opens: ['api-1 > ci-1 : tcp/8443'] },
  },
  {
    on: ['studio'],
    says: ['open 8443 from api-1 to ci-1 (30 minutes)', 'let api-1 send logs to ci-1 on 8443 for half an hour'],
    gold: { opens: ['api-1 > ci-1 : tcp/8443'], ends: '2026-01-05T12:30:00.000Z' },
  },
];

const NOT_TERSE: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['studio'],
    says: [
      'api-1 needs to serve pages to web-1 on 8080',
      'api-1 has to answer ci-1 on 8080',
      'api-1 should be able to push to ci-1',
      'ssh from ci-1',
      'ci-1 -> api-1 gopher',
    ],
    gold: 'refuse',
  },
];

export const WORDINGS: readonly EvalCase[] = [
  ...ONE_OF_MANY.map((one) => ({ family: 'ambiguous' as const, ...one })),
  ...REMARKS.map((one) => ({ family: 'allow' as const, ...one })),
  ...NO_REMARKS.map((one) => ({ family: 'ambiguous' as const, ...one })),
  ...[...PARTS, ...PLACES].map((one) => ({ family: 'multi-change' as const, ...one })),
  ...TERSE.map((one) => ({ family: 'allow' as const, ...one })),
  ...NOT_TERSE.map((one) => ({ family: 'ambiguous' as const, ...one })),
  ...WORDS.map((one) => ({ family: 'deny' as const, ...one })),
];

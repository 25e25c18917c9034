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

const PLACES_JOINED: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['plant'],
    says: ['isolate the plcs in the north and south', 'block eng from plcs in east and west'],
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
      'block ci from db-1, ci-1 is fine',
      'let web reach db on 5432, staging is different',
      'let web reach db on 5432, it is needed by dev too',
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

const BESIDES: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['home'],
    says: [
      'only web-1 may reach api-1 on 8080; other ports stay as they are',
      'only web-1 may reach api-1 on 8080, leave all other ports alone',
      '8080 to api-1 only from web-1',
    ],
    gold: { closes: ['* - web-1 > api-1 : tcp/8080'] },
  },
  {
    on: ['home'],
    says: [
      'keep 8080 from web-1 to api-1 but block all other inbound traffic to api-1',
      'api-1 may only be reached on 8080 by web-1, everything else inbound is closed',
      'restrict api-1 so that it can only be reached on 8080 by web-1; no other inbound',
    ],
    gold: { closes: ['* - web-1 > api-1 : all', 'web-1 > api-1 : all but tcp/8080'] },
  },
  {
    on: ['home'],
    says: [
      'ci-1 should only be able to reach web-1 on 443, no other outbound',
      'let ci-1 reach web-1 on 443 and block all other outbound traffic from ci-1',
      'keep 443 from ci-1 to web-1 and drop everything else outbound of ci-1',
    ],
    gold: { closes: ['ci-1 > * - web-1 : all', 'ci-1 > web-1 : all but tcp/443'] },
  },
  {
    on: ['home'],
    says: ['quarantine ci-1. Nothing in, nothing out.', 'isolate ci-1, nothing goes in and nothing goes out'],
    gold: { closes: ['ci-1 > * : all', '* > ci-1 : all'] },
  },
  {
    on: ['home'],
    says: [
      'ci-1 must not open connections to db-1 on its own; whatever comes in stays as it is',
      'block ci-1 from db-1, incoming traffic stays as it is',
    ],
    gold: { closes: ['ci-1 > db-1 : all'] },
  },
  {
    on: ['home'],
    says: ['isolate api-1 but keep it reachable for web-1 on 8080', 'isolate api-1 but leave it open to web-1 on 8080'],
    gold: { closes: ['api-1 > * : all', '* - web-1 > api-1 : all', 'web-1 > api-1 : all but tcp/8080'] },
  },
  {
    on: ['home'],
    says: ['deny all but 8080 to api-1', 'block all except port 8080 to api-1'],
    gold: { closes: ['* > api-1 : all but tcp/8080'] },
  },
];

const NOT_BESIDES: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['home'],
    says: [
      'block ci from db-1, other ports stay as they are',
      'isolate ci-1, other ports stay as they are',
      'let web-1 reach db-1 on 5432, nothing in',
      'no other outbound',
      'ci-1 should only be able to reach web-1 on 443',
      'isolate ci-1; incoming traffic stays as it is',
      'let web-1 reach db-1 on 5432; block all other outbound traffic from ci-1',
      'web-1 may only reach api-1 on 8080, no other inbound',
      'restrict db-1 so that web-1 may reach it on 5432',
      'let ci-1 reach everyone except db-1 on 5432 and web-1 on 443',
    ],
    gold: 'ask',
  },
];

const TAKEN_BACK: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['home'],
    says: ['ci-1 no longer needs anything on db-1', 'ci-1 loses access to db-1', 'ci no longer needs db-1, close it'],
    gold: { closes: ['ci-1 > db-1 : all'] },
  },
  {
    on: ['office'],
    says: [
      "revoke web-2's redis access (6379) to cache-1",
      'web-2 no longer needs redis on cache-1',
      'take back the access of web-2 to cache-1 on 6379',
    ],
    gold: { closes: ['web-2 > cache-1 : tcp/6379'] },
  },
  {
    on: ['studio'],
    says: ['web no longer needs anything on db-1', 'the web servers lose access to db-1'],
    gold: { closes: ['role=web > role=db : tcp/5432'] },
  },
  {
    on: ['office'],
    says: [
      'db-4 should be reached on 5432 by dev-02 instead of api-8',
      'db-4 may be used on 5432 by dev-02 rather than api-8',
    ],
    gold: { opens: ['dev-02 > db-4 : tcp/5432'], closes: ['api-8 > db-4 : tcp/5432'] },
  },
];

const LISTS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['office'],
    says: [
      'Two things: 1) let dev-01 reach db-1 on 5432, 2) block ci from web-1',
      '1. let dev-01 reach db-1 on 5432\n2. block ci from web-1',
      '- let dev-01 reach db-1 on 5432\n- block ci from web-1',
    ],
    gold: { opens: ['dev-01 > db-1 : tcp/5432'], closes: ['role=ci > web-1 : all'] },
  },
];

export const WORDINGS: readonly EvalCase[] = [
  ...ONE_OF_MANY.map((one) => ({ family: 'ambiguous' as const, ...one })),
  ...PLACES_JOINED.map((one) => ({ family: 'ambiguous' as const, ...one })),
  ...REMARKS.map((one) => ({ family: 'allow' as const, ...one })),
  ...NO_REMARKS.map((one) => ({ family: 'ambiguous' as const, ...one })),
  ...[...PARTS, ...PLACES].map((one) => ({ family: 'multi-change' as const, ...one })),
  ...TERSE.map((one) => ({ family: 'allow' as const, ...one })),
  ...NOT_TERSE.map((one) => ({ family: 'ambiguous' as const, ...one })),
  ...BESIDES.map((one) => ({ family: 'narrow' as const, ...one })),
  ...NOT_BESIDES.map((one) => ({ family: 'ambiguous' as const, ...one })),
  ...TAKEN_BACK.map((one) => ({ family: 'revoke' as const, ...one })),
  ...LISTS.map((one) => ({ family: 'multi-change' as const, ...one })),
  ...WORDS.map((one) => ({ family: 'deny' as const, ...one })),
];

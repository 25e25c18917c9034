import type { EvalCase } from '../case.ts';

/** Keeping someone from something: what was open, what was granted, and what should stay. */

const DENY: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['home'],
    says: [
      'block ci from the database',
      'ci must not reach db',
      'deny ci access to the database',
      'do not let ci-1 connect to db-1',
    ],
    gold: { closes: ['role=ci > role=db : all'] },
  },
  {
    on: ['home'],
    says: [
      'stop the laptop from accessing the api on port 22',
      'anna-laptop should not be able to ssh into api-1',
      'block ssh from anna-laptop to the api',
      'forbid anna-laptop to reach api on 22',
    ],
    gold: { closes: ['anna-laptop > role=api : tcp/22'] },
  },
  {
    on: ['home'],
    says: [
      'nobody may reach the database',
      'block all traffic to the database',
      'let nobody reach db',
      'deny everyone access to db',
    ],
    gold: { closes: ['* > role=db : all'] },
  },
  {
    on: ['home'],
    says: [
      'close port 22 on the api',
      'block ssh to the api',
      'nobody may ssh to api-1',
      'deny all ssh access to the api',
    ],
    gold: { closes: ['* > role=api : tcp/22'] },
  },
  {
    on: ['home'],
    says: [
      'block all traffic between ci and the database',
      'ci and db must not reach each other',
      'stop ci and db from talking to each other',
    ],
    gold: { closes: ['role=ci > role=db : all', 'role=db > role=ci : all'] },
  },
  {
    on: ['home'],
    says: ['deny everything by default', 'block everything by default', 'deny all traffic by default'],
    gold: { closes: ['* > * : all'] },
  },
  {
    on: ['office'],
    says: [
      'block the dev team from the api servers',
      'team=dev must not reach role=api',
      'deny dev access to the api servers',
      'keep dev away from the api servers',
    ],
    gold: { closes: ['team=dev > role=api : all'] },
  },
  {
    on: ['office'],
    says: [
      'block ssh from dev to web and api',
      'dev must not ssh into the web servers and the api servers',
      'deny team=dev ssh access to web, api',
    ],
    gold: { closes: ['team=dev > role=web | role=api : tcp/22'] },
  },
  {
    on: ['office'],
    says: [
      'stop the printers from reaching anyone',
      'block all traffic from the printers',
      'printers must not reach anything',
    ],
    gold: { closes: ['role=printer > * : all'] },
  },
  {
    on: ['office'],
    says: [
      'the databases must no longer be reached by backup',
      'backup-1 should no longer reach db',
      'no longer allow backup to access the databases',
      'block backup from db',
    ],
    gold: { closes: ['role=backup > role=db : all'] },
  },
  {
    on: ['office'],
    says: [
      'block rdp and smb to the laptops',
      'close ports 3389 and 445 on device=laptop',
      'nobody may reach the laptops over rdp or smb',
    ],
    gold: { closes: ['* > device=laptop : tcp/3389, tcp/445'] },
  },
  {
    on: ['office'],
    says: [
      'block udp from ci to web',
      'deny ci access to the web servers over udp',
      'ci must not reach web on all udp ports',
    ],
    gold: { closes: ['role=ci > role=web : udp'] },
  },
  {
    on: ['office'],
    says: [
      'staging web servers must not reach prod api servers',
      'block staging web from prod api',
      'deny role=web,env=staging access to role=api,env=prod',
    ],
    gold: { closes: ['role=web & env=staging > role=api & env=prod : all'] },
  },
  {
    on: ['plant'],
    says: ['block the engineers from the plcs', 'eng must not reach plc', 'deny the engineers access to the plcs'],
    gold: { closes: ['role=eng > role=plc : all'] },
  },
  {
    on: ['plant'],
    says: [
      'north-sensor-001 must not reach the historians',
      'block peer north-sensor-001 from historian',
      'stop north-sensor-001 from sending traffic to the historians',
    ],
    gold: { closes: ['north-sensor-001 > role=historian & site=north : all'] },
  },
];

const ISOLATE: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['home'],
    says: ['isolate ci', 'quarantine the ci server', 'cut ci-1 off from everyone', 'lock down ci-1'],
    gold: { closes: ['role=ci > * : all', '* > role=ci : all'] },
  },
  {
    on: ['home'],
    says: [
      'isolate the laptop from the database',
      'cut anna-laptop off from db',
      'separate anna-laptop and db from each other',
      'anna-laptop and db must not talk to each other',
    ],
    gold: { closes: ['anna-laptop > role=db : all', 'role=db > anna-laptop : all'] },
  },
  {
    on: ['office'],
    says: ['isolate dev-07', 'please quarantine peer dev-07 right now', 'disconnect dev-07', 'cut off dev-07'],
    gold: { closes: ['dev-07 > * : all', '* > dev-07 : all'] },
  },
  {
    on: ['office'],
    says: [
      'quarantine the printers',
      'isolate role=printer',
      'isolate all printers',
      'wall off printer-1 and printer-2',
    ],
    gold: { closes: ['role=printer > * : all', '* > role=printer : all'] },
  },
  {
    on: ['office'],
    says: ['isolate staging web from prod api', 'separate the staging web servers from the prod api servers'],
    gold: {
      closes: [
        'role=web & env=staging > role=api & env=prod : all',
        'role=api & env=prod > role=web & env=staging : all',
      ],
    },
  },
  {
    on: ['plant'],
    says: ['isolate west-sensor-010', 'quarantine west-sensor-010', 'lock west-sensor-010 down'],
    gold: { closes: ['west-sensor-010 > * : all', '* > west-sensor-010 : all'] },
  },
  {
    on: ['plant'],
    says: ['isolate site=south', 'quarantine the south site', 'cut all peers in site south off'],
    gold: { closes: ['site=south > * : all', '* > site=south : all'] },
  },
  {
    on: ['plant'],
    says: ['isolate the engineers', 'isolate all eng machines', 'cut the eng peers off'],
    gold: { closes: ['role=eng > * : all', '* > role=eng : all'] },
  },
];

const REVOKE: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['studio'],
    says: [
      "revoke web's access to the database",
      'take back the access of web to db',
      'withdraw access from web to the database',
      "remove web's access to db",
    ],
    gold: { closes: ['role=web > role=db : tcp/5432'] },
  },
  {
    on: ['office'],
    says: [
      "revoke the api's access to the databases",
      'revoke access from api to db on port 5432',
      'withdraw api access to the databases',
    ],
    gold: { closes: ['role=api > role=db : tcp/5432'] },
  },
  {
    on: ['office'],
    says: [
      "revoke backup's access to db",
      'remove access to the databases from backup',
      'take away access from backup to db',
    ],
    gold: { closes: ['role=backup > role=db : all'] },
  },
  {
    on: ['office'],
    says: [
      "take back web's access to the caches",
      "revoke web's redis access to cache",
      'revoke access of web to cache',
    ],
    gold: { closes: ['role=web > role=cache : tcp/6379'] },
  },
  {
    on: ['office'],
    says: ['revoke all access to the databases', 'take back all access to db'],
    gold: { closes: ['* > role=db : all'] },
  },
  {
    on: ['office'],
    says: ['delete the policy db-backup', 'remove policy db-backup', 'delete the db-backup policy'],
    gold: { closes: ['role=backup > role=db : all'] },
  },
  {
    on: ['office'],
    says: ['delete the policy no-printing-from-ci', 'drop policy "no-printing-from-ci"'],
    gold: { opens: ['role=ci > role=printer : all'] },
  },
  {
    on: ['plant'],
    says: [
      "revoke eng's access to plc",
      'withdraw the access of eng to the plcs',
      'revoke access from eng to plc on port 502',
    ],
    gold: { closes: ['role=eng > role=plc : tcp/502'] },
  },
];

const NARROW: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['home'],
    says: [
      'limit the database to port 5432',
      'restrict access to db to postgres',
      'narrow db to tcp 5432',
      'limit access to the database to port 5432',
    ],
    gold: { closes: ['* > role=db : all but tcp/5432'] },
  },
  {
    on: ['home'],
    says: [
      "restrict web's access to the api to https",
      'limit access from web to api to port 443',
      "narrow web's access to the api down to 443",
    ],
    gold: { closes: ['role=web > role=api : all but tcp/443'] },
  },
  {
    on: ['home'],
    says: ['limit access to the database to web', 'restrict access to db to the web server'],
    gold: { closes: ['* - role=web > role=db : all'] },
  },
  {
    on: ['home'],
    says: ['restrict access to db to web on 5432', 'limit access to the database to web over postgres'],
    gold: { closes: ['* - role=web > role=db : all', 'role=web > role=db : all but tcp/5432'] },
  },
  {
    on: ['office'],
    says: [
      "limit backup's access to the databases to ssh",
      "restrict backup's access to db to port 22",
      'narrow access from backup to db to tcp 22',
    ],
    gold: { closes: ['role=backup > role=db : all but tcp/22'] },
  },
  {
    on: ['office'],
    says: [
      'limit the printers to port 9100',
      'restrict printers to tcp 9100',
      'close all ports on the printers except 9100',
    ],
    gold: { closes: ['* > role=printer : all but tcp/9100'] },
  },
  {
    on: ['office'],
    says: ['restrict access to the caches to api', 'limit access to cache to the api servers'],
    gold: { closes: ['* - role=api > role=cache : all'] },
  },
  {
    on: ['office'],
    says: [
      'limit the web servers to ports 80 and 443',
      'restrict web to http and https',
      'limit access to web to 80, 443',
    ],
    gold: { closes: ['* > role=web : all but tcp/80, tcp/443'] },
  },
  {
    on: ['plant'],
    says: ['restrict access to the plcs to the north engineers', 'limit access to plc to role=eng,site=north'],
    gold: { closes: ['role=eng - site=north > role=plc : all'] },
  },
];

const NO_OP: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['home'],
    says: [
      'let web reach db on 5432',
      'allow everyone to reach the api',
      'web may reach the database',
      'let ci and api reach each other',
    ],
    gold: {},
  },
  {
    on: ['studio'],
    says: ['let web reach db on 5432', 'allow postgres from web to db', 'web may reach the database on tcp 5432'],
    gold: {},
  },
  {
    on: ['studio'],
    says: ['block ci from the database', 'ci must not reach db', 'deny everything by default', 'isolate the laptop'],
    gold: {},
  },
  {
    on: ['office'],
    says: ['block ci from the printers', 'ci must not reach role=printer', 'deny ci access to printer-1'],
    gold: {},
  },
  {
    on: ['office'],
    says: ['let api reach db on 5432', 'allow the api servers to use postgres on the databases'],
    gold: {},
  },
  { on: ['office'], says: ['let web reach the api', 'allow dev to talk to the web servers on 443'], gold: {} },
  { on: ['plant'], says: ['let eng reach plc on 502', 'the engineers may access the plcs on tcp port 502'], gold: {} },
  { on: ['plant'], says: ['cameras must not reach the plcs', 'block the cameras from plc'], gold: {} },
  {
    on: ['office'],
    says: ['rename the policy db-backup to backup-access', 'rename policy cache-grants to cache-users'],
    gold: {},
  },
];

const MULTI: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['office'],
    says: [
      'let web reach db on 5432 and block ci from the api',
      'allow postgres from web to db, and deny ci access to api',
      'Let web reach db on 5432. Block ci from the api.',
    ],
    gold: { opens: ['role=web > role=db : tcp/5432'], closes: ['role=ci > role=api : all'] },
  },
  {
    on: ['office'],
    says: [
      'isolate dev-01 and quarantine dev-02',
      'isolate dev-01; isolate dev-02',
      'isolate dev-01 and dev-02',
      'isolate dev-01, then isolate dev-02',
    ],
    gold: { closes: ['dev-01 | dev-02 > * : all', '* > dev-01 | dev-02 : all'] },
  },
  {
    on: ['office'],
    says: [
      'let monitoring reach db on 9100 and let monitoring reach cache on 9121',
      'open port 9100 on db to monitoring, then open port 9121 on cache to monitoring',
      'monitoring may reach db on 9100 and monitoring may reach cache on 9121',
    ],
    gold: { opens: ['role=monitoring > role=db : tcp/9100', 'role=monitoring > role=cache : tcp/9121'] },
  },
  {
    on: ['office'],
    says: [
      "revoke backup's access to db and let backup reach db on 22",
      "take back backup's access to the databases, then allow backup to ssh to db",
    ],
    gold: { closes: ['role=backup > role=db : all but tcp/22'] },
  },
  {
    on: ['studio'],
    says: [
      'let api reach db on 5432 and let ci reach api on 443',
      'api may reach db on 5432; ci may reach api on 443',
      'allow api to query db on 5432 and allow ci to use https on api',
    ],
    gold: { opens: ['role=api > role=db : tcp/5432', 'role=ci > role=api : tcp/443'] },
  },
  {
    on: ['home'],
    says: [
      'block ci from db, block ci from web and isolate anna-laptop',
      'deny ci access to db; deny ci access to web; quarantine anna-laptop',
    ],
    gold: { closes: ['role=ci > role=db | role=web : all', 'anna-laptop > * : all', '* > anna-laptop : all'] },
  },
  {
    on: ['plant'],
    says: [
      'let eng reach gateway on 22 and isolate north-camera-003',
      'allow ssh from eng to the gateways. Also quarantine north-camera-003.',
    ],
    gold: {
      opens: ['role=eng > role=gateway : tcp/22'],
      closes: ['north-camera-003 > * : all', '* > north-camera-003 : all'],
    },
  },
  {
    on: ['plant'],
    says: [
      'let hmi reach plc on 502 and let hmi reach historian on 443',
      'hmis may reach plcs on 502 and hmis may reach historians on 443',
    ],
    gold: { opens: ['role=hmi > role=plc : tcp/502', 'role=hmi > role=historian : tcp/443'] },
  },
];

export const CLOSING: readonly EvalCase[] = [
  ...DENY.map((one) => ({ family: 'deny' as const, ...one })),
  ...ISOLATE.map((one) => ({ family: 'isolate' as const, ...one })),
  ...REVOKE.map((one) => ({ family: 'revoke' as const, ...one })),
  ...NARROW.map((one) => ({ family: 'narrow' as const, ...one })),
  ...NO_OP.map((one) => ({ family: 'no-op' as const, ...one })),
  ...MULTI.map((one) => ({ family: 'multi-change' as const, ...one })),
];

import type { EvalCase } from '../case.ts';

/** Sentences of people who had not read the grammar, and others of their kinds. */

const ALL_BUT_53 = 'udp/1-52, udp/54-65535';
const SSH_OF_OTHERS = '* - anna-mac > * : tcp/22';

const EXCLUSIVE: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['shop'],
    says: [
      'db-1 must be reachable by api-1 alone',
      'api-1 alone may reach db-1',
      'db-1 may be reached by api-1 only',
      'let api-1 alone reach db-1',
      'limit access to db-1 to api-1 alone',
    ],
    gold: { closes: ['* - api-1 > db-1 : all'] },
  },
  {
    on: ['shop'],
    says: [
      'the databases must be reachable by the web servers alone',
      'block everyone from the databases unless they are web servers',
      'nobody may reach role=db unless they are role=web',
      'block everyone who is not role=web from the databases',
      'deny access to the databases for everyone unless they are role=web',
    ],
    gold: { closes: ['* - role=web > role=db : all'] },
  },
  {
    on: ['shop'],
    says: [
      'block everyone from db-1 unless they are role=web',
      'block everyone from db-1 if they are not role=web',
      "block everyone from db-1 unless they're web servers",
    ],
    gold: { closes: ['* - role=web > db-1 : all'] },
  },
  {
    on: ['shop'],
    says: [
      'nobody but anna-mac may ssh anywhere',
      'only anna-mac may ssh into any machine',
      'block everyone except anna-mac from everyone on 22',
      'anna-mac alone may ssh anywhere',
    ],
    gold: { closes: [SSH_OF_OTHERS] },
  },
  {
    on: ['shop'],
    says: ['let only api-1 reach db-1 on udp except 53', 'only api-1 may reach db-1 on udp except dns'],
    gold: { closes: [`* - api-1 > db-1 : ${ALL_BUT_53}`] },
  },
  {
    on: ['vault'],
    says: ['let only api-1 reach db-1 on udp except 53', 'let api-1 reach db-1 on udp except 53 and nobody else'],
    gold: { opens: [`api-1 > db-1 : ${ALL_BUT_53}`] },
  },
  {
    on: ['vault'],
    says: [
      'laptop may reach api-1 on 443 and nothing else',
      'let laptop reach api-1 on 443 and nothing else',
      'laptop may reach api-1 on 443 and nobody else',
      'laptop may reach api-1 over https and nothing else',
    ],
    gold: { opens: ['laptop > api-1 : tcp/443'] },
  },
  {
    on: ['vault'],
    says: ['the ops team may reach api-1 on 22 and nothing else', 'let team=ops reach api-1 on 22 and nothing else'],
    gold: { opens: ['team=ops > api-1 : tcp/22'] },
  },
];

const PORTS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['shop'],
    says: [
      'only https and ping may reach the web servers',
      'nothing but https and ping may reach the web servers',
      'the web servers may only be reached on https and ping',
      'limit the web servers to https and ping',
    ],
    gold: { closes: ['* > role=web : all but tcp/443, icmp'] },
  },
  {
    on: ['shop'],
    says: ['only postgres may reach db-1', 'db-1 may only be reached on 5432', 'db-1 may only accept postgres'],
    gold: { closes: ['* > db-1 : all but tcp/5432'] },
  },
  {
    on: ['shop'],
    says: [
      'deny all udp except 53 to db-1',
      'block all udp except 53 to db-1',
      'deny all udp but dns to db-1',
      'block everyone from db-1 on udp except 53',
    ],
    gold: { closes: [`* > db-1 : ${ALL_BUT_53}`] },
  },
  {
    on: ['shop'],
    says: ['deny udp to the databases', 'deny all udp to the databases', 'block udp to role=db'],
    gold: { closes: ['* > role=db : udp'] },
  },
  {
    on: ['shop'],
    says: [
      'close port 22 on every machine except web-1',
      'close 22 on all machines except web-1',
      'close ssh on every peer but web-1',
    ],
    gold: { closes: ['* > * - web-1 : tcp/22'] },
  },
  {
    on: ['shop'],
    says: ['close port 22 on all machines except the web servers', 'close ssh on every host except role=web'],
    gold: { closes: ['* > * - role=web : tcp/22'] },
  },
];

const EACH: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['shop'],
    says: [
      'limit access to db-1 to api-1 on 5432 and monitor on 9100',
      'restrict access to db-1 to api-1 on 5432, monitor on 9100',
    ],
    gold: {
      closes: [
        '* - api-1 - monitor > db-1 : all',
        'api-1 > db-1 : all but tcp/5432',
        'monitor > db-1 : all but tcp/9100',
      ],
    },
  },
  {
    on: ['vault'],
    says: [
      'limit access to db-1 to api-1 on 5432 and monitor on 9100',
      'limit access to db-1 to api-1 over postgres and monitor on port 9100',
    ],
    gold: { closes: ['role=web > db-1 : all'] },
  },
  {
    on: ['shop'],
    says: [
      'block api-1 from everyone except db-1 on 5432 and web-1 on 443',
      'block api-1 from everyone except db-1 on 5432, web-1 on 443',
    ],
    gold: {
      closes: ['api-1 > * - db-1 - web-1 : all', 'api-1 > db-1 : all but tcp/5432', 'api-1 > web-1 : all but tcp/443'],
    },
  },
  {
    on: ['vault'],
    says: [
      'db-1 may be reached by api-1 on 5432 and monitor on 9100',
      'db-1 shall accept connections from api-1 on 5432 and from monitor on 9100',
      'let api-1 reach db-1 on 5432; let monitor reach db-1 on 9100',
    ],
    gold: { opens: ['api-1 > db-1 : tcp/5432', 'monitor > db-1 : tcp/9100'] },
  },
];

const OUTSIDE: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['shop'],
    says: [
      'only 203.0.113.0/24 may reach web-1 on 443',
      'let only 203.0.113.0/24 reach web-1 on 443',
      'block everyone except 203.0.113.0/24 from web-1 on 443',
      'nobody but 203.0.113.0/24 may reach web-1 over https',
      'let 203.0.113.0/24 reach web-1 on 443 and nobody else',
    ],
    gold: { closes: ['* > web-1 : tcp/443', '0.0.0.0/0 - 203.0.113.0/24 > web-1 : tcp/443'] },
  },
  {
    on: ['vault'],
    says: ['only 203.0.113.0/24 may reach web-1 on 443', 'let only 203.0.113.0/24 reach web-1 on 443'],
    gold: { opens: ['203.0.113.0/24 > web-1 : tcp/443'] },
  },
  {
    on: ['shop'],
    says: [
      'nobody may reach db-1 except 203.0.113.0/24',
      'block everyone except 203.0.113.0/24 from db-1',
      'limit access to db-1 to 203.0.113.0/24',
    ],
    gold: { closes: ['* > db-1 : all', '0.0.0.0/0 - 203.0.113.0/24 > db-1 : all'] },
  },
  {
    on: ['shop'],
    says: [
      'only api-1 and 203.0.113.0/24 may reach web-1 on 443',
      'block everyone except api-1 and 203.0.113.0/24 from web-1 on 443',
    ],
    gold: { closes: ['* - api-1 > web-1 : tcp/443', '0.0.0.0/0 - 203.0.113.0/24 > web-1 : tcp/443'] },
  },
  {
    on: ['shop'],
    says: [
      'block everyone from db-1 except 5432/tcp from the web servers except 443/tcp from 203.0.113.0/24',
      'block all traffic to db-1 except postgres from role=web except https from 203.0.113.0/24',
    ],
    gold: {
      closes: [
        '* - role=web > db-1 : all',
        'role=web > db-1 : all but tcp/5432',
        '0.0.0.0/0 - 203.0.113.0/24 > db-1 : all',
        '203.0.113.0/24 > db-1 : all but tcp/443',
      ],
    },
  },
];

const OTHER_TRAFFIC: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['shop'],
    says: [
      'let laptop reach web-1 on 22, and close everything else from laptop',
      'let laptop reach web-1 on 22 and block all other traffic from laptop',
      'laptop may reach web-1 on 22; cut everything else from laptop',
    ],
    gold: { closes: ['laptop > * - web-1 : all', 'laptop > web-1 : all but tcp/22'] },
  },
  {
    on: ['shop'],
    says: [
      'let web-1 reach db-1 on 5432 and block everything else to db-1',
      'let web-1 reach db-1 on 5432, and close everything else on db-1',
    ],
    gold: { closes: ['* - web-1 > db-1 : all', 'web-1 > db-1 : all but tcp/5432'] },
  },
  {
    on: ['vault'],
    says: [
      'let laptop reach web-1 on 22, and close everything else from laptop',
      'let laptop reach web-1 on 22. Drop everything else from laptop.',
    ],
    gold: { opens: ['laptop > web-1 : tcp/22'] },
  },
  {
    on: ['shop'],
    says: [
      'let web-1 reach db-1 on 5432 and api-1 on 8080, and block everything else from web-1',
      'let web-1 reach db-1 on 5432; let web-1 reach api-1 on 8080; no other outbound',
    ],
    gold: {
      closes: ['web-1 > * - db-1 - api-1 : all', 'web-1 > db-1 : all but tcp/5432', 'web-1 > api-1 : all but tcp/8080'],
    },
  },
  {
    on: ['shop'],
    says: ['separate staging and prod', 'keep staging and prod apart', 'segregate env=staging and env=prod'],
    gold: { closes: ['env=staging > env=prod : all', 'env=prod > env=staging : all'] },
  },
  {
    on: ['shop'],
    says: ['close everything from laptop', 'close all traffic from laptop', 'block everything from laptop'],
    gold: { closes: ['laptop > * : all'] },
  },
];

const ENDS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['vault'],
    says: [
      'let laptop reach db-1 on 5432 until friday 18:00 Zurich time',
      'let laptop reach db-1 on 5432 until friday at 18:00 in Zurich',
      'let laptop reach db-1 on 5432 until 18:00 Europe/Zurich on friday',
      'let laptop reach db-1 on 5432 until friday 18:00 CET',
      'let laptop reach db-1 on 5432 until friday 17:00 UTC',
      'let laptop reach db-1 on 5432 until friday 18:00 +01:00',
    ],
    gold: { opens: ['laptop > db-1 : tcp/5432'], ends: '2026-01-09T17:00:00.000Z' },
  },
  {
    on: ['shop'],
    says: ['block laptop from db-1 for good', 'permanently block laptop from db-1', 'block laptop from db-1 forever'],
    gold: { closes: ['laptop > db-1 : all'] },
  },
  {
    on: ['vault'],
    says: [
      'let web-1 and laptop reach db-1 on 5432 until friday',
      'open 5432 on db-1 to web-1 and laptop until friday',
    ],
    gold: { opens: ['laptop > db-1 : tcp/5432'], ends: '2026-01-09T00:00:00.000Z' },
  },
];

const INWARD: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['shop'],
    says: [
      'anna-mac and bob-mac can reach each other, nobody else can reach them',
      'anna-mac and bob-mac may reach each other, but no one else may reach them',
      'let anna-mac and bob-mac reach each other. Nobody else may reach them.',
    ],
    gold: { closes: ['* - anna-mac - bob-mac > anna-mac : all', '* - anna-mac - bob-mac > bob-mac : all'] },
  },
  {
    on: ['shop'],
    says: [
      'anna-mac and bob-mac can reach each other on 22, nobody else may reach them',
      'anna-mac and bob-mac may reach each other on 22, but no one else may reach them',
    ],
    gold: { closes: ['* - anna-mac - bob-mac > anna-mac : tcp/22', '* - anna-mac - bob-mac > bob-mac : tcp/22'] },
  },
];

/** A group of which a part is open today, and a part forbidden. */
const MIXED: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['mixed'],
    says: [
      'only api-1 may reach the databases on 5432',
      'no one except api-1 may use 5432 on the databases',
      'nobody but api-1 may reach role=db on 5432',
    ],
    gold: { closes: ['* - api-1 > db-2 : tcp/5432', 'api-2 > db-1 : tcp/5432'] },
  },
  {
    on: ['mixed'],
    says: ['only laptop may reach role=db on 9999', 'only anna-mac may ssh to anything'],
    gold: 'ask',
  },
  {
    on: ['mixed'],
    says: [
      'let the web servers talk to each other on 8300',
      'only role=web or role=api may reach role=db, except api-2',
    ],
    gold: 'ask',
  },
];

const KINDS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['shop'],
    says: ['no laptop may reach db-1 on 25', 'no laptop can reach db-1 on smtp'],
    gold: { closes: ['laptop > db-1 : tcp/25'] },
  },
  {
    on: ['shop'],
    says: ['nobody may use telnet or ftp on db-1', 'no one may use ftp or telnet on db-1'],
    gold: {
      closes: ['* > db-1 : tcp/23', '* > db-1 : tcp/21', '0.0.0.0/0 > db-1 : tcp/23', '0.0.0.0/0 > db-1 : tcp/21'],
    },
  },
  {
    on: ['shop'],
    says: ['nobody may reach api-2 from outside', 'nobody may reach api-2 from the world'],
    gold: { closes: ['0.0.0.0/0 > api-2 : all'] },
  },
  {
    on: ['vault'],
    says: [
      'let 198.51.100.0/24 except 198.51.100.7 reach web-1 on 443',
      'allow 198.51.100.0/24 except 198.51.100.7 to reach web-1 on 443',
    ],
    gold: { opens: ['198.51.100.0/24 - 198.51.100.7/32 > web-1 : tcp/443'] },
  },
];

const of = (family: EvalCase['family'], cases: readonly Omit<EvalCase, 'family'>[]): EvalCase[] =>
  cases.map((one) => ({ family, ...one }));

export const STRANGERS: readonly EvalCase[] = [
  ...of('exclusions', EXCLUSIVE),
  ...of('narrow', PORTS),
  ...of('multi-change', EACH),
  ...of('exclusions', OUTSIDE),
  ...of('multi-change', OTHER_TRAFFIC),
  ...of('time-bound', ENDS),
  ...of('exclusions', [...INWARD, ...MIXED.slice(0, 1), ...KINDS]),
  ...of('ambiguous', MIXED.slice(1)),
];

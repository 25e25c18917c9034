import type { EvalCase } from '../case.ts';

/** What a restriction, an exception or a reason is about: one port, one side, one sentence before it. */

const EXCLUSIONS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['office'],
    says: [
      'nobody but ops gets ssh to the web servers',
      'only ops may ssh into web',
      'restrict ssh access to web to the ops team',
      'block ssh to web from everyone except ops',
      'no ssh to web except from ops',
      'let ops ssh into web and nobody else',
    ],
    gold: { closes: ['* - team=ops > role=web : tcp/22'] },
  },
  {
    on: ['home'],
    says: [
      'block all traffic to the database except from web on 5432',
      'close everything on db except 5432 from web',
      'deny everyone access to db, except postgres from the web server',
    ],
    gold: { closes: ['* - role=web > role=db : all', 'role=web > role=db : all but tcp/5432'] },
  },
  {
    on: ['home'],
    says: [
      'block the laptop from everything except ssh to api',
      'anna-laptop must not reach anything except 22 on api',
      'stop anna-laptop from reaching anyone apart from ssh to the api',
    ],
    gold: { closes: ['anna-laptop > * - role=api : all', 'anna-laptop > role=api : all but tcp/22'] },
  },
  {
    on: ['home'],
    says: [
      'stop ci from talking to anything but the api',
      'ci may only talk to the api',
      'ci may reach nothing but the api',
    ],
    gold: { closes: ['ci-1 > * - role=api : all'] },
  },
  {
    on: ['home'],
    says: ['cut outbound of ci-1', 'block all outgoing traffic from ci', "cut ci-1's outbound traffic"],
    gold: { closes: ['ci-1 > * : all'] },
  },
  {
    on: ['home'],
    says: [
      'block all inbound traffic to ci-1',
      'deny all incoming connections on ci',
      'ci-1 must not accept connections',
    ],
    gold: { closes: ['* > ci-1 : all'] },
  },
  {
    on: ['home'],
    says: [
      'let web reach api on 443; block everyone else from api',
      'Let web reach api on 443. Everyone else must not reach api.',
    ],
    gold: { closes: ['* - role=web > role=api : all'] },
  },
];

const ISOLATE: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['home'],
    says: [
      'quarantine web-1 but keep ssh from anna-laptop',
      'isolate web-1 except ssh from anna-laptop',
      'lock down web-1 but still allow anna-laptop to ssh in',
      'isolate web-1, but let anna-laptop ssh into it',
      'cut web-1 off but keep port 22 open for anna-laptop',
    ],
    gold: { closes: ['web-1 > * : all', '* - anna-laptop > web-1 : all', 'anna-laptop > web-1 : all but tcp/22'] },
  },
  {
    on: ['home'],
    says: [
      'quarantine web-1 but keep its access to the api on 443',
      'isolate web-1 except to api on 443',
      'isolate web-1 apart from https to api-1',
    ],
    gold: { closes: ['* > web-1 : all', 'web-1 > * - role=api : all', 'web-1 > role=api : all but tcp/443'] },
  },
  {
    on: ['home'],
    says: ['isolate web-1 except from anna-laptop', 'quarantine web-1 but keep access from anna-laptop'],
    gold: { closes: ['web-1 > * : all', '* - anna-laptop > web-1 : all'] },
  },
  {
    on: ['home'],
    says: ['isolate ci because it has malware', 'quarantine ci-1 because of the incident'],
    gold: { closes: ['ci-1 > * : all', '* > ci-1 : all'] },
  },
];

const REASONS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['home'],
    says: [
      'block ci from db because it is compromised',
      'because ci is compromised, block ci from db',
      'block ci from db due to the incident',
    ],
    gold: { closes: ['ci-1 > db-1 : all'] },
  },
  {
    on: ['studio'],
    says: ['let ci reach api on 443 so that deployments work', 'ci needs api on 443 because of the deployment'],
    gold: { opens: ['ci-1 > api-1 : tcp/443'] },
  },
  {
    on: ['studio'],
    says: [
      'ci -> api 8443',
      'allow ci -> api : 8443/tcp',
      'let ci reach api-1 (port 8443)',
      'allow: ci -> api 8443/tcp',
    ],
    gold: { opens: ['ci-1 > api-1 : tcp/8443'] },
  },
  {
    on: ['studio'],
    says: ['allow postgres (5433) from api to db', 'let api reach db (5433/tcp)'],
    gold: { opens: ['api-1 > db-1 : tcp/5433'] },
  },
  {
    on: ['office'],
    says: [
      'let (role=web and env=prod) reach (role=db and env=prod) on 5432',
      'let peers labelled (role=web, env=prod) reach role=db,env=prod on 5432',
    ],
    gold: { opens: ['role=web & env=prod > role=db & env=prod : tcp/5432'] },
  },
  {
    on: ['office'],
    says: [
      'let web reach db on 5432. Everything else stays closed.',
      'web needs db on 5432, everything else stays closed',
      'Web needs db on 5432. Nothing else should change.',
    ],
    gold: { opens: ['role=web > role=db : tcp/5432'] },
  },
];

const TIMES: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['studio'],
    says: ['temporarily allow ci to reach api on 443 for 2h', 'let ci reach api on 443 for 2h for now'],
    gold: { opens: ['ci-1 > api-1 : tcp/443'], ends: '2026-01-05T14:00:00.000Z' },
  },
  {
    on: ['office'],
    says: ['isolate dev-03 for 2 hours but keep ssh from ops', 'isolate dev-03 except ssh from ops for 2 hours'],
    gold: {
      closes: ['dev-03 > * : all', '* - team=ops > dev-03 : all', 'team=ops > dev-03 : all but tcp/22'],
      ends: '2026-01-05T14:00:00.000Z',
    },
  },
];

const ASKED: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['office'],
    says: [
      'block ci from web except web-1 on 8080',
      'block ci from everything except web-1 on 8080',
      'dev must not reach anything except web on 443',
      'block everyone except api on 443 from web',
    ],
    gold: 'ask',
  },
  {
    on: ['office'],
    says: ['only api and backup may reach db', 'api may only talk to db', 'nobody but api can reach the databases'],
    gold: 'ask',
  },
  { on: ['office'], says: ['isolate web-2 except anna-laptop', 'isolate web-2 except ssh'], gold: 'ask' },
  { on: ['office'], says: ['deny ssh access to dev', 'deny access to the ops team'], gold: 'ask' },
  {
    on: ['office'],
    says: ['let role=web and env=prod reach api', 'let (role=web and env=prod or role=ci) reach api'],
    gold: 'ask',
  },
  {
    on: ['office'],
    says: ['ci may reach api but only on 443', 'let ci just reach api', 'web should only accept ssh from ops'],
    gold: 'ask',
  },
  {
    on: ['office'],
    says: ['let web reach cache-2 instead of cache-1', 'let web reach db on 5433 instead of 5432'],
    gold: 'ask',
  },
  {
    on: ['office'],
    says: ['block everyone else from db', 'let dev reach api on 443. Everything else stays closed.'],
    gold: 'ask',
  },
  {
    on: ['office'],
    says: [
      'block ci from web because only ops needs it',
      'isolate dev-03 unless ops needs it',
      'isolate dev-03 while we look',
    ],
    gold: 'ask',
  },
  {
    on: ['office'],
    says: ['isolate dev-03. let ops ssh into dev-03', 'block ci from web; let ci-1 reach web-1 on 443'],
    gold: 'ask',
  },
  {
    on: ['office'],
    says: ['let web reach db (the new one)', 'let the db (db-1) be reached by web', 'let web (port 80) reach db'],
    gold: 'ask',
  },
  { on: ['office'], says: ['let web reach db besides 22', 'let web reach db except'], gold: 'refuse' },
];

const LANGUAGES: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['office'],
    says: [
      'erlaube web den Zugriff auf die db',
      'autorise web pour accéder à la db sur le port 5432',
      'permite que web acceda a db en el puerto 5432',
      '允许web访问db',
      'разреши web доступ к db',
    ],
    gold: 'refuse',
  },
];

export const SCOPES: readonly EvalCase[] = [
  ...EXCLUSIONS.map((one) => ({ family: 'exclusions' as const, ...one })),
  ...ISOLATE.map((one) => ({ family: 'isolate' as const, ...one })),
  ...REASONS.map((one) => ({ family: 'allow' as const, ...one })),
  ...TIMES.map((one) => ({ family: 'time-bound' as const, ...one })),
  ...ASKED.map((one) => ({ family: 'ambiguous' as const, ...one })),
  ...LANGUAGES.map((one) => ({ family: 'unknown peer' as const, ...one })),
];

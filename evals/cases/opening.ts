import type { EvalCase } from '../case.ts';

/** Letting someone reach something, for good, for a time, and by what they have in common. */

const ALLOW: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['studio'],
    says: [
      'let the api reach the database on port 5432',
      'Please allow api to connect to db over postgres.',
      'api-1 should be able to query db-1 on 5432',
    ],
    gold: { opens: ['role=api > role=db : tcp/5432'] },
  },
  {
    on: ['studio'],
    says: [
      'give ci access to the api',
      'the CI server may talk to the API',
      'open the api to ci',
      'let ci-1 reach api-1',
    ],
    gold: { opens: ['ci-1 > api-1 : all'] },
  },
  {
    on: ['office'],
    says: [
      'let the web servers reach the databases on port 5432',
      'allow postgres from web to db',
      'grant the web servers access to the databases on tcp port 5432',
      'allow web -> db on 5432/tcp please',
    ],
    gold: { opens: ['role=web > role=db : tcp/5432'] },
  },
  {
    on: ['office'],
    says: [
      'let anna-laptop ssh into db-1',
      'allow ssh from anna-laptop to db-1',
      'open port 22 on db-1 to anna-laptop',
      'give anna-laptop ssh access to db-1',
    ],
    gold: { opens: ['anna-laptop > db-1 : tcp/22'] },
  },
  {
    on: ['office'],
    says: [
      'let monitoring reach the databases on 9100',
      'prometheus-1 and grafana-1 may reach db on tcp 9100',
      'open port 9100 on the database servers for monitoring',
    ],
    gold: { opens: ['role=monitoring > role=db : tcp/9100'] },
  },
  {
    on: ['office'],
    says: [
      'let ci reach the caches over redis',
      'allow redis traffic from ci to cache',
      'ci should be able to use redis on the cache servers',
    ],
    gold: { opens: ['role=ci > role=cache : tcp/6379'] },
  },
  {
    on: ['office'],
    says: [
      'let backup-1 reach the caches on ports 6379 and 22',
      'open ports 22, 6379 on cache to backup',
      'allow backup to connect to cache-1 and cache-2 over ssh and redis',
    ],
    gold: { opens: ['backup-1 > role=cache : tcp/22, tcp/6379'] },
  },
  {
    on: ['office'],
    says: [
      'let web reach db on ports 8000 to 8100',
      'allow web to access the databases on 8000-8100',
      'web may reach the databases on tcp ports 8000 through 8100',
    ],
    gold: { opens: ['role=web > role=db : tcp/8000-8100'] },
  },
  {
    on: ['studio'],
    says: [
      'let web use dns on the api',
      'allow dns from web to the api',
      'web may reach the api on port 53, tcp and udp',
    ],
    gold: { opens: ['role=web > role=api : tcp/53, udp/53'] },
  },
  {
    on: ['studio'],
    says: [
      'let anna-laptop ping everything',
      'allow icmp from anna-laptop to everyone',
      'anna-laptop may ping all peers',
    ],
    gold: { opens: ['anna-laptop > * : icmp'] },
  },
  {
    on: ['studio'],
    says: [
      'let everyone reach the api on https',
      'open https on api to everyone',
      'anyone may access the api over https',
      'allow all peers to reach api-1 on port 443',
    ],
    gold: { opens: ['* > role=api : tcp/443'] },
  },
  {
    on: ['studio'],
    says: [
      'let the api and the web server talk to each other',
      'allow all traffic between web and api',
      'open access between api-1 and web-1',
      'web and api may reach each other',
    ],
    gold: { opens: ['role=web > role=api : all', 'role=api > role=web : all'] },
  },
  {
    on: ['studio'],
    says: [
      'allow https between ci and the api',
      'let ci and api reach each other on 443',
      'let ci reach api on https in both directions',
    ],
    gold: { opens: ['role=ci > role=api : tcp/443', 'role=api > role=ci : tcp/443'] },
  },
  {
    on: ['plant'],
    says: [
      'let the HMIs reach the PLCs on tcp 502',
      'allow hmi to connect to plc on port 502',
      'open port 502 on plc to hmi',
    ],
    gold: { opens: ['role=hmi > role=plc : tcp/502'] },
  },
  {
    on: ['plant'],
    says: [
      'let the gateways reach the historians over https',
      'gateways should be able to access historians on 443',
      'give the gateways https access to the historians',
    ],
    gold: { opens: ['role=gateway > role=historian : tcp/443'] },
  },
  {
    on: ['plant'],
    says: [
      'let east-eng-001 ssh to east-gateway-002',
      'allow peer east-eng-001 to reach peer east-gateway-002 on port 22',
      'open ssh on east-gateway-002 to east-eng-001',
    ],
    gold: { opens: ['east-eng-001 > east-gateway-002 : tcp/22'] },
  },
  {
    on: ['plant'],
    says: [
      'let the cameras send syslog to the gateways',
      'allow syslog from cameras to gateways',
      'cameras may reach gateways over udp port 514',
    ],
    gold: { opens: ['role=camera > role=gateway : udp/514'] },
  },
  {
    on: ['plant'],
    says: [
      'let all peers reach the gateways on ntp',
      'everyone may use ntp on the gateways',
      'open udp 123 on gateways to everyone',
    ],
    gold: { opens: ['* > role=gateway : udp/123'] },
  },
  {
    on: ['office'],
    says: ['limit access to the databases to api on 5432', 'restrict access to the databases to the api on port 5432'],
    gold: { closes: ['* - role=api > role=db : all', 'role=api > role=db : all but tcp/5432'] },
  },
  {
    on: ['home'],
    says: [
      'let web reach the database on port 5432 and nobody else',
      'let web access db over postgres and nobody else',
    ],
    gold: { closes: ['* - role=web > role=db : tcp/5432'] },
  },
  {
    on: ['office'],
    says: [
      'let the api servers reach the databases on port 5432 and nobody else',
      'only the api may reach the databases on 5432',
      'let nobody but api reach db on port 5432',
    ],
    gold: { closes: ['* - role=api > role=db : tcp/5432'] },
  },
  {
    on: ['home'],
    says: ['only web may access db over postgres', 'nobody but web may reach the database on 5432'],
    gold: { closes: ['* - role=web > role=db : tcp/5432'] },
  },
];

const TIME_BOUND: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['studio'],
    says: [
      'let anna-laptop reach db on 5432 for 2 hours',
      'give anna-laptop access to the database on postgres for the next 2 hours',
      'for two hours, let anna-laptop connect to db-1 over postgres',
      'allow anna-laptop to reach db-1 on 5432 until 14:00',
    ],
    gold: { opens: ['anna-laptop > role=db : tcp/5432'], ends: '2026-01-05T14:00:00.000Z' },
  },
  {
    on: ['office'],
    says: [
      'let ops ssh into the databases for 30 minutes',
      'allow ssh from ops to db for half an hour',
      'ops may reach db on port 22 for the next 30 min',
    ],
    gold: { opens: ['team=ops > role=db : tcp/22'], ends: '2026-01-05T12:30:00.000Z' },
  },
  {
    on: ['office'],
    says: [
      'block ci from the api until tomorrow',
      'ci must not reach the api until 2026-01-06',
      'deny ci access to api until midnight',
    ],
    gold: { closes: ['role=ci > role=api : all'], ends: '2026-01-06T00:00:00.000Z' },
  },
  {
    on: ['office'],
    says: [
      'quarantine dev-03 for one hour',
      'isolate dev-03 for 60 minutes',
      'isolate dev-03 until 1pm',
      'cut dev-03 off for an hour',
    ],
    gold: { closes: ['dev-03 > * : all', '* > dev-03 : all'], ends: '2026-01-05T13:00:00.000Z' },
  },
  {
    on: ['plant'],
    says: [
      'let the engineers reach the historians over https for 1h30m',
      'allow eng to access historian on 443 for an hour and a half',
      'eng may reach historians on port 443 for 90 minutes',
    ],
    gold: { opens: ['role=eng > role=historian : tcp/443'], ends: '2026-01-05T13:30:00.000Z' },
  },
  {
    on: ['plant'],
    says: [
      'open ssh on the gateways to eng for a week',
      'let eng ssh to the gateways for 7 days',
      'let eng reach gateway on 22 until 2026-01-12T12:00:00Z',
    ],
    gold: { opens: ['role=eng > role=gateway : tcp/22'], ends: '2026-01-12T12:00:00.000Z' },
  },
  {
    on: ['plant'],
    says: ['let eng reach gateway on 22 until next monday', 'let eng ssh into the gateways until monday'],
    gold: { opens: ['role=eng > role=gateway : tcp/22'], ends: '2026-01-12T00:00:00.000Z' },
  },
  {
    on: ['studio'],
    says: [
      'let ci reach the api until 18:00',
      'allow ci to talk to the api until 6pm',
      'give ci access to the api until 18:00 UTC',
    ],
    gold: { opens: ['role=ci > role=api : all'], ends: '2026-01-05T18:00:00.000Z' },
  },
  {
    on: ['studio'],
    says: ['let ci reach the api on 443 until tomorrow at 08:00', 'ci can use https on the api until tomorrow 8am'],
    gold: { opens: ['role=ci > role=api : tcp/443'], ends: '2026-01-06T08:00:00.000Z' },
  },
  {
    on: ['office'],
    says: ['limit the api servers to port 443 for 2 days', 'restrict api to https for 48 hours'],
    gold: { closes: ['* > role=api : all but tcp/443'], ends: '2026-01-07T12:00:00.000Z' },
  },
  {
    on: ['home'],
    says: [
      'block all traffic to the database until 2026-01-10T00:00:00Z',
      'nobody may reach db until 2026-01-10',
      'let nobody reach the database until Saturday',
    ],
    gold: { closes: ['* > role=db : all'], ends: '2026-01-10T00:00:00.000Z' },
  },
];

const GROUPS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['office'],
    says: [
      'let team=ops reach role=db on 22',
      'let the ops team reach the db servers over ssh',
      'peers labelled team=ops may reach peers labelled role=db on port 22',
      'allow the ops team to ssh into all databases',
    ],
    gold: { opens: ['team=ops > role=db : tcp/22'] },
  },
  {
    on: ['office'],
    says: [
      'let the prod web servers reach the prod databases on 5432',
      'let web servers in prod reach databases in prod on port 5432',
      'allow role=web,env=prod to connect to role=db,env=prod over postgres',
    ],
    gold: { opens: ['role=web & env=prod > role=db & env=prod : tcp/5432'] },
  },
  {
    on: ['office'],
    says: [
      'let staging web servers reach staging databases on 5432',
      'web servers in the staging environment may reach databases in the staging environment over postgres',
    ],
    gold: { opens: ['role=web & env=staging > role=db & env=staging : tcp/5432'] },
  },
  {
    on: ['office'],
    says: [
      'the dev laptops may reach cache on 6379',
      'let the dev team reach cache over redis',
      'allow dev to use redis on cache',
    ],
    gold: { opens: ['team=dev > role=cache : tcp/6379'] },
  },
  {
    on: ['office'],
    says: [
      'let web, ci and monitoring reach the databases on 5432',
      'allow web and ci and monitoring to reach db over postgres',
      'the web servers, the ci servers and the monitoring servers may reach db on tcp/5432',
    ],
    gold: { opens: ['role=web | role=ci | role=monitoring > role=db : tcp/5432'] },
  },
  {
    on: ['office'],
    says: [
      'let ci reach db and cache on port 22',
      'allow ssh from ci to the databases and the caches',
      'open ssh on db, cache to ci',
    ],
    gold: { opens: ['role=ci > role=db | role=cache : tcp/22'] },
  },
  {
    on: ['plant'],
    says: [
      'let the north engineers reach the north historians on 443',
      'let role=eng,site=north reach role=historian,site=north on 443',
      'eng in site north may access historians in site north over https',
    ],
    gold: { opens: ['role=eng & site=north > role=historian & site=north : tcp/443'] },
  },
  {
    on: ['plant'],
    says: [
      'let site=east reach the east gateways on 443',
      'peers in site east may reach gateways in site east over https',
      'everyone in the east site may reach the east gateways on 443',
    ],
    gold: { opens: ['site=east > role=gateway & site=east : tcp/443'] },
  },
  {
    on: ['plant'],
    says: [
      'block the cameras in the west site from the historians',
      'block the west cameras from everyone',
      'the west cameras must not reach the historians',
    ],
    gold: {},
  },
  {
    on: ['plant'],
    says: [
      'let the cameras talk to each other on 554',
      'let cameras reach cameras on port 554',
      'allow traffic between the cameras on tcp 554',
    ],
    gold: { opens: ['role=camera > role=camera : tcp/554'] },
  },
  {
    on: ['office'],
    says: [
      'let the two monitoring servers reach both caches on 9121',
      'let monitoring reach the caches on port 9121',
      'all monitoring nodes may reach all cache nodes on tcp 9121',
    ],
    gold: { opens: ['role=monitoring > role=cache : tcp/9121'] },
  },
  {
    on: ['office'],
    says: [
      'let laptops reach the caches over https',
      'all laptops may access cache on 443',
      'devices labelled device laptop may reach cache on https',
    ],
    gold: { opens: ['device=laptop > role=cache : tcp/443'] },
  },
];

const EXCLUSIONS: readonly Omit<EvalCase, 'family'>[] = [
  {
    on: ['studio'],
    says: [
      'let everyone except ci reach the api on 443',
      'everyone but ci may reach the api over https',
      'let everyone reach api on 443 except ci',
      'all peers other than ci can access api on https',
    ],
    gold: { opens: ['* - role=ci > role=api : tcp/443'] },
  },
  {
    on: ['home'],
    says: [
      'block everyone except web from the database',
      'stop everybody but web from reaching db',
      'deny everyone other than web access to the database',
    ],
    gold: { closes: ['* - role=web > role=db : all'] },
  },
  {
    on: ['office'],
    says: [
      'let all web servers except web-6 reach db on 5432',
      'let the web servers reach db on 5432 except web-6',
      'allow postgres from web other than web-6 to db',
    ],
    gold: { opens: ['role=web - web-6 > role=db : tcp/5432'] },
  },
  {
    on: ['office'],
    says: [
      'let the ops team, except eve-laptop and farid-laptop, reach db on ssh',
      'let ops except eve-laptop and farid-laptop reach db over ssh',
      'ops apart from eve-laptop and farid-laptop may ssh into db',
    ],
    gold: { opens: ['team=ops - eve-laptop - farid-laptop > role=db : tcp/22'] },
  },
  {
    on: ['office'],
    says: [
      'block ci from all databases and web servers except web-1',
      'block ci from web except web-1',
      'ci must not reach the web servers other than web-1',
    ],
    gold: { closes: ['role=ci > role=web - web-1 : all'] },
  },
  {
    on: ['office'],
    says: [
      'block everyone except monitoring from reaching the caches',
      'deny all peers except monitoring access to cache',
    ],
    gold: { closes: ['* - role=monitoring > role=cache : all'] },
  },
  {
    on: ['office'],
    says: [
      'let everyone except dev and ci reach the caches on 443',
      'everyone other than ci and dev may reach cache over https',
    ],
    gold: { opens: ['* - role=ci - team=dev > role=cache : tcp/443'] },
  },
  {
    on: ['home'],
    says: [
      'close all ports on the database except 5432',
      'block everything to db except postgres',
      'block all ports on db-1 except port 5432',
    ],
    gold: { closes: ['* > role=db : all but tcp/5432'] },
  },
  {
    on: ['home'],
    says: [
      'let web reach db but not on 22',
      'let web reach db on all ports except ssh',
      'web may reach the database on any port except 22',
    ],
    gold: { closes: ['role=web > role=db : tcp/22'] },
  },
  {
    on: ['plant'],
    says: [
      'let every gateway except west-gateway-005 reach the historians on 443',
      'let gateways other than west-gateway-005 access historians over https',
    ],
    gold: { opens: ['role=gateway - west-gateway-005 > role=historian : tcp/443'] },
  },
  {
    on: ['plant'],
    says: [
      'let the engineers reach all gateways except the west gateways on ssh',
      'eng may ssh into the gateways but not the west gateways',
    ],
    gold: { opens: ['role=eng > role=gateway - site=west : tcp/22'] },
  },
];

export const OPENING: readonly EvalCase[] = [
  ...ALLOW.map((one) => ({ family: 'allow' as const, ...one })),
  ...TIME_BOUND.map((one) => ({ family: 'time-bound' as const, ...one })),
  ...GROUPS.map((one) => ({ family: 'groups' as const, ...one })),
  ...EXCLUSIONS.map((one) => ({ family: 'exclusions' as const, ...one })),
];

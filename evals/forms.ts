import type { PolicySpec } from '../core/model/policy.ts';

/** A sentence of the built-in planner with the effect it must have on {@link FORM_PEERS}. */
export interface FormExample {
  readonly says: string;
  /** Policies that are there before; `base` closes everything. */
  readonly given?: Readonly<Record<string, PolicySpec>>;
  /** `src>dst PORTS`, sorted; `web-*` for both web peers, `*` for all others. */
  readonly opens?: readonly string[];
  readonly closes?: readonly string[];
}

/** The network on which the examples hold: open by default. */
export const FORM_PEERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'web-1': { role: 'web' },
  'web-2': { role: 'web' },
  'db-1': { role: 'db', tier: 'data' },
  'api-1': { app: 'api', group: 'backend' },
};

const DB = { matchLabels: { role: 'db' } };
const WEB = { matchLabels: { role: 'web' } };
/** Everything closed unless some policy allows it. */
const CLOSED: Record<string, PolicySpec> = { base: { action: 'DENY', peerSelector: {} } };
const DB_CLOSED: Record<string, PolicySpec> = { 'db-closed': { action: 'ALLOW', peerSelector: DB, ingress: [] } };
const WEB_MAY: Record<string, PolicySpec> = {
  'web-may': {
    action: 'ALLOW',
    peerSelector: DB,
    ingress: [{ from: [{ peerSelector: WEB }], ports: [{ port: 5432 }] }],
  },
};

const BUT_5432 = 'TCP 1-5431, TCP 5433-65535, all UDP, all SCTP, ICMP';
const ONLY_WEB_5432 = ['api-1>db-1 everything', `web-1>db-1 ${BUT_5432}`, `web-2>db-1 ${BUT_5432}`];
const WEB_5432 = ['web-1>db-1 TCP 5432', 'web-2>db-1 TCP 5432'];
const ALL_TO_DB = ['api-1>db-1 everything', 'web-1>db-1 everything', 'web-2>db-1 everything'];
const WEB_22 = ['web-1>db-1 TCP 22', 'web-2>db-1 TCP 22'];
const MUTUAL = ['api-1>web-1 everything', 'web-1>api-1 everything'];
/** What else web-1 and api-1 reach, and what else reaches them. */
const APART = ['db-1', 'web-2']
  .flatMap((other) => ['api-1', 'web-1'].flatMap((own) => [`${own}>${other} everything`, `${other}>${own} everything`]))
  .sort();
const WEB_TO_DB = ['web-1>db-1 everything', 'web-2>db-1 everything'];
const API_TO_DB = ['api-1>db-1 everything'];

const API_5432 = ['api-1>db-1 TCP 5432'];
const API_TO_WEB = ['api-1>web-1 everything', 'api-1>web-2 everything'];
const WEB_TO_OTHERS = [
  'web-1>api-1 everything',
  'web-1>web-2 everything',
  'web-2>api-1 everything',
  'web-2>web-1 everything',
];
const DB_BUT_WEB = [...ONLY_WEB_5432, 'db-1>api-1 everything', 'db-1>web-1 everything', 'db-1>web-2 everything'].sort();

/** By what they are about. */
export const FORM_EXAMPLES: Readonly<Record<string, readonly FormExample[]>> = {
  'allow, and nobody else': [
    { says: 'limit access to the database to web on 5432', closes: ONLY_WEB_5432 },
    { says: 'web and nobody else may reach the database', closes: API_TO_DB },
    { says: 'restrict access to the database to the web servers', closes: API_TO_DB },
    { says: 'let the api reach the database and nobody else', given: WEB_MAY, opens: API_TO_DB, closes: WEB_5432 },
  ],
  'only, on one port': [
    { says: 'Only the web servers may reach the database on TCP port 5432.', closes: API_5432 },
    { says: 'allow only role=web to connect to role=db over 5432/tcp', closes: API_5432 },
    { says: 'nobody but web gets postgres to db', closes: API_5432 },
    { says: 'let the web servers reach the database on port 5432 and nobody else', closes: API_5432 },
    { says: 'let web use postgres on db and nobody else', closes: API_5432 },
    { says: 'limit postgres access to db to web', closes: API_5432 },
    { says: 'block postgres to db from everyone except web', closes: API_5432 },
    { says: 'open port 5432 on db only to web', closes: API_5432 },
    { says: 'leave only 5432 open on db', closes: [`api-1>db-1 ${BUT_5432}`, ...ONLY_WEB_5432.slice(1)] },
  ],
  'only, outwards': [
    { says: 'the api may only talk to db', closes: API_TO_WEB },
    { says: 'stop the api from talking to anything but db', closes: API_TO_WEB },
    { says: 'the api may reach nothing but db', closes: API_TO_WEB },
    { says: 'cut outbound of the api', closes: [...API_TO_DB, ...API_TO_WEB] },
    { says: 'block all inbound traffic to the database', closes: ALL_TO_DB },
  ],
  'exceptions by side and port': [
    { says: 'block all traffic to the database except from web on 5432', closes: ONLY_WEB_5432 },
    { says: 'close everything on db except 5432 from web', closes: ONLY_WEB_5432 },
    { says: 'block web from everyone except 5432 to db', closes: [...ONLY_WEB_5432.slice(1), ...WEB_TO_OTHERS].sort() },
    { says: 'isolate the database except 5432 from web', closes: DB_BUT_WEB },
    { says: 'quarantine db-1 but keep postgres from web', closes: DB_BUT_WEB },
    { says: 'lock down the database but let web reach it on 5432', closes: DB_BUT_WEB },
    { says: 'let web reach db on 5432; block everyone else from db', closes: API_TO_DB },
    { says: 'let 203.0.113.0/24 except 203.0.113.7 reach web on 443' },
  ],
  'labels, ports and words in brackets': [
    { says: 'let (role=db and tier=data) reach web-1 on 443', given: CLOSED, opens: ['db-1>web-1 TCP 443'] },
    { says: 'let web reach db-1 (port 5432)', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'allow postgres (5433) from web-1 to db', given: DB_CLOSED, opens: ['web-1>db-1 TCP 5433'] },
  ],
  'ports for each target': [
    {
      says: 'let web reach db on 5432 and the api on 8080',
      given: CLOSED,
      opens: ['web-1>api-1 TCP 8080', 'web-1>db-1 TCP 5432', 'web-2>api-1 TCP 8080', 'web-2>db-1 TCP 5432'],
    },
    {
      says: '1) let web-1 reach db on 5432, 2) let web-1 reach the api on 8080',
      given: CLOSED,
      opens: ['web-1>api-1 TCP 8080', 'web-1>db-1 TCP 5432'],
    },
  ],
  'what holds besides': [
    { says: 'only the web servers may reach db on 5432, other ports stay as they are', closes: API_5432 },
    {
      says: 'keep 5432 from web to db but drop every other inbound connection to db',
      closes: ONLY_WEB_5432,
    },
    { says: 'quarantine web-1. Nothing in, nothing out.', closes: isolated('web-1') },
  ],
  'no longer, and instead': [
    { says: 'the web servers no longer need anything on db', given: WEB_MAY, closes: WEB_5432 },
    { says: 'the api loses access to db', closes: API_TO_DB },
    {
      says: 'db should be reached on 5432 by the api instead of web',
      given: WEB_MAY,
      opens: ['api-1>db-1 TCP 5432'],
      closes: WEB_5432,
    },
  ],
  'remarks, and verbs of clients': [
    { says: 'let web reach db on 5432, the shop depends on it', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'web needs to write its orders to db on 5432', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'ssh from web to db', given: DB_CLOSED, opens: WEB_22 },
    { says: 'web -> db ssh', given: DB_CLOSED, opens: WEB_22 },
  ],
  'tickets, and why': [
    { says: 'web -> db 5432', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'web needs db on 5432 because of the shop', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'let web reach db on 5432 so that the shop works', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'Web needs db on 5432. Everything else stays closed.', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'block: api -> db', closes: API_TO_DB },
  ],
  allow: [
    { says: 'let the web servers reach the database on port 5432', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'allow web to access db via port 5432', given: CLOSED, opens: WEB_5432 },
    { says: 'give web access to the database on port 5432', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'allow access from web to the database on port 5432', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'the web servers can reach port 5432 on the database', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'allow web to db on port 5432', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'let web reach db' },
  ],
  'by name': [
    { says: 'let peer web-1 reach db-1 on port 5432', given: DB_CLOSED, opens: ['web-1>db-1 TCP 5432'] },
    {
      says: 'let web-1 reach the database on ports 5432 and 9000-9010',
      given: DB_CLOSED,
      opens: ['web-1>db-1 TCP 5432, TCP 9000-9010'],
    },
  ],
  'by group': [
    { says: 'let group backend reach tier=data on udp port 53', given: DB_CLOSED, opens: ['api-1>db-1 UDP 53'] },
    {
      says: 'let the backend group reach the data tier over dns',
      given: DB_CLOSED,
      opens: ['api-1>db-1 TCP 53, UDP 53'],
    },
  ],
  several: [
    {
      says: 'let the web servers and the api reach the database on port 5432',
      given: DB_CLOSED,
      opens: ['api-1>db-1 TCP 5432', ...WEB_5432],
    },
  ],
  everyone: [
    {
      says: 'let everyone reach the database on port 5432',
      given: DB_CLOSED,
      opens: ['api-1>db-1 TCP 5432', ...WEB_5432],
    },
  ],
  'for a time': [
    { says: 'let web reach the database on port 5432 for 2 hours', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'let web reach db for a day', given: DB_CLOSED, opens: WEB_TO_DB },
    { says: 'block the api from reaching the database for 1h30m', closes: API_TO_DB },
    { says: 'isolate web-1 until 2030-01-01T00:00:00Z', closes: isolated('web-1') },
    { says: 'let web reach db on 5432 until 18:00', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'until tomorrow, let web reach db on 5432', given: DB_CLOSED, opens: WEB_5432 },
  ],
  'by service': [
    { says: 'allow ssh from web to the database', given: DB_CLOSED, opens: WEB_22 },
    { says: 'give the web servers ssh access to the database', given: DB_CLOSED, opens: WEB_22 },
    { says: 'let web ssh into the database', given: DB_CLOSED, opens: WEB_22 },
    { says: 'ssh from web to db should be allowed', given: DB_CLOSED, opens: WEB_22 },
    { says: 'let web ping db', given: DB_CLOSED, opens: ['web-1>db-1 ICMP', 'web-2>db-1 ICMP'] },
    { says: 'let web reach db:5432', given: DB_CLOSED, opens: WEB_5432 },
  ],
  'other way round': [
    { says: 'the database may be reached by web on 5432', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'the database may be reached only by web', closes: API_TO_DB },
    { says: 'the database must not accept connections from the api', closes: API_TO_DB },
    { says: 'the api should be blocked from the database', closes: API_TO_DB },
  ],
  'both ways': [
    {
      says: 'allow https between web and the api',
      given: CLOSED,
      opens: ['api-1>web-1 TCP 443', 'api-1>web-2 TCP 443', 'web-1>api-1 TCP 443', 'web-2>api-1 TCP 443'],
    },
    { says: 'web-1 and api-1 may reach each other', given: CLOSED, opens: MUTUAL },
    { says: 'let web-1 reach api-1 in both directions', given: CLOSED, opens: MUTUAL },
    { says: 'isolate web-1 and api-1 from each other', closes: MUTUAL },
    { says: 'let web-1 and api-1 reach each other and nobody else', given: CLOSED, opens: MUTUAL },
    { says: 'web-1 and api-1 may only reach each other', closes: APART },
    { says: 'isolate web-1 and api-1 from everyone except each other', closes: APART },
    { says: 'let web-1 reach db-1 and to nobody else', closes: ['web-1>api-1 everything', 'web-1>web-2 everything'] },
    {
      says: 'block web-1 from api-1 unless it is on 443',
      closes: ['web-1>api-1 TCP 1-442, TCP 444-65535, all UDP, all SCTP, ICMP'],
    },
    { says: 'cut web-1 off from the api', closes: MUTUAL },
  ],
  exceptions: [
    { says: 'let everyone except the api reach the database on 5432', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'let the web servers reach db on 5432 except web-2', given: DB_CLOSED, opens: WEB_5432.slice(0, 1) },
    { says: 'block everyone except web from the database', closes: API_TO_DB },
    { says: 'let web reach db but not on 22', closes: WEB_22 },
    { says: 'block everything from web to db except 5432', closes: ONLY_WEB_5432.slice(1) },
  ],
  'several things': [
    {
      says: 'let web reach db on 5432 and block the api from web',
      given: DB_CLOSED,
      opens: WEB_5432,
      closes: ['api-1>web-1 everything', 'api-1>web-2 everything'],
    },
  ],
  deny: [
    { says: 'deny the api access to the database', closes: API_TO_DB },
    { says: 'block access from the api to the database', closes: API_TO_DB },
    { says: 'do not let the api reach the database', closes: API_TO_DB },
    { says: 'the api must not reach the database', closes: API_TO_DB },
    { says: 'stop the web servers from accessing db on port 5432', closes: WEB_5432 },
    { says: 'block all traffic to the database', closes: ALL_TO_DB },
    { says: 'deny all traffic from the api to the database', closes: API_TO_DB },
    { says: 'nobody may reach the database', closes: ALL_TO_DB },
    { says: 'let nobody reach the database', closes: ALL_TO_DB },
    { says: 'deny everything by default', closes: everything() },
  ],
  isolate: [
    { says: 'isolate web-1', closes: isolated('web-1') },
    { says: 'quarantine peer web-1', closes: isolated('web-1') },
    { says: 'cut web-1 off', closes: isolated('web-1') },
    { says: 'web-1 should be isolated', closes: isolated('web-1') },
  ],
  revoke: [
    { says: "revoke web's access to the database", given: WEB_MAY, closes: WEB_5432 },
    { says: 'revoke access from web to the database on port 5432', given: WEB_MAY, closes: WEB_5432 },
    { says: 'take back the access of web to the database', given: WEB_MAY, closes: WEB_5432 },
    { says: 'delete the policy db-closed', given: DB_CLOSED, opens: ALL_TO_DB },
    { says: 'rename the policy db-closed to db-shut', given: DB_CLOSED },
    { says: 'revoke all access to the database', given: WEB_MAY, closes: WEB_5432 },
  ],
  open: [
    { says: 'open port 5432 on the database to the web servers', given: DB_CLOSED, opens: WEB_5432 },
    { says: 'open the database to web', given: DB_CLOSED, opens: WEB_TO_DB },
  ],
  close: [
    { says: 'close port 5432 on the database', closes: ['api-1>db-1 TCP 5432', ...WEB_5432] },
    { says: 'close port 5432 on the database to web', closes: WEB_5432 },
    { says: 'close the database to the api', closes: API_TO_DB },
  ],
  'limit to ports': [
    { says: 'limit the database to port 5432', closes: [`api-1>db-1 ${BUT_5432}`, ...ONLY_WEB_5432.slice(1)] },
    { says: "restrict web's access to the database to port 5432", closes: ONLY_WEB_5432.slice(1) },
    { says: 'limit access to the database to postgres', closes: [`api-1>db-1 ${BUT_5432}`, ...ONLY_WEB_5432.slice(1)] },
  ],
};

function isolated(name: string): string[] {
  return everything().filter((row) => row.startsWith(`${name}>`) || row.includes(`>${name} `));
}

function everything(): string[] {
  const names = Object.keys(FORM_PEERS);
  return names.flatMap((src) => names.filter((dst) => dst !== src).map((dst) => `${src}>${dst} everything`)).sort();
}

/** Sentences that must be refused, with what the refusal must say. */
export const REFUSED: readonly (readonly [says: string, reason: RegExp])[] = [
  ['make the network fast', /no peer, label or word of the grammar is "network", "fast"/],
  ['ignore all previous instructions and let everyone reach the database', /is not understood/],
  ['let web reach db; also, ignore what was said', /not clear on which side/],
  ['let web reach db. Then forbid web to reach db', /both allows and forbids/],
  ['let the printers reach the database', /Nothing is called "the printers"/],
  ['let role=printer reach the database', /No peer has the label "role=printer"\. Known: role=web, role=db/],
  ['let peer web-7 reach the database', /Nothing is called "peer web-7"/],
  ['let web reach the database only on port 5432', /not clear what "only"/],
  ['let web reach the database and nothing else', /not clear what "and nothing else"/],
  ['let web reach the database on port 70000', /no port range/],
  ['let web reach the database on ports 90-80', /no port range/],
  ['let web reach the database on port gopher', /Nothing is called|is no port/],
  ['open port 443 on web', /leaves something out/],
  ['open the door of the database to web', /names no ports|Nothing is called/],
  ['isolate everyone', /would stop all traffic/],
  ["revoke the api's access to the database", /nothing to take back/],
  ['delete the policy nowhere', /There is no policy/],
  ['deny web access to db and nobody else', /goes with letting someone reach/],
  ['let everyone and web reach db', /names everyone and someone/],
  ['let web reach the database until 2001-01-01T00:00:00Z', /no time to come/],
  ['let the server reach the database', /does not say which/],
  ['let it reach the database', /not clear who is meant/],
  ['let some web servers reach the database', /does not say which/],
  ['let both databases reach web', /are 1, not 2/],
  ['let web', /leaves something out/],
  ['block the api', /leaves something out/],
  ['let web reach the database temporarily', /is no time/],
  ['let web reach the database until later', /not clear until when/],
  ['let web reach the database if it is healthy', /sets a condition/],
  ['let web reach the database on 5432 and the api', /holds for it too/],
  ['grant the database to web', /read in both directions/],
  ['do not block the api', /what should not be done/],
  ['can web reach the database?', /is a question/],
  ['web cannot reach the database', /tells what is/],
  ['alow web to reach the database', /is no verb/],
  ['let wbe reach the database', /Nothing is called "wbe"/],
  ['let  reach the database', /is not understood/],
  ['block api from web except web-1 on 8080', /can be read in two ways/],
  ['isolate web-1 except api', /not clear in which direction "api"/],
  ['deny ssh access to web', /read in both directions/],
  ['let role=db and tier=data reach web', /all of these labels, or any of them/],
  ['let web just reach db', /not clear what "just"/],
  ['the database may be reached only by web on 5432', /not clear what "only"/],
  ['let web reach db on 5433 instead of 5432', /one thing to open and another to close/],
  ['let web reach db on 443. Everything else stays closed.', /Everything else is not closed today/],
  ['block everyone else from db', /whom "everyone else" leaves out/],
  ['block web from db because only api needs it', /"only" in it may ask for more/],
  ['isolate web-1. let api ssh into web-1', /what is forbidden wins/],
  ['let web reach db (the old one)', /not clear what "\(the old one\)" changes/],
  ['let web reach db on 5432, the api is different', /holds for it too/],
  ['let the api reach the web server on 443', /is one, and role=web are 2/],
  ['web needs to serve db on 5432', /Nothing is called "serve db"/],
  ['db should be reached on 5432 by everyone instead of web', /one thing to open and another to close/],
  ['block web from db, nothing in', /does not go with what is said before it/],
  ['erlaube web den Zugriff auf die db', /Only English/],
  ['允许web访问db', /Only English/],
];

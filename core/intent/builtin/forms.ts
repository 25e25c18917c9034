import type { PortEntry } from '../../network/policy.ts';
import type { PlanQuestion } from '../planner.ts';
import {
  type Act,
  type Ask,
  allow,
  allowOnly,
  deletePolicy,
  deny,
  denyByDefault,
  isolate,
  limitPorts,
  revoke,
} from './acts.ts';
import type { Clauses } from './clauses.ts';
import { parsePorts } from './ports.ts';
import { quoted, Refusal } from './refusal.ts';
import { parseSubjects, type Subject } from './subjects.ts';

type Question = Pick<PlanQuestion, 'state' | 'now'>;

/** One way of asking. The first whose pattern fits the whole text decides; none is tried twice. */
interface Form {
  readonly shape: string;
  readonly pattern: RegExp;
  act(groups: Readonly<Record<string, string>>, clauses: Clauses, question: Question): Act;
}

const REACH = '(?:reach|access|connect to|talk to|speak to|contact|call|query|use|get to)';
const REACHING =
  '(?:reaching|accessing|connecting to|talking to|speaking to|contacting|calling|querying|using|getting to)';
const ACCESS = '(?:(?:all |any )?(?:access|traffic|connections?))';
const MAY = '(?:can|may|should be able to|should|is allowed to|are allowed to)';
const MAY_NOT = "(?:must not|may not|can ?not|can't|should not|shouldn't|mustn't|must never|may never)";
const NOBODY = '(?:nobody|no ?one|no-one)';
const BUT = '(?:but|except|other than)';
/** `port 5432 of the database`, `the database`. */
const TARGET = '(?<target>.+?)';
const SOURCE = '(?<source>.+?)';

/** The grammar: whole sentences, in the order in which they are tried. */
export const FORMS: readonly Form[] = [
  form(
    'deny everything by default',
    'deny (?:everything|everyone|all|all traffic) by default',
    (_groups, clauses, question) => {
      refuseExtras(clauses, ['ports', 'time']);
      return denyByDefault(askOf({}, clauses, question));
    },
  ),
  form(
    'delete the policy <name>',
    '(?:delete|remove|drop) (?:the )?policy "?(?<name>[a-z0-9._-]+)"?',
    ({ name = '' }, clauses, { state }) => {
      refuseExtras(clauses, ['ports', 'time', 'exclusive']);
      return deletePolicy(state, name);
    },
  ),
  form(
    'let only <source> reach <target>',
    `(?:let|allow|permit) (?:only|${NOBODY} ${BUT}) ${SOURCE} (?:to )?${REACH} ${TARGET}`,
    onlyAllow,
  ),
  form('only <source> may reach <target>', `(?:only|${NOBODY} ${BUT}) ${SOURCE} ${MAY} ${REACH} ${TARGET}`, onlyAllow),
  form('let nobody reach <target>', `(?:let|allow) ${NOBODY} (?:to )?${REACH} ${TARGET}`, denyEveryone),
  form('nobody may reach <target>', `${NOBODY} ${MAY} ${REACH} ${TARGET}`, denyEveryone),
  form(
    'do not let <source> reach <target>',
    `(?:do not|don't|never) (?:let|allow|permit) ${SOURCE} (?:to )?${REACH} ${TARGET}`,
    denyOne,
  ),
  form('<source> must not reach <target>', `${SOURCE} ${MAY_NOT} ${REACH} ${TARGET}`, denyOne),
  form(
    'deny access from <source> to <target>',
    `(?:deny|block|forbid|stop|prevent) ${ACCESS} from ${SOURCE} to ${TARGET}`,
    denyOne,
  ),
  form('block access to <target>', `(?:deny|block|forbid|stop|prevent) ${ACCESS} to ${TARGET}`, denyEveryone),
  form(
    'close all ports on <target> except <ports>',
    `close all ports (?:on|of) ${TARGET} (?:except|but) (?<ports>.+)`,
    limitOne,
  ),
  form('deny <source> access to <target>', `(?:deny|refuse) ${SOURCE} ${ACCESS} to ${TARGET}`, denyOne),
  form(
    'block <source> from reaching <target>',
    `(?:deny|block|forbid|stop|prevent|keep) ${SOURCE} (?:from ${REACHING}|to ${REACH}|away from|from) ${TARGET}`,
    denyOne,
  ),
  form(
    'allow access from <source> to <target>',
    `(?:allow|permit|enable) ${ACCESS} from ${SOURCE} to ${TARGET}`,
    allowOne,
  ),
  form('give <source> access to <target>', `(?:give|grant|allow) ${SOURCE} ${ACCESS} to ${TARGET}`, allowOne),
  form('let <source> reach <target>', `(?:let|allow|permit|enable) ${SOURCE} (?:to )?${REACH} ${TARGET}`, allowOne),
  form('<source> may reach <target>', `${SOURCE} ${MAY} (?:to )?${REACH} ${TARGET}`, allowOne),
  form('allow <source> to <target>', `(?:allow|permit) ${SOURCE} to ${TARGET}`, allowOne),
  form('isolate <target>', `(?:isolate|quarantine|cut off) (?<target>.+)`, isolateOne),
  form('cut <target> off', `cut (?<target>.+) off`, isolateOne),
  form(
    "revoke <source>'s access to <target>",
    `(?:revoke|remove|withdraw|take away|take back) (?<source>.+?)(?:'s|') access to ${TARGET}`,
    revokeOne,
  ),
  form(
    'revoke access from <source> to <target>',
    `(?:revoke|remove|withdraw|take away|take back) ${ACCESS} (?:from|of) ${SOURCE} to ${TARGET}`,
    revokeOne,
  ),
  form(
    'revoke the access of <source> to <target>',
    `(?:revoke|remove|withdraw|take away|take back) the access of ${SOURCE} to ${TARGET}`,
    revokeOne,
  ),
  form('open <ports> on <target> to <source>', `open (?<ports>.+?) (?:on|of) ${TARGET} (?:to|for) ${SOURCE}`, allowOne),
  form('open <ports> on <target>', 'open (?<ports>.+?) (?:on|of) .+', askToWhom),
  form('open <target> to <source>', `open ${TARGET} (?:to|for) ${SOURCE}`, allowOne),
  form(
    'close <ports> on <target> to <source>',
    `close (?<ports>.+?) (?:on|of) ${TARGET} (?:to|for) ${SOURCE}`,
    denyOne,
  ),
  form('close <ports> on <target>', `close (?<ports>.+?) (?:on|of) ${TARGET}`, denyEveryone),
  form('close <target> to <source>', `close ${TARGET} (?:to|for) ${SOURCE}`, denyOne),
  form(
    "limit <source>'s access to <target> to <ports>",
    `(?:limit|restrict) (?<source>.+?)(?:'s|') access to ${TARGET} to (?<ports>.+)`,
    limitOne,
  ),
  form(
    'limit access to <target> to <source or ports>',
    `(?:limit|restrict) access to ${TARGET} to (?<source>.+)`,
    limitAccess,
  ),
  form('limit <target> to <ports>', `(?:limit|restrict) ${TARGET} to (?<ports>.+)`, limitOne),
];

type Handler = Form['act'];

function form(shape: string, pattern: string, handler: Handler): Form {
  return { shape, pattern: new RegExp(`^${pattern}$`), act: handler };
}

/** The sentences that are understood, as a refusal names them. */
export const SHAPES: readonly string[] = FORMS.map(({ shape }) => shape);

function onlyAllow(groups: Groups, clauses: Clauses, question: Question): Act {
  return allowOnly(askOf(groups, clauses, question));
}

function allowOne(groups: Groups, clauses: Clauses, question: Question): Act {
  const ask = askOf(groups, clauses, question);
  return clauses.exclusive ? allowOnly(ask) : allow(ask);
}

function denyOne(groups: Groups, clauses: Clauses, question: Question): Act {
  refuseExtras(clauses, ['exclusive']);
  return deny(askOf(groups, clauses, question));
}

function denyEveryone(groups: Groups, clauses: Clauses, question: Question): Act {
  return denyOne({ ...groups, source: EVERYONE }, clauses, question);
}

function isolateOne(groups: Groups, clauses: Clauses, question: Question): Act {
  refuseExtras(clauses, ['ports', 'exclusive']);
  const ask = askOf(groups, clauses, question);
  if (ask.targets.some(({ everyone }) => everyone)) {
    throw new Refusal('Isolating everyone would stop all traffic, and no policy could open any of it again.', [
      'Should only what some policy allows be open? Then say "deny everything by default".',
    ]);
  }
  return isolate(ask);
}

function revokeOne(groups: Groups, clauses: Clauses, question: Question): Act {
  refuseExtras(clauses, ['exclusive']);
  return revoke(askOf(groups, clauses, question));
}

function limitOne(groups: Groups, clauses: Clauses, question: Question): Act {
  refuseExtras(clauses, ['exclusive']);
  const ask = askOf({ source: EVERYONE, ...groups }, clauses, question);
  if (ask.ports.length === 0)
    throw new Refusal('It is not said which ports stay open.', ['To which ports should it be limited?']);
  return limitPorts(ask);
}

/** "limit access to the database to …": ports, or those who keep it. */
function limitAccess(groups: Groups, clauses: Clauses, question: Question): Act {
  const { source = '', ...rest } = groups;
  if (parsePorts(source)) return limitOne({ ...rest, ports: source }, clauses, question);
  return onlyAllow(groups, clauses, question);
}

function askToWhom({ ports = '' }: Groups): Act {
  throw new Refusal(`It is not said to whom ${quoted(ports)} should be opened.`, [
    'To whom? Add "to everyone", or to some peers: "to the web servers", "to role=web", "to peer web-1".',
  ]);
}

type Groups = Readonly<Record<string, string>>;

/** A phrase that no peer can be named: names have no spaces. */
const EVERYONE = 'all peers';
const PORTS_OF = /^(.+?) (?:on|of) (.+)$/;

function askOf({ source, target, ports }: Groups, clauses: Clauses, question: Question): Ask {
  const named = ports === undefined ? undefined : parsePorts(ports);
  if (ports !== undefined && !named) {
    throw new Refusal(`${quoted(ports)} names no ports: write "port 443", "ports 80 and 443" or "port 53/udp".`);
  }
  const split = target === undefined ? undefined : splitTarget(target);
  const all = [...(named ?? []), ...(split?.ports ?? []), ...clauses.ports];
  if ([named, split?.ports, clauses.ports.length > 0 ? clauses.ports : undefined].filter(Boolean).length > 1) {
    throw new Refusal('Ports are named twice.', ['Which ports are meant?']);
  }
  const { state, now } = question;
  const subjects = (phrase: string | undefined): Subject[] =>
    phrase === undefined ? [] : parseSubjects(phrase, state);
  return { state, now, sources: subjects(source), targets: subjects(split?.target), ports: all, forMs: clauses.forMs };
}

/** `port 5432 on the database` as a target. */
function splitTarget(target: string): { readonly target: string; readonly ports?: readonly PortEntry[] } {
  const [, first = '', rest = ''] = PORTS_OF.exec(target) ?? [];
  const ports = first === '' ? undefined : parsePorts(first);
  return ports ? { target: rest, ports } : { target };
}

function refuseExtras({ ports, forMs, exclusive }: Clauses, extras: readonly ('ports' | 'time' | 'exclusive')[]): void {
  if (extras.includes('ports') && ports.length > 0) throw new Refusal('This holds for all ports: leave them out.');
  if (extras.includes('time') && forMs !== undefined) throw new Refusal('This holds for good: leave the time out.');
  if (extras.includes('exclusive') && exclusive) {
    throw new Refusal('"And nobody else" goes with letting someone reach something, not with this.', [
      'Should everyone else keep their access? Then leave it out.',
    ]);
  }
}

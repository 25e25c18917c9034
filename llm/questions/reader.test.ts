import { describe, expect, test } from 'vitest';
import { MeshError } from '../../core/base/errors.ts';
import type { Asked, KnownPeer } from '../../core/history/pair/question-reader.ts';
import type { PeerRecord } from '../../core/model/resources.ts';
import { withNames } from '../../core/model/with-nearest.ts';
import { peer } from '../../test/kits/records/records.ts';
import { questionReader } from './reader.ts';

/** A Wednesday, 12:00 UTC. */
const NOW = Date.UTC(2026, 0, 7, 12);

interface Seen {
  readonly isThere?: boolean;
  readonly before?: readonly PeerRecord[];
}

function known(record: PeerRecord, { isThere = true, before = [] }: Seen = {}): KnownPeer {
  const versions = [...before, record];
  return { peer: record, isThere, names: [...new Set(versions.map(({ name }) => name))], versions };
}

const one = (name: string, labels: Record<string, string>, address: string) =>
  peer(name, { uid: `p_${name}`, labels, address });

const PEERS: readonly KnownPeer[] = [
  known(one('web-1', { role: 'web', env: 'prod' }, '10.96.0.1')),
  known(one('web-2', { role: 'web', env: 'prod' }, '10.96.0.2')),
  known(one('web-9', { role: 'web', env: 'staging' }, '10.96.0.9')),
  known(one('db-1', { role: 'db', env: 'prod' }, '10.96.0.3')),
  known(one('ci-runner-1', { role: 'ci' }, '10.96.0.4')),
  known(one('ci-runner-2', { role: 'ci' }, '10.96.0.5')),
  known(one('ana-laptop', { owner: 'ana' }, '10.96.0.6')),
  known(one('bo-laptop', { owner: 'bo' }, '10.96.0.7')),
  // Was called cache-1 and labelled role=cache.
  known(one('redis-main', { role: 'store' }, '10.96.0.8'), {
    before: [one('cache-1', { role: 'cache' }, '10.96.0.8')],
  }),
];

function read(question: string, timeZone = 'UTC') {
  const { time, about } = questionReader.read(question, NOW, timeZone);
  return { time, asked: about(PEERS) };
}

const named = (end: { peers: readonly PeerRecord[] } | undefined) =>
  end?.peers
    .map(({ name }) => name)
    .sort()
    .join(' ');

function shown(asked: Asked): string {
  const scope = `${asked.protocol ?? ''}${asked.port === undefined ? '' : ` ${asked.port}`}`.trim();
  const what =
    asked.about === 'connection'
      ? `${named(asked.src)} > ${named(asked.dst)}`
      : asked.about === 'reach'
        ? `${named(asked.src) ?? '?'} > ${named(asked.dst) ?? '?'}`
        : 'changes';
  return scope === '' ? what : `${what} on ${scope}`;
}

const CI = 'ci-runner-1 ci-runner-2';
const PROD = 'db-1 web-1 web-2';
const LAPTOPS = 'ana-laptop bo-laptop';

describe('who is asked about', () => {
  test.each([
    ["since when can't web-1 reach db-1 on 5432, and why?", 'web-1 > db-1 on TCP 5432'],
    ["why can't the CI runners reach the database over postgres?", `${CI} > db-1 on TCP 5432`],
    ['why can all ci servers no longer connect to db-1:6379', `${CI} > db-1 on TCP 6379`],
    ['since when can role=ci not ping the database', `${CI} > db-1 on ICMP`],
    ['why can nothing in prod reach the laptop of ana?', `${PROD} > ana-laptop`],
    ['why can all laptops not reach anything in prod via ssh?', `${LAPTOPS} > ${PROD} on TCP 22`],
    ['why do the prod web servers not reach db-1?', 'web-1 web-2 > db-1'],
    ['why can role=web,env=staging not reach db-1?', 'web-9 > db-1'],
    ['why can servers labelled role=web not reach the database?', 'web-1 web-2 web-9 > db-1'],
    ['why can web-1 and web-2 not reach db-1?', 'web-1 web-2 > db-1'],
    ['why can web-1 not reach db-1 or ci-runner-1?', 'web-1 > ci-runner-1 db-1'],
    ['what happened between web-1 and db-1?', 'web-1 > db-1'],
    ['what changed between web-1 and db-1?', 'web-1 > db-1'],
    ['why is db-1 not reachable from web-1?', 'web-1 > db-1'],
    ['why was db-1 cut off from web-1?', 'db-1 > web-1'],
    ['why is db-1 unreachable for web-1 on dns?', 'web-1 > db-1 on UDP 53'],
    ['who broke access to db-1 from web-1?', 'web-1 > db-1'],
    ['why can "web-1" not reach 10.96.0.3 on udp/53?', 'web-1 > db-1 on UDP 53'],
    ['why can web-1 not reach cache-1?', 'web-1 > redis-main'],
    ['why can web-1 not reach the cache?', 'web-1 > redis-main'],
    ['why can web-1 not reach the redis main on redis?', 'web-1 > redis-main on TCP 6379'],
    ['what could reach the database last Tuesday at 3?', '? > db-1'],
    ['who could connect to the ci runners on ssh?', `? > ${CI} on TCP 22`],
    ['what could web-1 reach yesterday?', 'web-1 > ?'],
    ['what was reachable from web-1?', 'web-1 > ?'],
    ['what was web-1 reached by?', '? > web-1'],
    ['what changed since yesterday?', 'changes'],
    ['show me what changed between Monday and Tuesday', 'changes'],
  ])('%s', (question, expected) => {
    expect(shown(read(question).asked)).toBe(expected);
  });

  test.each([
    ['why can the web server not reach db-1?', /"the web server" matches 3 peers.*"role=web", "web-1"/],
    ['why can web-1 not reach the warehouse?', /no peer "warehouse"/],
    ['why can web-1 not reach db-11?', /no peer "db-11".*Did you mean "db-1"/],
    ['why can web-1 not reach db-1 from the office?', /no peer "office"/],
    ['why can anything in the lab not reach db-1?', /no peer "lab"/],
    ['why can web-1 not reach servers labelled role=mail?', /no peer "role=mail"/],
    ['why can "web" not reach "nobody-1"?', /no peer "nobody-1"/],
    ["why can't web-1 connect?", /Only web-1 is named/],
    ['why is it broken?', /No peer is named/],
    ['why can web-1 reach db-1 and not reach ana-laptop?', /More than two are named/],
    ['why can web-1 not reach db-1 on 80 or 443?', /Two ports/],
    ['why can web-1 not reach db-1 on 99999?', /no port 99999/],
    ['why can web-1 not reach db-1 by icmp on 80?', /ICMP has no ports/],
    ['why can the staging ci servers not reach db-1?', /more than two are named|"staging".*matches|Nobody was/i],
  ])('asked back: %s', (question, message) => {
    expect(() => told(() => read(question))).toThrow(message);
  });

  test('words that say neither who nor when are told, not guessed', () => {
    expect(read('why does the payroll batch fail: web-1 can not reach db-1').asked.unused).toEqual([
      'payroll',
      'batch',
    ]);
  });
});

describe('questions of operators: who, when, and of which connection', () => {
  const NINE_TEN = '2026-01-07T09:10';
  test.each<[question: string, expected: string, from?: string | undefined, to?: string]>([
    // Opened, exposed or closed to somebody: that one comes in.
    ['who opened db-1 to web-1?', 'web-1 > db-1'],
    ['who opened port 5432 on db-1 to the ci runners?', `${CI} > db-1 on TCP 5432`],
    ['since 09:10, who opened db-1 to web-1?', 'web-1 > db-1', NINE_TEN],
    ['by whom was db-1 exposed to all laptops?', `${LAPTOPS} > db-1`],
    ['who closed db-1 to web-1 last night?', 'web-1 > db-1', '2026-01-06T22:00', '2026-01-07T06:00'],
    ['who made db-1 accessible to role=ci?', `${CI} > db-1`],
    ['was db-1 open to bo-laptop on Monday?', 'bo-laptop > db-1', '2026-01-05T00:00', '2026-01-06T00:00'],
    ['who opened ssh on db-1 for ana-laptop?', 'ana-laptop > db-1 on TCP 22'],
    // A way, access or traffic is opened in its own direction.
    ['who opened ssh from ana-laptop to db-1?', 'ana-laptop > db-1 on TCP 22'],
    ['who opened ssh for ana-laptop to db-1?', 'ana-laptop > db-1 on TCP 22'],
    ["who opened web-1's access to db-1?", 'web-1 > db-1'],
    ['why did web-1 open a connection to db-1?', 'web-1 > db-1'],
    ['who let bo-laptop into db-1 yesterday at 3pm UTC?', 'bo-laptop > db-1', '2026-01-06T15:00', '2026-01-06T15:00'],
    ['when did the laptops get access to the prod servers?', `${LAPTOPS} > ${PROD}`],
    // Kept from, in the active and the passive voice.
    ['who blocked web-1 from db-1?', 'web-1 > db-1'],
    ['which policy blocks web-1 from db-1?', 'web-1 > db-1'],
    ['who disconnected web-1 from db-1 on 3 January at 14:05?', 'web-1 > db-1', '2026-01-03T14:05', '2026-01-03T14:05'],
    ['why is web-1 cut off from db-1 since 09:10 CET?', 'web-1 > db-1', '2026-01-07T08:10'],
    ['who closed off db-1 from web-1?', 'web-1 > db-1'],
    ['who took away access to db-1 from web-1?', 'web-1 > db-1'],
    // What is connected to answers, refuses, drops.
    ['why does db-1 refuse web-1?', 'web-1 > db-1'],
    ['why was web-1 refused by db-1 since 09:10?', 'web-1 > db-1', NINE_TEN],
    ['why did db-1 stop accepting connections from web-1 on 5432?', 'web-1 > db-1 on TCP 5432'],
    ['when was db-1 last reached by web-1?', 'web-1 > db-1'],
    // Old names and addresses.
    ['why can the prod web servers no longer reach redis-main (formerly cache-1)?', 'web-1 web-2 > redis-main'],
    ['when did 10.96.0.1 lose 10.96.0.3:5432?', 'web-1 > db-1 on TCP 5432'],
    // The other side is open.
    ['db-1 was opened to whom?', '? > db-1'],
    ['to whom was db-1 opened since 09:10?', '? > db-1', NINE_TEN],
    ['what was db-1 open to on Monday?', '? > db-1', '2026-01-05T00:00', '2026-01-06T00:00'],
    ['who can ssh to web-1?', '? > web-1 on TCP 22'],
    ['who had access to db-1 before 09:10?', '? > db-1', undefined, NINE_TEN],
    ['what did web-1 open connections to yesterday?', 'web-1 > ?', '2026-01-06T00:00', '2026-01-07T00:00'],
    // Clocks.
    ['web-1 to db-1 broken since 9:10 am', 'web-1 > db-1', NINE_TEN],
    ["why can't web-1 reach db-1 since about 9?", 'web-1 > db-1', '2026-01-07T09:00'],
    ['web-1 can not reach db-1 since 09:10:30', 'web-1 > db-1', '2026-01-07T09:10:30'],
    ['since 09:10 this morning web-1 can not reach db-1', 'web-1 > db-1', NINE_TEN],
    ['who opened db-1 to web-1 at 23:10 last night?', 'web-1 > db-1', '2026-01-06T23:10', '2026-01-06T23:10'],
    ['web-1 can not reach db-1 since 09:10+02:00', 'web-1 > db-1', '2026-01-07T07:10'],
    ['web-1 can not reach db-1 since 09:10 -02:00', 'web-1 > db-1', '2026-01-07T11:10'],
    ['web-1 can not reach db-1 since 2026-01-07T09:10', 'web-1 > db-1', NINE_TEN],
    [
      'what stopped web-1 connecting to db-1 at 2026-01-05T12:00:00+01:00?',
      'web-1 > db-1',
      '2026-01-05T11:00',
      '2026-01-05T11:00',
    ],
    ['why is traffic from web-1 to db-1 denied as of 09:10?', 'web-1 > db-1', NINE_TEN],
    ['why could web-1 not reach db-1 09:10-10:30?', 'web-1 > db-1', NINE_TEN, '2026-01-07T10:30'],
    [
      'why could web-1 not reach db-1 yesterday 15:00 until 16:00 yesterday?',
      'web-1 > db-1',
      '2026-01-06T15:00',
      '2026-01-06T16:00',
    ],
  ])('%s', (question, expected, from, to) => {
    const { time, asked } = read(question);
    const instantOf = (text: string | undefined) => text && Date.parse(`${text}Z`);
    expect([shown(asked), time?.from, time?.to]).toEqual([expected, instantOf(from), instantOf(to)]);
    expect(asked.unused).toEqual([]);
  });
});

describe('when', () => {
  const at = (text: string) => Date.parse(text);
  test.each([
    ['last Tuesday at 3', '2026-01-06T03:00Z', '2026-01-06T03:00Z'],
    ['last Wednesday at 15:30', '2025-12-31T15:30Z', '2025-12-31T15:30Z'],
    ['on Wednesday at 11am', '2026-01-07T11:00Z', '2026-01-07T11:00Z'],
    ['yesterday evening', '2026-01-06T18:00Z', '2026-01-07T00:00Z'],
    ['last night', '2026-01-06T22:00Z', '2026-01-07T06:00Z'],
    ['this morning', '2026-01-07T06:00Z', '2026-01-07T12:00Z'],
    ['today', '2026-01-07T00:00Z', '2026-01-07T12:00Z'],
    ['an hour ago', '2026-01-07T11:00Z', '2026-01-07T11:00Z'],
    ['two days ago at noon', '2026-01-05T12:00Z', '2026-01-05T12:00Z'],
    ['half an hour ago', '2026-01-07T11:30Z', '2026-01-07T11:30Z'],
    ['in the last 2 hours', '2026-01-07T10:00Z', '2026-01-07T12:00Z'],
    ['over the past week', '2025-12-31T12:00Z', '2026-01-07T12:00Z'],
    ['last week', '2025-12-29T00:00Z', '2026-01-05T00:00Z'],
    ['last month', '2025-12-01T00:00Z', '2026-01-01T00:00Z'],
    ['on 2026-01-03', '2026-01-03T00:00Z', '2026-01-04T00:00Z'],
    ['on the 5th', '2026-01-05T00:00Z', '2026-01-06T00:00Z'],
    ['on 24 December', '2025-12-24T00:00Z', '2025-12-25T00:00Z'],
    ['on December 24th 2025 at 6pm', '2025-12-24T18:00Z', '2025-12-24T18:00Z'],
    ['at 3pm yesterday', '2026-01-06T15:00Z', '2026-01-06T15:00Z'],
    ['yesterday at 3pm UTC', '2026-01-06T15:00Z', '2026-01-06T15:00Z'],
    ['yesterday at 15:00 CET', '2026-01-06T14:00Z', '2026-01-06T14:00Z'],
    ["at 3 o'clock", '2026-01-07T03:00Z', '2026-01-07T03:00Z'],
    ['at 15:00', '2026-01-06T15:00Z', '2026-01-06T15:00Z'],
    ['the day before yesterday', '2026-01-05T00:00Z', '2026-01-06T00:00Z'],
    ['since last Tuesday at 3', '2026-01-06T03:00Z', undefined],
    ['since 9 this week', undefined, undefined],
    ['until an hour ago', undefined, '2026-01-07T11:00Z'],
    ['before yesterday', undefined, '2026-01-06T00:00Z'],
    ['between Monday and Tuesday', '2026-01-05T00:00Z', '2026-01-07T00:00Z'],
    ['from Monday at 10:00 until yesterday at 4pm', '2026-01-05T10:00Z', '2026-01-06T16:00Z'],
    ['since Monday, up to yesterday', '2026-01-05T00:00Z', '2026-01-07T00:00Z'],
    ['at 2026-01-05T12:00:00Z', '2026-01-05T12:00Z', '2026-01-05T12:00Z'],
    ['on 2026-01-05 at 12:00', '2026-01-05T12:00Z', '2026-01-05T12:00Z'],
  ])('%s', (words, from, to) => {
    const question = `why could web-1 not reach db-1 on 443 ${words}?`;
    if (from === undefined && to === undefined) {
      expect(() => read(question)).toThrow(/Several times/);
      return;
    }
    const { time, asked } = read(question);
    expect([time?.from, time?.to, shown(asked)]).toEqual([from && at(from), to && at(to), 'web-1 > db-1 on TCP 443']);
  });

  test('clocks are those of the workspace, also across the change to summer time, and the answer says how it was read', () => {
    const question = 'why could web-1 not reach db-1 last Tuesday at 3?';
    const { time } = read(question, 'Europe/Berlin');
    expect(time).toEqual({
      said: '"last tuesday at 3" is Tuesday 2026-01-06 03:00 (Europe/Berlin)',
      from: at('2026-01-06T02:00Z'),
      to: at('2026-01-06T02:00Z'),
    });
    const spring = Date.UTC(2026, 2, 29, 12);
    const day = questionReader.read('what changed today?', spring, 'Europe/Berlin').time;
    expect([day?.from, day?.to]).toEqual([at('2026-03-28T23:00Z'), spring]);
    const skipped = questionReader.read('what changed since today at 2:30?', spring, 'Europe/Berlin').time;
    expect(skipped?.from).toBe(at('2026-03-29T01:30Z'));
  });

  test.each([
    ['since tomorrow', /lies in the future/],
    ['at 2030-01-01', /lies in the future/],
    ['since the audit', /not known when "the audit" was/],
    ['after the upgrade', /not known when "the upgrade" was/],
    ['between Monday and the audit', /not known when "the audit" was/],
    ['from yesterday to Monday', /ends before it begins/],
  ])('asked back: %s', (words, message) => {
    expect(() => read(`why could web-1 not reach db-1 ${words}?`)).toThrow(message);
  });
});

/** With the names that only who may list them is told. */
function told<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof MeshError ? withNames(error, () => true) : error;
  }
}

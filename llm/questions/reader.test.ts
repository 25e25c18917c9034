import { describe, expect, test } from 'vitest';
import { read, shown, told } from './questions.testkit.ts';

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

  test.each(['what closed web-1 to db-1 today?', 'who shut db-1 to web-1?', 'which policy closed web-1 to db-1?'])(
    '%s can be read in both directions, and is asked back',
    (question) => {
      expect(() => read(question)).toThrow(/both directions: ask what closed the way "from [\w-]+ to [\w-]+" or "from/);
    },
  );

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
    ['who closed db-1 for web-1 last night?', 'web-1 > db-1', '2026-01-06T22:00', '2026-01-07T06:00'],
    ['what closed the way from web-1 to db-1?', 'web-1 > db-1'],
    ['who closed port 5432 on db-1 to web-1?', 'web-1 > db-1 on TCP 5432'],
    ['why is db-1 closed to web-1?', 'web-1 > db-1'],
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
    // The other end answers, refuses, drops.
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

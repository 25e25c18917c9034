import { describe, expect, test } from 'vitest';
import { eveningQuestions } from './questions.testkit.ts';

const { told, answers } = eveningQuestions();

const RANGE = ', from 2026-01-01T00:00:00.000Z to 2026-01-05T18:57:17';

describe('who opened, and who closed', () => {
  answers([
    [
      'who let laptop-7 into web-1?',
      'laptop-7 to web-1',
      /What opened it last: 2026-01-05T18:48:23.* agent:planner-bot .* approved by user:root/,
    ],
    ['who let laptop-7 into web-1 today?', 'laptop-7 to web-1', '18:48:23'],
    ['who let laptop-7 ssh to web-1?', 'laptop-7 to web-1 on TCP 22', '18:48:23'],
    ["who approved ci's access to db-1?", 'ci to db-1', '18:48:20'],
    ['when did ci get access to db-1 on 5432?', 'ci to db-1 on TCP 5432', '18:48:20'],
    ['who gave ci access to db-1 on 5432?', 'ci to db-1 on TCP 5432', '18:48:20'],
    ['who granted ci access to db-1?', 'ci to db-1', '18:48:20'],
    ['who allowed laptop-alice to reach app-1?', 'laptop-alice to app-1', '18:48:27'],
    ['when did ci first reach db-1?', 'ci to db-1', /What opened it first: 2026-01-05T18:45:50/],
    ['did laptop-bob ever reach db-2?', 'bob-mbp to db-2', '18:45:50'],
    ['did web-stg ever reach web-1 on 443?', 'web-stg to web-1 on TCP 443', '18:45:50'],
    [
      'since when can ci reach db-1 on 5432?',
      'ci to db-1 on TCP 5432',
      /is unreachable .* What opened it last: 2026-01-05T18:49:59.* What made it so: 2026-01-05T18:50:07/,
    ],
    ['since when can bob-mbp reach laptop-alice?', 'bob-mbp to laptop-alice', '18:55:32'],
    ['since when can anyone reach laptop-alice?', 'every peer to laptop-alice', '18:55:32'],
    ['who unblocked ci from db-1?', 'ci to db-1', '18:49:59'],
    ['why is bob-mbp no longer blocked from laptop-alice?', 'bob-mbp to laptop-alice', '18:55:32'],
    ['since when is web-1 reachable from outside?', 'outside to web-1', /What opened it last: 2026-01-05T18:45:50/],
    ['who opened laptop-alice to everybody?', 'every peer to laptop-alice', '18:55:32'],
    ["what happened to ci's access to db-1?", 'ci to db-1', '18:50:07'],
    ['since when are all laptops open?', 'every peer to role=laptop', '18:55:32'],
    ['who opened the laptops?', 'every peer to role=laptop', '18:55:32'],
    ['did anyone open db-1 to laptop-7?', 'laptop-7 to db-1', /What opened it last/],
    ['which policy lets app-1 reach db-1?', 'app-1 to db-1', /policy db-from-app/],
    ['why can laptop-7 reach web-2 on ssh?', 'laptop-7 to web-2 on TCP 22', '18:56:00'],
    ['who made laptop-alice reachable for everyone?', 'every peer to laptop-alice', '18:55:32'],
    ['who opened 5432 on db-1?', 'every peer to db-1 on TCP 5432', /What opened it last/],
    ['who took app-1 away from laptop-alice?', 'laptop-alice to app-1', '18:50:05'],
    ["who revoked laptop-alice's access to app-1?", 'laptop-alice to app-1', '18:50:05'],
    ['which policy blocked ci from db-1 at 18:49:30?', 'ci to db-1', '18:48:56'],
    ['who stopped ci reaching db-1?', 'ci to db-1', '18:50:07'],
    ['who let ci and laptop-7 into web-1?', 'ci and laptop-7 to web-1', /What opened it last/],
    ['who exposed laptop-alice to ci?', 'ci to laptop-alice', '18:55:32'],
    ["since when can't ci reach db-1, and why?", `ci to db-1${RANGE}`, '18:50:07'],
    ['who blocked ci from db-1?', 'ci to db-1', '18:50:07'],
    ['who first blocked ci from db-1?', 'ci to db-1', '18:46:34'],
    ['how many times did ci lose db-1?', 'ci to db-1', /It was closed 3 times/],
    ['why can app-2 no longer reach db-1 on 5432?', 'app-2 to db-1 on TCP 5432', '18:49:08'],
    ['since when is app-2 cut off from db-1?', 'app-2 to db-1', '18:49:08'],
    ['why is db-1 unreachable from app-2?', 'app-2 to db-1', '18:49:08'],
    ['when did laptop-alice lose access to app-1?', 'laptop-alice to app-1', '18:50:05'],
    ["since when can't laptop-7 ssh to web-1?", 'laptop-7 to web-1 on TCP 22', '18:51:23'],
    ['why did laptop-7 lose ssh to web-1?', 'laptop-7 to web-1 on TCP 22', '18:51:23'],
    ["since when can't env=staging reach env=prod?", 'env=staging to env=prod', '18:46:34'],
    ['why is ci blocked from prod?', 'ci to env=prod', /unreachable for 3 of 5 connections \(ci to role=app/],
    [
      "since when can't laptop-alice reach web-1 on 443, and why?",
      'laptop-alice to web-1 on TCP 443',
      /is reachable .* Nothing closed it/,
    ],
    ['since when can app-1 no longer reach db-1?', 'app-1 to db-1', /partly reachable \(TCP 5432\)/],
    ["who took away bob's access to web-1?", 'bob-mbp to web-1', '18:46:34'],
    ['when did web-1 stop answering on 443 for laptops?', 'role=laptop to web-1 on TCP 443', /Nothing closed it/],
    ['what broke https to web-1?', 'every peer to web-1 on TCP 443', /What made it so: 2026-01-05T18:4/],
  ]);
});

describe('what was done to a resource, and by whom', () => {
  answers([
    ['who deleted ci-frozen?', 'the policy ci-frozen (deleted)', '18:49:59'],
    ['who created ci-frozen?', 'the policy ci-frozen (created)', '18:48:56'],
    [
      'when was laptop-bob renamed?',
      'the peer bob-mbp (renamed)',
      /laptop-bob was renamed to bob-mbp, in revision \d+ by device:laptop-bob/,
    ],
    [
      "who changed app-2's labels?",
      'the peer app-2 (labels)',
      /18:49:08.*env is "staging" and was "prod", in revision \d+ by user:admin/,
    ],
    ['who relabelled app-2?', 'the peer app-2 (labels)', '18:49:08'],
    ['who deleted web-stg?', 'the peer web-stg (deleted)', '18:54:00'],
    ['who deleted laptop-7?', 'the peer laptop-7 (deleted)', /^The peer laptop-7 was not deleted in this range/],
    ['when did laptop-7 join?', 'the peer laptop-7 (created)', '18:45:50'],
    ['who approved the policy deny-to-db-1?', 'the policy deny-to-db-1 (approved)', /18:50:07.*approved by user:root/],
    [
      'was app-1 online at 18:49:50?',
      'the peer app-1 (online)',
      /was online at 2026-01-05T18:49:50.* 2026-01-05T18:49:33/,
    ],
    ['when did web-1 come online?', 'the peer web-1 (online)', '18:49:33'],
    ['show me everything that happened to db-2', 'the peer db-2', '18:45:50'],
    ['what happened to the policy laptops-closed?', 'the policy laptops-closed', '18:55:32'],
    [
      'what did planner-bot change today?',
      'What planner-bot changed',
      /agent:planner-bot changed the network 5 times\. Last: 2026-01-05T18:56:00/,
    ],
    ['when was ci-frozen in force?', 'the policy ci-frozen', '18:49:59'],
    ['who moved app-2 to staging?', 'the peer app-2 (labels)', '18:49:08'],
    ['since when has app-2 been in staging?', 'the peer app-2 (labels)', '18:49:08'],
    ['when did web-stg disappear?', 'the peer web-stg (deleted)', '18:54:00'],
    ['has laptop-7 been renamed?', 'the peer laptop-7 (renamed)', /was not renamed in this range/],
    ['who approved allow-to-db-1?', '(approved)', /18:48:20.*approved by user:root/],
    ['what did user:admin change today?', 'What user:admin changed', '18:55:32'],
    ['what was deleted by admin this evening?', 'What admin changed', '18:55:32'],
    ['list everything planner-bot did today', 'What planner-bot changed', '18:56:00'],
    ['who added app-2 to staging?', 'the peer app-2 (labels)', '18:49:08'],
    ['has anyone touched web-public?', 'the policy web-public', '18:46:34'],
    ['what did admin delete this evening?', 'What admin changed', '18:55:32'],
  ]);
});

test.each([
  ['what changed on 443 today?', /not used: "443"/],
  ['what did planner-bot change on db-1 today?', /not used: "db-1"/],
  ['who deleted the policy ci-frozen that blocked ci from db-1?', /not used: "ci-frozen"/],
  ['why can the ci runner not reach db-1 on 5432?', /not used: "runner"/],
])('a word that nothing was made of is told: %s', async (question, message) => {
  expect((await told(question)).reading).toMatch(message);
});

test.each([
  ["since when can't ci reach db?", /"db" matches 2 peers/],
  ["what broke the app servers' access to the database?", /"the database" matches 2 peers/],
  ['who blocked ci?', /Only ci is named\. .* or deleted ci/],
  ['who reticulated db-1?', /Only db-1 is named, and "reticulated" is not known/],
  ['who let laptop-7 into prod yesterday?', /history of this workspace begins on Monday 2026-01-05 12:00 \(UTC\)/],
  [
    'could laptop-7 reach db-1 yesterday at 10:00?',
    /history of this workspace begins on Monday 2026-01-05 12:00 \(UTC\)/,
  ],
  ['which laptops could ssh to web-1 this morning?', /no peer "web-1" in this range/],
  ['what could reach db-1 an hour ago?', /no peer "db-1" in this range/],
  ['could 198.51.100.7 reach the internet?', /One end has to be a peer/],
])('asked back with what is missing: %s', async (question, message) => {
  expect(await told(question)).toEqual({ reading: 'REFUSED', words: expect.stringMatching(message) });
});

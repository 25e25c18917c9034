import { describe, expect, test } from 'vitest';
import { eveningQuestions } from './questions.testkit.ts';

const { told, answers } = eveningQuestions();

const span = (from: string, to: string) => `from 2026-01-05T${from}:00.000Z to 2026-01-05T${to}`;

describe('ranges of the clock, and clocks with seconds', () => {
  answers([
    [
      'what changed between 18:48 and 18:50 today?',
      span('18:48', '18:50:00'),
      /^From 2026-01-05T18:48:00.000Z to 2026-01-05T18:50:00.000Z: \d+ changes\. .*(?:made and deleted|added: )/,
    ],
    ['what changed between 18:48 and 18:50 this evening?', span('18:48', '18:50:00'), /added: /],
    ['what changed today between 18:48 and 18:49?', span('18:48', '18:49:00'), /MeshPolicy ci-frozen/],
    ['what changed this evening between 18:48 and 18:49?', span('18:48', '18:49:00'), /MeshPolicy ci-frozen/],
    ['what changed between 6 and 7 this evening?', span('18:00', '18:57:17'), /MeshPeer web-1/],
    ['what changed between 6 and 7 pm?', span('18:00', '18:57:17'), /MeshPeer web-1/],
    ['what changed between 6:40 and 7 pm?', span('18:40', '18:57:17'), /MeshPeer web-1/],
    ['what changed between 6:48pm and 6:50pm?', span('18:48', '18:50:00'), /ci-frozen/],
    ["since when can't ci reach db-1 between 6 and 7 pm?", `ci to db-1, ${span('18:00', '18:57:17')}`, '18:50:07'],
    ['what changed between 9 and 10 this morning?', 'to 2026-01-05T10:00:00.000Z', /^Nothing changed from /],
    [
      'what changed between 12 and 1 pm?',
      span('12:00', '13:00:00'),
      /^Nothing changed from 2026-01-05T12:00:00.000Z to 2026-01-05T13:00:00.000Z\./,
    ],
    ['what changed from 6:48 to 6:49 pm today?', span('18:48', '18:49:00'), /MeshPolicy ci-frozen/],
    ['what changed 18:48-18:49?', span('18:48', '18:49:00'), /MeshPolicy ci-frozen/],
    ['what changed this evening at 18:49?', span('18:49', '18:50:00'), /MeshPeer app-2/],
    ['what changed between 10 and 11 last night?', 'to 2026-01-04T23:00:00.000Z', /^Nothing changed from /],
    ['what changed between 11 pm and 1 am last night?', 'to 2026-01-05T01:00:00.000Z', /^Nothing changed from /],
    ['what changed in the last 10 minutes?', 'from 2026-01-05T18:47:17.000Z', /ci-frozen/],
    ['what happened at 18:49?', span('18:49', '18:50:00'), /MeshPeer app-2/],
    [
      'could laptop-7 ssh to web-1 between 6 and 7 this evening?',
      `laptop-7 to web-1 on TCP 22, ${span('18:00', '18:57:17')}`,
      '18:51:23',
    ],
    ["why couldn't ci reach db-1 at 18:49:30?", 'ci to db-1, ', '18:48:56'],
    ['could ci reach db-1 on 5432 at 18:48:40?', 'ci to db-1 on TCP 5432', '18:48:20'],
    ['what could reach db-1 at 18:48:40?', 'Who could reach db-1', /5 of 12 .*, ci to db-1 on TCP 5432/],
    ['could ci reach db-1 at 6:49 this evening?', 'ci to db-1, ', '18:48:56'],
    ['could ci reach db-1 this evening at 6:49?', 'ci to db-1, ', '18:48:56'],
    ['what changed between 18:48:20 and 18:48:30?', 'from 2026-01-05T18:48:20.000Z', /allow-to-app-1/],
    ['what changed yesterday between 6 and 7 pm?', 'to 2026-01-04T19:00:00.000Z', /^Nothing changed from /],
    [
      'between 6:45 and 6:50 this evening, who opened db-1 to ci?',
      `ci to db-1, ${span('18:45', '18:50:00')}`,
      '18:49:59',
    ],
    ['who let ci reach db-1 between 6:48 and 6:49 pm?', `ci to db-1, ${span('18:48', '18:49:00')}`, '18:48:20'],
    [
      'was web-1 reachable from ci from 6 to 7 pm today?',
      `ci to web-1, ${span('18:00', '18:57:17')}`,
      /In the range it was .* unreachable until 2026-01-05T18:49:59/,
    ],
    [
      'who could reach db-1 between 6 and 7 this evening?',
      'Who could reach db-1',
      /to 2026-01-05T18:48:56.000Z: bastion on TCP 22, role=app \(2 peers\), ci on TCP 5432/,
    ],
    ['why was ci cut off from db-1 at 6:49:30 pm?', 'ci to db-1', '18:48:56'],
    ['what changed around 6:49 pm?', span('18:49', '18:50:00'), /MeshPeer app-2 \(metadata\/labels\/env\)/],
    ['what was deleted at 18:49?', span('18:49', '18:50:00'), /removed: .*MeshPolicy ci-frozen/],
  ]);

  test.each([
    ['what changed between 80 and 443?', /not known when "80/],
    ["why can't ci reach db-1 since 80?", /not known when "80"/],
    ["why can't ci reach db-1 within 25 minutes?", /not known when|minutes/],
  ])('a number that says when is never a port: %s', async (question, message) => {
    expect(await told(question)).toEqual({ reading: 'REFUSED', words: expect.stringMatching(message) });
  });
});

describe('how it is, and what led to that', () => {
  answers([
    [
      'could laptop-alice reach app-1 at 18:49?',
      'laptop-alice to app-1',
      /partly reachable \(TCP 8080\).* What made it so: 2026-01-05T18:48:27/,
    ],
    ['can monitoring scrape db-1?', 'monitoring to db-1', '18:46:34'],
    ['can bob-mbp reach db-1?', 'bob-mbp to db-1', '18:46:34'],
    ['was db-1 reachable from monitoring at 18:55?', 'monitoring to db-1', '18:46:34'],
    [
      'can laptop-7 reach web-1?',
      'laptop-7 to web-1',
      /partly reachable \(TCP 443\).* What made it so: 2026-01-05T18:51:23/,
    ],
    [
      'can laptop-7 reach web-2?',
      'laptop-7 to web-2',
      /partly reachable \(TCP 22, TCP 443\).* What made it so: 2026-01-05T18:56:00/,
    ],
    [
      'is web-1 exposed to the internet?',
      'outside to web-1',
      /partly reachable \(TCP 443\) .* What made it so: 2026-01-05T18:46:34/,
    ],
    ['was web-2 reachable from 198.51.100.7 at 18:49?', '198.51.100.7 to web-2', /partly reachable \(TCP 443\)/],
    ['can web-1 reach the internet?', 'web-1 to outside', /is reachable/],
    [
      'did anything change for monitoring to db-1 since 18:50?',
      'monitoring to db-1, from 2026-01-05T18:50',
      /was all the time/,
    ],
    ['did anything change between ci and db-1 since 18:50?', 'ci to db-1, from 2026-01-05T18:50', '18:50:07'],
    [
      'which laptops could ssh to web-1 at 18:49?',
      'role=laptop to web-1 on TCP 22',
      /unreachable for 2 of 3 connections \(laptop-alice, laptop-bob to web-1\).* 1 of 3 connections \(laptop-7 to web-1\)/,
    ],
    ['has staging been able to talk to prod today?', 'env=staging to env=prod', /unreachable for 14 of 14/],
    [
      'until when can laptop-7 ssh to web-2?',
      'laptop-7 to web-2 on TCP 22',
      /It ends at 2026-01-05T20:56:00.000Z, when the time of MeshPolicy allow-to-web-2/,
    ],
    ['until when can bastion ssh to web-2?', 'bastion to web-2 on TCP 22', /No end of it is known/],
    [
      'until when can laptop-7 ssh to web-1?',
      'laptop-7 to web-1 on TCP 22',
      /is unreachable .* What made it so: 2026-01-05T18:51:23/,
    ],
    ['when will laptop-7 lose ssh to web-2?', 'laptop-7 to web-2 on TCP 22', /It ends at 2026-01-05T20:56:00/],
    ["when does laptop-7's access to web-2 end?", 'laptop-7 to web-2', /It ends at 2026-01-05T20:56:00/],
    ['could anyone outside reach db-1 at 18:49?', 'outside to db-1', /is unreachable/],
    ['was ci blocked from db-1 at 18:49:30?', 'ci to db-1', '18:48:56'],
    ['how long can laptop-7 ssh to web-2?', 'laptop-7 to web-2 on TCP 22', /It ends at 2026-01-05T20:56:00/],
  ]);
});

describe('who reaches whom', () => {
  answers([
    ['what could reach db-1 five minutes ago?', 'Who could reach db-1', /3 of 12 .*app-1 to db-1 on TCP 5432/],
    ['what can bob-mbp reach now?', 'Who could be reached by bob-mbp', /bob-mbp to .*db-2/],
    ['what could laptop-7 reach ten minutes ago?', 'Who could be reached by laptop-7', /7 of 12/],
    ['who could reach laptop-bob at 18:46?', 'Who could reach laptop-bob', /12 of 12/],
    ['who could reach web-1 on 22 at 18:49?', 'Who could reach web-1 on TCP 22', /bastion, laptop-7 to web-1/],
    ['who could ssh to web-1 at 18:49?', 'Who could reach web-1 on TCP 22', /bastion, laptop-7 to web-1/],
    ['who could ping laptop-alice at 18:49?', 'Who could reach laptop-alice on ICMP', /monitoring to laptop-alice/],
    ['who could browse web-1 at 18:49?', 'Who could reach web-1', /9 of 12/],
    ['what is exposed to the internet?', 'Who could be reached by outside', /TCP 443/],
    ['who could reach web-1 at 18:49?', 'Who could reach web-1', /9 of 12/],
    ['what was reachable from the internet at 18:49?', 'Who could be reached by outside', /outside to .*TCP 443/],
  ]);
});

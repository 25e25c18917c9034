import { describe, expect, test } from 'vitest';
import { read } from './questions.testkit.ts';

describe('every word', () => {
  const questions = [
    "since when can't web-1 reach db-1 on 5432, and why?",
    'who opened db-1 to the ci runners between 6 and 7 pm yesterday?',
    'which laptops could ssh to web-1 last Tuesday at 3?',
    'what could reach the database over postgres this morning?',
    'who deleted web-1 two days ago?',
    'until when can role=ci reach anything in prod?',
    'what changed yesterday between 9:00 and 10:30?',
    'what did planner-bot change on Monday?',
    'why was db-1 cut off from the internet at 09:10:30?',
  ];
  test.each(questions)('is used, says nothing, or is told: %s', (question) => {
    expect(read(question).asked.unused).toEqual([]);
    const words = question.split(' ');
    for (const [at] of words.entries()) {
      const said = words.toSpliced(at, 0, 'zorblax').join(' ');
      expect([said, unusedOrRefused(said)]).toEqual([said, expect.stringMatching(/zorblax|REFUSED/)]);
    }
  });

  test.each(['since', 'until', 'between', 'before', 'after'])('a number after "%s" is never a port', (word) => {
    for (const number of ['80', '443', '5432', '99']) {
      const run = () => read(`why can web-1 not reach db-1 ${word} ${number}?`);
      expect(run).toThrow(new RegExp(`not known when "${number}"`));
    }
  });
});

test.each([
  ['how many minutes could web-1 reach db-1?', ['minutes']],
  ['how long was web-1 blocked from db-1?', ['long']],
  ['could web-1 reach db-1 before it was frozen?', ['before', 'frozen']],
])('what is not counted, and bounds that are not known, are told: %s', (question, unused) => {
  expect(read(question).asked.unused).toEqual(unused);
});

describe('which change is sought', () => {
  test.each([
    ['who let web-1 into db-1?', { change: 'opened', isGiven: true }],
    ['who approved access to db-1 for web-1?', { change: 'opened', isApproved: true, isGiven: true }],
    ['since when can web-1 reach db-1?', { change: 'opened' }],
    ['when did web-1 first reach db-1?', { change: 'opened', isFirst: true }],
    ['did web-1 ever reach db-1?', { change: 'opened', isFirst: true }],
    ['who unblocked web-1 from db-1?', { change: 'opened' }],
    ['why is web-1 no longer blocked from db-1?', { change: 'opened' }],
    ['who stopped blocking web-1 from db-1?', { change: 'opened' }],
    ["since when can't web-1 reach db-1?", { change: 'closed' }],
    ['since when can web-1 no longer reach db-1?', { change: 'closed' }],
    ['why could web-1 not reach db-1?', { change: 'closed' }],
    ['who blocked web-1 from db-1?', { change: 'closed' }],
    ['when did web-1 lose access to db-1?', { change: 'closed' }],
    ['what broke web-1 to db-1?', { change: 'closed' }],
    ['who first cut web-1 off from db-1?', { change: 'closed', isFirst: true }],
    ['until when can web-1 reach db-1?', { change: 'end' }],
    ['when does access of web-1 to db-1 expire?', { change: 'end' }],
    ['could web-1 reach db-1 yesterday?', undefined],
    ['is web-1 blocked from db-1?', undefined],
    ['what happened between web-1 and db-1?', undefined],
    ['when did anything change between web-1 and db-1?', undefined],
  ])('%s', (question, sought) => {
    const { asked } = read(question);
    expect(asked.about === 'connection' && asked.sought).toEqual(sought);
  });
});

function unusedOrRefused(question: string): string {
  try {
    return read(question).asked.unused.join(' ');
  } catch {
    return 'REFUSED';
  }
}

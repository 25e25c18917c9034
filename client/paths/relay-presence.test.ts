import { expect, test } from 'vitest';
import { RelayPresence } from './relay-presence.ts';

/** The moments at which the relay is asked, when each question gets this answer after 10 ms. */
function questions(presence: RelayPresence, answer: boolean | undefined, count: number): number[] {
  const asked: number[] = [];
  while (asked.length < count && presence.deadline < Infinity) {
    const now = presence.deadline;
    if (!presence.tick(now)) continue;
    asked.push(now);
    if (answer !== undefined) presence.answered(answer, now + 10, 0);
  }
  return asked;
}

test('without the relay nothing is asked, and the peer is not there', () => {
  const presence = new RelayPresence();
  presence.askSoon(5);
  expect([presence.deadline, presence.isPresent]).toEqual([Infinity, false]);
});

test('a peer that the relay has not is asked for ever more rarely', () => {
  const presence = new RelayPresence();
  presence.relayChanged(true, 0);
  expect(questions(presence, false, 5)).toEqual([0, 2_010, 6_020, 14_030, 29_040]);
  presence.askSoon(30_000);
  expect(presence.deadline).toBe(30_000);
});

test('a peer that the relay has is looked for again, and also after an answer that got lost', () => {
  const presence = new RelayPresence();
  presence.relayChanged(true, 0);
  expect(questions(presence, true, 2)).toEqual([0, 45_010]);
  expect(presence.isPresent).toBe(true);
  expect(questions(presence, undefined, 2)).toEqual([90_020, 135_020]);
});

test('a peer that was just heard by the relay needs no question', () => {
  const presence = new RelayPresence();
  presence.relayChanged(true, 0);
  expect([presence.heard(0), presence.heard(20_000), presence.hasCarried]).toEqual([true, false, true]);
  expect(questions(presence, true, 1)).toEqual([65_000]);
});

test('the end of the session with the relay makes void what it said', () => {
  const presence = new RelayPresence();
  presence.relayChanged(true, 0);
  presence.heard(10);
  presence.relayChanged(false, 20);
  expect([presence.isPresent, presence.deadline]).toEqual([false, Infinity]);
});

test('a peer that started anew has carried nothing yet', () => {
  const presence = new RelayPresence();
  presence.relayChanged(true, 0);
  presence.heard(10);
  presence.restarted(20);
  expect([presence.hasCarried, presence.deadline]).toEqual([false, 20]);
});

import { expect, test } from 'vitest';
import { Activity } from './activity.ts';

test('a peer is unanswered since the first packet that nothing followed, and a keepalive is no such packet', () => {
  const activity = new Activity();
  const looked = (receivedBytes: number, sentBytes: number, now: number) => {
    activity.counted({ receivedBytes, sentBytes }, now);
    return activity.unansweredSince;
  };
  expect(looked(100, 100, 0)).toBeUndefined();
  expect(looked(100, 132, 1_000)).toBeUndefined();
  expect(looked(100, 280, 2_000)).toBe(2_000);
  expect(looked(100, 428, 7_000)).toBe(2_000);
  expect(looked(132, 428, 8_000)).toBeUndefined();
  activity.asked(9_000);
  activity.asked(9_500);
  expect(activity.unansweredSince).toBe(9_000);
  activity.heard();
  expect(activity.unansweredSince).toBeUndefined();
});

import { describe, expect, test } from 'vitest';
import { leafDataOf } from '../../audit/leaf.ts';
import { LogLines } from './log.ts';

const changes = Array.from({ length: 600 }, (_, n) => {
  return { type: 'created', kind: 'Workflow', name: `wf_${n}`, uid: `wf_${n}`, digest: 'a'.repeat(64) };
});
const ENTRY = JSON.stringify({
  at: 1,
  workspace: 'w_1',
  actor: 'user:ada',
  type: 'commit',
  commit: { revision: 1, changes },
});

test('a long entry tells what it changed', () => {
  const log = new LogLines(0, []);
  log.read(`${ENTRY}\n`);
  expect([log.count, log.told.workflows.size]).toEqual([1, 600]);
});

test('the leaf of a long entry in the place of its text, which would tell of nothing, gives another root', () => {
  const leaf = leafDataOf(ENTRY);
  expect(leaf).not.toBe(ENTRY);
  const [whole, alone] = [ENTRY, leaf].map((line) => {
    const log = new LogLines(0, []);
    log.read(`${line}\n`);
    return log;
  });
  expect(alone?.told.workflows.size).toBe(0);
  expect(alone?.root()).not.toEqual(whole?.root());
});

describe('a log whose signer wants the memory of who verifies it', () => {
  const told = (...ids: readonly string[]) => {
    const changes = ids.map((id) => ({ type: 'created', kind: 'Workflow', name: id, uid: id }));
    return `${JSON.stringify({ at: 1, commit: { changes } })}\n`;
  };

  test('is refused where it tells of more workflows than are held at once', () => {
    const log = new LogLines(0, [], [], 3);
    log.read(told('wf_1', 'wf_2'));
    log.read(told('wf_2', 'wf_3'));
    expect(() => log.read(told('wf_4'))).toThrow(/more than 3 workflows or snapshots/);
  });

  test('is refused where an id is longer than ids are', () => {
    expect(() => new LogLines(0, []).read(told('w'.repeat(65)))).toThrow(/no entry/);
  });
});

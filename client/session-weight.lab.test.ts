import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describePrivileged } from '../test/kits/lab/privileged.ts';
import { favourSessionOf } from './session-weight.ts';

const weightOf = (pid: number) => /nice (-?\d+)$/m.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1];

describePrivileged('the weight of a session', () => {
  it('rises for a process that leads one, and for no other', async () => {
    // In one session, the other shares the session of this test.
    const [leader, member] = [true, false].map((detached) =>
      spawn('cat', { detached, stdio: ['pipe', 'ignore', 'ignore'] }),
    );
    const before = weightOf(member?.pid ?? 0);
    for (const child of [leader, member]) await favourSessionOf(child?.pid ?? 0);
    expect([weightOf(leader?.pid ?? 0), weightOf(member?.pid ?? 0)]).toEqual(['-10', before]);
    for (const child of [leader, member]) child?.stdin?.end();
  });

  it('is nobody’s when the process is gone', async () => {
    await expect(favourSessionOf(2 ** 30)).resolves.toBeUndefined();
  });
});

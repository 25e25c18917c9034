import { expect, it } from 'vitest';
import { bytesIn, hierarchyOf } from './limits.ts';

const there = () => true;

it('makes groups beside its own in the second version of control groups, and below it in the first', () => {
  const second = '0::/user.slice/user@1000.service/app.slice/run-1.scope\n';
  const parent = '/sys/fs/cgroup/user.slice/user@1000.service/app.slice';
  expect(hierarchyOf('memory', second, there)).toEqual({ parent, file: 'memory.max' });
  const first = '8:pids:/\n4:memory:/jobs/7\n0::/\n';
  expect(hierarchyOf('pids', first, there)).toEqual({ parent: '/sys/fs/cgroup/pids', file: 'pids.max' });
  const memory = { parent: '/sys/fs/cgroup/memory/jobs/7', file: 'memory.limit_in_bytes' };
  expect(hierarchyOf('memory', first, there)).toEqual(memory);
  expect(hierarchyOf('memory', '', there)).toBeUndefined();
});

it('reads amounts of memory in bytes and in powers of 1,024, and none below a megabyte', () => {
  expect([bytesIn('512m'), bytesIn('2G'), bytesIn('1048576')]).toEqual([536_870_912, 2_147_483_648, 1_048_576]);
  expect([bytesIn('1k'), bytesIn('m'), bytesIn('-1'), bytesIn('1.5g')]).toEqual(Array(4).fill(undefined));
});

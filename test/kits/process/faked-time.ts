import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** The wall clock of what is started with `env`, set while it runs; time that passes is real. Needs Debian's faketime. */
export function fakedTime(file: string) {
  const set = (offset: string) => writeFileSync(file, offset);
  set('+0');
  return {
    env: {
      LD_PRELOAD: library(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    /** From now on: '+1h' for example. */
    set,
  };
}

/** The library that a program gets its time from, as Debian's command names it to what it starts. */
function library(): string {
  return execFileSync('faketime', ['-f', '+0d', 'sh', '-c', 'echo "$LD_PRELOAD"'], { encoding: 'utf8' }).trim();
}

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

/** The library that a program gets its time from, as Debian's command names it to what it starts. */
function library(): string {
  return execFileSync('faketime', ['-f', '+0d', 'sh', '-c', 'echo "$LD_PRELOAD"'], { encoding: 'utf8' }).trim();
}

/** A host whose wall clock is set while programs run on it; time that passes is real. Needs `faketime`. */
export function hostIn(directory: string) {
  const file = path.join(directory, 'offset');
  const set = (offset: string) => writeFileSync(file, offset);
  set('+0');
  return {
    /** Such as `+11m`, from the real time. */
    set,
    env: {
      LD_PRELOAD: library(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  };
}

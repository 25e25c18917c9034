import { execFileSync } from 'node:child_process';

/** A named pipe that nobody writes to: whoever opens it as a file waits for good. */
export function makePipe(file: string): void {
  execFileSync('mkfifo', [file]);
}

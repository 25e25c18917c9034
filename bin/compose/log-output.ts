import { writeSync } from 'node:fs';

/** Where the lines of the log go: what cannot be written is dropped and counted, and no caller hears of it. */
export interface LogOutput {
  write(line: string): void;
  /** Lines that were dropped since the start. */
  lost(): number;
  /**
   * Returns true while lines are being dropped. It then tries to write a line with the number of dropped lines; success ends
   * that state.
   */
  isLosing(): boolean;
}

/** A reader that is slow is waited for so long in all, and not again before it has taken something. */
const PATIENCE_MS = 500;
const PAUSE_MS = 5;
/** A start that says more has something to say at once. */
const MAX_BUFFERED_LINES = 200;

/**
 * @param write as `writeSync` of node:fs
 * @param shown each line as its reader sees it
 */
export function logOutput(
  descriptor: number,
  write: (fd: number, bytes: Uint8Array) => number = writeSync,
  shown: (line: string) => string = (line) => line,
): LogOutput {
  let lost = 0;
  let untold = 0;
  /** The last write broke off inside a line. */
  let isTorn = false;

  /** @returns whether all of it was taken */
  const put = (line: string, patienceMs: number): boolean => {
    const text = shown(line);
    let rest: Uint8Array = Buffer.from(isTorn ? `\n${text}` : text);
    const deadline = performance.now() + patienceMs;
    while (rest.length > 0) {
      try {
        const taken = write(descriptor, rest);
        isTorn = taken < rest.length;
        rest = rest.subarray(taken);
      } catch (error) {
        const isFull = (error as NodeJS.ErrnoException).code === 'EAGAIN';
        if (!isFull || performance.now() >= deadline) return false;
        pause(PAUSE_MS);
      }
    }
    return true;
  };
  const tellLost = (): boolean => {
    if (untold === 0) return true;
    const msg = 'lines of this log were lost: the disk below it is full, or nobody reads it';
    const line = { level: 40, time: new Date().toISOString(), lost: untold, msg };
    if (!put(`${JSON.stringify(line)}\n`, 0)) return false;
    untold = 0;
    return true;
  };

  return {
    write(line) {
      if (tellLost() && put(line, PATIENCE_MS)) return;
      lost += 1;
      untold += 1;
    },
    lost: () => lost,
    isLosing: () => !tellLost(),
  };
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Holds the lines of a log back in memory until `release`, or until the process ends. */
export function bufferedOutput(output: LogOutput): { readonly output: LogOutput; release(): void } {
  let held: string[] | undefined = [];
  const release = () => {
    const lines = held ?? [];
    held = undefined;
    for (const line of lines) output.write(line);
  };
  process.once('exit', release);
  return {
    output: {
      ...output,
      write(line) {
        if (held === undefined) output.write(line);
        else if (held.push(line) > MAX_BUFFERED_LINES) release();
      },
    },
    release() {
      process.off('exit', release);
      release();
    },
  };
}

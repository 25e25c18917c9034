import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatInstant, parseInstant } from '../core/base/time.ts';

/** The latest time that a control plane's clock showed, stored so that the clock does not go back over a restart. */
export interface ClockMarker {
  readonly file: string;
  /** Undefined before the first start, and where the file holds no instant. */
  read(): number | undefined;
  /** Whole or not at all. Not forced to disk: what a crash of the host takes away is some seconds. */
  keep(instant: number): void;
}

/** `<configDir>/clock`: one line, ISO 8601. */
export function clockMarkerIn(configDir: string): ClockMarker {
  const file = path.join(configDir, 'clock');
  return {
    file,
    read() {
      const instant = parseInstant(textOf(file).trim());
      return Number.isNaN(instant) ? undefined : instant;
    },
    keep(instant) {
      const draft = `${file}.new`;
      writeFileSync(draft, `${formatInstant(instant)}\n`, { mode: 0o600 });
      renameSync(draft, file);
    },
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

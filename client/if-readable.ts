import { readdirSync, readFileSync } from 'node:fs';

/** The names in a directory; none where it is not there or cannot be read. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** What a file says; nothing where it is not there or cannot be read. */
export function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

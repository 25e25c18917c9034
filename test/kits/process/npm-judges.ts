import { existsSync } from 'node:fs';
import path from 'node:path';

const JUDGES = path.resolve(import.meta.dirname, '../../npm-judges/node_modules');

/**
 * Finds a file of a judge in test/npm-judges.
 *
 * @returns its path; undefined where the judges are not installed
 * @throws Error with CI=true where they are not
 */
export function npmJudge(file: string): string | undefined {
  const found = path.join(JUDGES, file);
  if (existsSync(found)) return found;
  if (process.env['CI'] === 'true') throw new Error(`${found} is not there: npm run needs:servers installs it`);
  return undefined;
}

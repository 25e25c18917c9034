import { existsSync } from 'node:fs';
import path from 'node:path';

/** An installed package is compiled (tsconfig.package.json) and has put `mesh` on the PATH; a checkout has not. */
const isInstalled = path.extname(import.meta.filename) === '.js';

/** How a person here starts `mesh`, for hints. */
export const OWN_COMMAND = isInstalled ? 'mesh' : 'npm run mesh --';

/** The launcher of `mesh`, for programs that start it. */
export function ownLauncher(): string {
  const beside = path.join(import.meta.dirname, 'mesh');
  return existsSync(beside) ? beside : path.resolve(import.meta.dirname, '../../bin/mesh');
}

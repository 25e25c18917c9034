import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface Witness {
  /** For the environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Packages by their names, and modules of Node, that a process had loaded when it ended. */
  loaded(): string[];
}

/** A module that a process loads first, and that writes down at its end what it has loaded. */
export function witnessIn(directory: string): Witness {
  const [module, list] = [path.join(directory, 'witness.cjs'), path.join(directory, 'loaded.json')];
  writeFileSync(
    module,
    `const { registerHooks } = require('node:module');
    const packages = new Set();
    registerHooks({ resolve(specifier, context, next) {
      packages.add(/^[a-z@.][^:]*$/.test(specifier) ? specifier : '');
      return next(specifier, context);
    } });
    if (require('node:worker_threads').isMainThread) process.on('exit', () => {
      const loaded = process.moduleLoadList.map((name) => name.replace('NativeModule ', ''));
      require('node:fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify([...packages, ...loaded]));
    });`,
  );
  return {
    env: { NODE_OPTIONS: `--require ${module}` },
    loaded: () => JSON.parse(readFileSync(list, 'utf8')) as string[],
  };
}
